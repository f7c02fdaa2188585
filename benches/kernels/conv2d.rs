//! Convolutions.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::args::Columns;
use netkit::kernels::{self, KernelPitch, int8};
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
        float(c, &name, work, window, window.out_c * taps);
        int8(c, &name, work, window, window.out_c * taps);
    }
}

fn float(c: &mut Criterion, name: &str, work: Work, window: Window, weights: u32) {
    let (input, weights, bias) = (values(input_elems(&window)), values(weights), values(window.out_c));
    let mut scratch = values(kernels::conv2d_scratch_elems(&window));
    let mut output = values(output_elems(&window));
    setup::f32(c, name, work, |kernels| {
        (kernels.conv2d)(black_box(&mut kernels::Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            packed: &[],
            epilogue: relu(&bias),
            columns: Columns { pitch: window.out_c as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn int8(c: &mut Criterion, name: &str, work: Work, window: Window, weights: u32) {
    let (input, weights, tables) = (codes(input_elems(&window)), codes(weights), Tables::new(window.out_c));
    let mut scratch = vec![0; int8::args::conv2d_scratch_elems(&window, false) as usize];
    let mut output = codes(output_elems(&window));
    setup::int8(c, name, work, |kernels| {
        (kernels.conv2d)(black_box(&mut int8::Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            packed: &[],
            requantize: tables.relu(),
            pooled: false,
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}
