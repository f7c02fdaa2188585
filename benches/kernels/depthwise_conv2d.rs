//! Depthwise convolutions.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::{self, int8};
use netkit::tensor::Window;

use crate::setup::{self, Tables, Work, codes, input_elems, name_of, output_elems, relu, values, window};

pub fn bench(c: &mut Criterion) {
    for window in [
        window(28, 32, 3, 1, 0, 32),
        window(14, 96, 5, 1, 2, 96),
        window(28, 192, 3, 2, 1, 192),
        window(56, 40, 7, 1, 3, 40),
    ] {
        let name = format!("depthwise_conv2d {}", name_of(&window));
        let taps = window.kernel_h * window.kernel_w;
        let work = Work::Macs(u64::from(output_elems(&window)) * u64::from(taps));
        float(c, &name, work, window, window.out_c * taps);
        int8(c, &name, work, window, window.out_c * taps);
    }
}

fn float(c: &mut Criterion, name: &str, work: Work, window: Window, weights: u32) {
    let (input, weights, bias) = (values(input_elems(&window)), values(weights), values(window.out_c));
    let mut scratch = values(kernels::depthwise_conv2d_scratch_elems(&window));
    let mut output = values(output_elems(&window));
    setup::f32(c, name, work, |kernels| {
        (kernels.depthwise_conv2d)(black_box(&mut kernels::DepthwiseConv2d {
            window,
            input: &input,
            weights: &weights,
            epilogue: relu(&bias),
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn int8(c: &mut Criterion, name: &str, work: Work, window: Window, weights: u32) {
    let (input, weights, tables) = (codes(input_elems(&window)), codes(weights), Tables::new(window.out_c));
    let mut scratch = vec![0; int8::args::depthwise_conv2d_scratch_elems(&window) as usize];
    let mut packed = vec![0; int8::depthwise_packed_bytes(&window)];
    int8::pack_depthwise(&window, &weights, &tables.relu(), &mut packed);
    let mut output = codes(output_elems(&window));
    setup::int8(c, name, work, |kernels| {
        (kernels.depthwise_conv2d)(black_box(&mut int8::DepthwiseConv2d {
            window,
            input: &input,
            weights: &weights,
            packed: &packed,
            requantize: tables.relu(),
            pooled: false,
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}
