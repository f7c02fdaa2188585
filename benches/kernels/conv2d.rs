//! Convolutions.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::args::Columns;
use netkit::kernels::{self, Filters, KernelPitch, int8};
use netkit::tensor::Window;

use crate::setup::{self, Tables, Work, codes, input_elems, name_of, output_elems, relu, values, window};

pub fn bench(c: &mut Criterion) {
    for window in [
        window(28, 1, 3, 1, 0, 32),
        window(13, 32, 3, 1, 0, 64),
        window(224, 3, 3, 2, 1, 32),
        window(56, 32, 3, 2, 1, 32),
        window(56, 64, 3, 1, 1, 64),
        window(14, 256, 3, 1, 1, 256),
    ] {
        let name = format!("conv2d {} {}", name_of(&window), window.out_c);
        let taps = window.kernel_h * window.kernel_w * window.in_c;
        let work = Work::Macs(u64::from(output_elems(&window)) * u64::from(taps));
        for is_packed in [false, true] {
            let name = if is_packed { format!("{name} packed") } else { name.clone() };
            float(c, &name, work, window, is_packed);
            int8(c, &name, work, window, is_packed);
        }
    }
}

/// The filters that a window moves over its input.
fn filters<'w, T>(window: &Window, weights: &'w [T]) -> Filters<'w, T> {
    let row_elems = (window.kernel_w * window.in_c) as usize;
    Filters { weights, rows: window.kernel_h as usize, row_elems, pitch: KernelPitch::dense(window) }
}

fn weight_elems(window: &Window) -> u32 {
    window.out_c * window.kernel_h * window.kernel_w * window.in_c
}

/// Packed as a network packs them that finds all the scratch that it can use.
fn float(c: &mut Criterion, name: &str, work: Work, window: Window, is_packed: bool) {
    let (input, weights) = (values(input_elems(&window)), values(weight_elems(&window)));
    let bias = values(window.out_c);
    let spare = kernels::spare_scratch_elems(&window).filter(|_| is_packed).map(|(_, most)| most as u32);
    let mut scratch = values(spare.unwrap_or(kernels::conv2d_scratch_elems(&window)));
    let filters = filters(&window, &weights);
    let mut packed = Vec::new();
    if spare.is_some() {
        packed.resize(kernels::packed_winograd_elems(&window), 0.0);
        kernels::pack_winograd(&filters, &relu(&bias), &mut packed);
    } else if is_packed {
        let pixels = (window.out_h * window.out_w) as usize;
        packed.resize(kernels::packed_elems(pixels, bias.len(), filters.rows * filters.row_elems), 0.0);
        kernels::pack(&filters, &relu(&bias), &mut packed);
    }
    let mut output = values(output_elems(&window));
    setup::f32(c, name, work, |kernels| {
        (kernels.conv2d)(black_box(&mut kernels::Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            packed: &packed,
            epilogue: relu(&bias),
            columns: Columns { pitch: window.out_c as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn int8(c: &mut Criterion, name: &str, work: Work, window: Window, is_packed: bool) {
    let (input, weights) = (codes(input_elems(&window)), codes(weight_elems(&window)));
    let tables = Tables::new(window.out_c);
    let filters = filters(&window, &weights);
    let pixels = if is_packed { (window.out_h * window.out_w) as usize } else { 0 };
    let bytes = int8::packed_bytes(pixels, window.out_c as usize, filters.rows, filters.row_elems);
    let pack = |level| {
        let mut packed = vec![0; bytes];
        int8::pack(level, &filters, &tables.relu(), &mut packed);
        packed
    };
    let mut scratch = vec![0; int8::args::conv2d_scratch_elems(&window, false) as usize];
    let mut output = codes(output_elems(&window));
    setup::int8_packed(c, name, work, pack, |kernels, packed| {
        (kernels.conv2d)(black_box(&mut int8::Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            packed,
            requantize: tables.relu(),
            pooled: false,
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}
