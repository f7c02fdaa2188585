//! Matrix products: dense layers, and 1x1 convolutions, whose rows are pixels.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::args::Columns;
use netkit::kernels::{self, Filters, KernelPitch, int8};

use crate::setup::{self, Tables, Work, codes, relu, values};

#[derive(Clone, Copy)]
struct Product {
    rows: u32,
    in_features: u32,
    out_features: u32,
}

pub fn bench(c: &mut Criterion) {
    for (rows, in_features, out_features) in
        [(1, 784, 128), (1, 1600, 128), (1, 128, 10), (28 * 28, 1, 32), (14 * 14, 96, 192), (7 * 7, 960, 128)]
    {
        let name = format!("dense {rows}x{in_features} {out_features}");
        let work = Work::Macs(u64::from(rows) * u64::from(in_features) * u64::from(out_features));
        let product = Product { rows, in_features, out_features };
        for is_packed in [false, true] {
            let name = if is_packed { format!("{name} packed") } else { name.clone() };
            float(c, &name, work, product, is_packed);
            int8(c, &name, work, product, is_packed);
        }
    }
}

fn filters<'w, T>(product: &Product, weights: &'w [T]) -> Filters<'w, T> {
    let k = product.in_features as usize;
    Filters { weights, rows: 1, row_elems: k, pitch: KernelPitch { filter: k, row: k } }
}

fn float(c: &mut Criterion, name: &str, work: Work, product: Product, is_packed: bool) {
    let Product { rows, in_features, out_features } = product;
    let (input, weights, bias) = (values(rows * in_features), values(in_features * out_features), values(out_features));
    let mut scratch = values(kernels::dense_scratch_elems(rows, in_features, out_features));
    let mut output = values(rows * out_features);
    let (outputs, k) = (out_features as usize, in_features as usize);
    let filters = filters(&product, &weights);
    let mut packed = Vec::new();
    if is_packed && rows == 1 {
        packed.resize(kernels::packed_row_elems(outputs, k), 0.0);
        kernels::pack_row(&filters, &relu(&bias), &mut packed);
    } else if is_packed {
        packed.resize(kernels::packed_elems(rows as usize, outputs, k), 0.0);
        kernels::pack(&filters, &relu(&bias), &mut packed);
    }
    setup::f32(c, name, work, |kernels| {
        (kernels.dense)(black_box(&mut kernels::Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            packed: &packed,
            epilogue: relu(&bias),
            columns: Columns { pitch: out_features as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn int8(c: &mut Criterion, name: &str, work: Work, product: Product, is_packed: bool) {
    let Product { rows, in_features, out_features } = product;
    let (input, weights) = (codes(rows * in_features), codes(in_features * out_features));
    let tables = Tables::new(out_features);
    let mut scratch = vec![0; int8::args::dense_scratch_elems(rows, in_features, out_features) as usize];
    let mut output = codes(rows * out_features);
    let filters = filters(&product, &weights);
    let pixels = if is_packed { rows as usize } else { 0 };
    let bytes = int8::packed_bytes(pixels, out_features as usize, filters.rows, filters.row_elems);
    let pack = |level| {
        let mut packed = vec![0; bytes];
        int8::pack(level, &filters, &tables.relu(), &mut packed);
        packed
    };
    setup::int8_packed(c, name, work, pack, |kernels, packed| {
        (kernels.dense)(black_box(&mut int8::Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            packed,
            requantize: tables.relu(),
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}
