//! Matrix products: dense layers, and 1x1 convolutions, whose rows are pixels.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::args::Columns;
use netkit::kernels::{self, int8};

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
        float(c, &name, work, product);
        int8(c, &name, work, product);
    }
}

fn float(c: &mut Criterion, name: &str, work: Work, product: Product) {
    let Product { rows, in_features, out_features } = product;
    let (input, weights, bias) = (values(rows * in_features), values(in_features * out_features), values(out_features));
    let mut scratch = values(kernels::dense_scratch_elems(rows, in_features, out_features));
    let mut output = values(rows * out_features);
    setup::f32(c, name, work, |kernels| {
        (kernels.dense)(black_box(&mut kernels::Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            packed: &[],
            epilogue: relu(&bias),
            columns: Columns { pitch: out_features as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn int8(c: &mut Criterion, name: &str, work: Work, product: Product) {
    let Product { rows, in_features, out_features } = product;
    let (input, weights) = (codes(rows * in_features), codes(in_features * out_features));
    let tables = Tables::new(out_features);
    let mut scratch = vec![0; int8::args::dense_scratch_elems(rows, in_features, out_features) as usize];
    let mut output = codes(rows * out_features);
    setup::int8(c, name, work, |kernels| {
        (kernels.dense)(black_box(&mut int8::Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            packed: &[],
            requantize: tables.relu(),
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}
