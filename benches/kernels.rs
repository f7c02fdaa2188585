//! Every kernel on the shapes of two networks, a digit classifier (28x28) and an image classifier (224x224), at every
//! level that this CPU supports.
//!
//! `cargo bench --bench kernels -- conv2d` runs the kernels with that name; throughput is in multiply-adds per second
//! for products and in elements per second for the rest.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use netkit::kernels::args::Columns;
use netkit::kernels::{
    Activation, Conv2d, Dense, DepthwiseConv2d, Epilogue, Grn, KernelPitch, Kernels, Pool2d, conv2d_scratch_elems,
    dense_scratch_elems, depthwise_conv2d_scratch_elems, grn_scratch_elems, supported_levels, table,
};
use netkit::tensor::{Padding, Shape, Window};

/// Runs `kernel` at every level as `name/level`.
fn at_every_level(c: &mut Criterion, name: &str, work: u64, mut kernel: impl FnMut(&Kernels)) {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(work)).sample_size(20);
    for level in supported_levels() {
        let kernels = table(level);
        group.bench_function(level.name(), |b| b.iter(|| kernel(kernels)));
    }
    group.finish();
}

/// Values in -1 to 1, no two neighbours alike.
fn values(len: u32) -> Vec<f32> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

fn epilogue(bias: &[f32], activation: Activation) -> Epilogue<'_> {
    Epilogue { bias, norm: None, accumulate: false, activation }
}

/// A square map, kernel and padding.
fn window(size: u32, in_c: u32, kernel: u32, stride: u32, pad: u32, out_c: u32) -> Window {
    Window::new(Shape::map(size, size, in_c), (kernel, kernel), stride, Padding::same(pad), out_c).unwrap()
}

fn conv2d(c: &mut Criterion, name: &str, window: Window) {
    let input = values(window.in_h * window.in_w * window.in_c);
    let weights = values(window.out_c * window.kernel_h * window.kernel_w * window.in_c);
    let bias = values(window.out_c);
    let mut scratch = values(conv2d_scratch_elems(&window));
    let mut output = values(window.out_h * window.out_w * window.out_c);
    let work = (output.len() * weights.len()) as u64 / u64::from(window.out_c);
    at_every_level(c, name, work, |kernels| {
        (kernels.conv2d)(black_box(&mut Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            packed: &[],
            epilogue: epilogue(&bias, Activation::Relu),
            columns: Columns { pitch: window.out_c as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn convolutions(c: &mut Criterion) {
    conv2d(c, "conv2d 28x28x1 3x3 32", window(28, 1, 3, 1, 0, 32));
    conv2d(c, "conv2d 13x13x32 3x3 64", window(13, 32, 3, 1, 0, 64));
    conv2d(c, "conv2d 224x224x3 3x3 s2 32", window(224, 3, 3, 2, 1, 32));
    conv2d(c, "conv2d 56x56x32 3x3 s2 32", window(56, 32, 3, 2, 1, 32));
    conv2d(c, "conv2d 14x14x256 3x3 256", window(14, 256, 3, 1, 1, 256));
}

fn dense(c: &mut Criterion, name: &str, rows: u32, in_features: u32, out_features: u32) {
    let (input, weights) = (values(rows * in_features), values(in_features * out_features));
    let bias = values(out_features);
    let mut scratch = values(dense_scratch_elems(rows, in_features, out_features));
    let mut output = values(rows * out_features);
    at_every_level(c, name, u64::from(rows) * weights.len() as u64, |kernels| {
        (kernels.dense)(black_box(&mut Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            packed: &[],
            epilogue: epilogue(&bias, Activation::Relu),
            columns: Columns { pitch: out_features as usize, first: 0 },
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn matrix_products(c: &mut Criterion) {
    dense(c, "dense 1600 128", 1, 1600, 128);
    dense(c, "dense 128 10", 1, 128, 10);
    dense(c, "dense 14x14x96 192", 14 * 14, 96, 192);
    dense(c, "dense 7x7x960 128", 7 * 7, 960, 128);
}

fn depthwise_conv2d(c: &mut Criterion, name: &str, window: Window) {
    let input = values(window.in_h * window.in_w * window.in_c);
    let weights = values(window.out_c * window.kernel_h * window.kernel_w);
    let bias = values(window.out_c);
    let mut scratch = values(depthwise_conv2d_scratch_elems(&window));
    let mut output = values(window.out_h * window.out_w * window.out_c);
    let work = output.len() as u64 * u64::from(window.kernel_h * window.kernel_w);
    at_every_level(c, name, work, |kernels| {
        (kernels.depthwise_conv2d)(black_box(&mut DepthwiseConv2d {
            window,
            input: &input,
            weights: &weights,
            epilogue: epilogue(&bias, Activation::Relu),
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn depthwise_convolutions(c: &mut Criterion) {
    depthwise_conv2d(c, "depthwise_conv2d 14x14x96 5x5", window(14, 96, 5, 1, 2, 96));
    depthwise_conv2d(c, "depthwise_conv2d 28x28x192 3x3 s2", window(28, 192, 3, 2, 1, 192));
    depthwise_conv2d(c, "depthwise_conv2d 56x56x40 7x7", window(56, 40, 7, 1, 3, 40));
}

fn pool(c: &mut Criterion, name: &str, kernel: fn(&Kernels) -> fn(&mut Pool2d<'_>), window: Window) {
    let input = values(window.in_h * window.in_w * window.in_c);
    let mut output = values(window.out_h * window.out_w * window.out_c);
    at_every_level(c, name, input.len() as u64, |kernels| {
        kernel(kernels)(black_box(&mut Pool2d { window, input: &input, output: &mut output }));
    });
}

fn pools(c: &mut Criterion) {
    pool(c, "max_pool2d 26x26x32 2x2 s2", |kernels| kernels.max_pool2d, window(26, 32, 2, 2, 0, 32));
    pool(c, "max_pool2d 112x112x64 3x3 s2", |kernels| kernels.max_pool2d, window(112, 64, 3, 2, 1, 64));
    pool(c, "avg_pool2d 7x7x1280 7x7", |kernels| kernels.avg_pool2d, window(7, 1280, 7, 1, 0, 1280));
    pool(c, "avg_pool2d 28x28x24 3x3", |kernels| kernels.avg_pool2d, window(28, 24, 3, 1, 1, 24));
}

fn norms(c: &mut Criterion) {
    let (scale, shift) = (values(96), values(96));
    let mut data = values(28 * 28 * 96);
    let work = data.len() as u64;
    at_every_level(c, "batch_norm2d 28x28x96", work, |kernels| (kernels.batch_norm2d)(&mut data, &scale, &shift));

    let (gamma, beta) = (values(40), values(40));
    let mut data = values(56 * 56 * 40);
    let work = data.len() as u64;
    at_every_level(c, "layernorm2d 56x56x40", work, |kernels| (kernels.layernorm2d)(&mut data, &gamma, &beta, 1e-6));

    let (gamma, beta) = (vec![0.0; 160], values(160)); // gamma 0 keeps repeated runs finite
    let mut scratch = values(grn_scratch_elems(160));
    let mut data = values(56 * 56 * 160);
    let work = data.len() as u64;
    at_every_level(c, "grn 56x56x160", work, |kernels| {
        let args = &mut Grn { data: &mut data, gamma: &gamma, beta: &beta, eps: 1e-6, scratch: &mut scratch };
        (kernels.grn)(black_box(args));
    });
}

fn elementwise(c: &mut Criterion) {
    let source = values(14 * 14 * 192);
    let mut data = source.clone();
    let work = data.len() as u64;
    for activation in [Activation::Relu, Activation::Sigmoid, Activation::Tanh, Activation::Silu, Activation::Gelu] {
        let name = format!("activate 14x14x192 {activation:?}");
        at_every_level(c, &name, work, |kernels| {
            data.copy_from_slice(&source); // else repeated runs end in one fixed point
            (kernels.activate)(&mut data, activation);
        });
    }
    for row_elems in [10u32, 1000] {
        let source = values(row_elems);
        let mut row = source.clone();
        at_every_level(c, &format!("softmax {row_elems}"), u64::from(row_elems), |kernels| {
            row.copy_from_slice(&source);
            (kernels.softmax)(&mut row, row_elems as usize);
        });
    }
    at_every_level(c, "add 14x14x192", work, |kernels| (kernels.add)(&mut data, &source));
    let half = values(20 * 20 * 64);
    let mut data = values(40 * 40 * 64);
    let work = data.len() as u64;
    at_every_level(c, "add_upsampled2x 40x40x64", work, |kernels| (kernels.add_upsampled2x)(&mut data, &half, 20, 64));
}

criterion_group!(benches, convolutions, matrix_products, depthwise_convolutions, pools, norms, elementwise);
criterion_main!(benches);
