//! Every int8 kernel on the shapes of two networks, a digit classifier (28x28) and an image classifier (224x224), at every
//! level that this CPU supports. The names are those of `benches/kernels.rs`, for comparison with float.
//!
//! `cargo bench --bench int8_kernels -- conv2d` runs the kernels with that name; throughput is in multiply-adds per second
//! for products and in elements per second for the rest.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use netkit::kernels::int8::args::{conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_scratch_elems};
use netkit::kernels::int8::requantize::{add_terms, softmax_params};
use netkit::kernels::int8::{Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Requantize, Softmax, table};
use netkit::kernels::{KernelPitch, supported_levels};
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

/// Codes of all sizes, no two neighbours alike.
fn codes(len: u32) -> Vec<i8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as i8).collect()
}

/// Tables as a trained network has them: multipliers between 2^-9 and 2^-6.
struct Tables {
    bias: Vec<i32>,
    multipliers: Vec<i32>,
    shifts: Vec<i8>,
}

impl Tables {
    fn new(channels: u32) -> Self {
        Self {
            bias: (0..channels as i32).map(|c| c * 37 - 500).collect(),
            multipliers: (0..channels as i32).map(|c| (1 << 30) + c * 1_234_567 % (1 << 30)).collect(),
            shifts: (0..channels).map(|c| -6 - (c % 3) as i8).collect(),
        }
    }

    fn requantize(&self) -> Requantize<'_> {
        Requantize {
            bias: &self.bias,
            multipliers: &self.multipliers,
            shifts: &self.shifts,
            input_zero_point: -128,
            weight_zero_point: 0,
            output_zero_point: -5,
            min: -5,
            max: 127,
        }
    }
}

/// A square map, kernel and padding.
fn window(size: u32, in_c: u32, kernel: u32, stride: u32, pad: u32, out_c: u32) -> Window {
    Window::new(Shape::map(size, size, in_c), (kernel, kernel), stride, Padding::same(pad), out_c).unwrap()
}

fn conv2d(c: &mut Criterion, name: &str, window: Window) {
    let input = codes(window.in_h * window.in_w * window.in_c);
    let weights = codes(window.out_c * window.kernel_h * window.kernel_w * window.in_c);
    let tables = Tables::new(window.out_c);
    let mut scratch = vec![0; conv2d_scratch_elems(&window, false) as usize];
    let mut output = codes(window.out_h * window.out_w * window.out_c);
    let work = (output.len() * weights.len()) as u64 / u64::from(window.out_c);
    at_every_level(c, name, work, |kernels| {
        (kernels.conv2d)(black_box(&mut Conv2d {
            window,
            input: &input,
            weights: &weights,
            kernel_pitch: KernelPitch::dense(&window),
            requantize: tables.requantize(),
            pooled: false,
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
    let (input, weights) = (codes(rows * in_features), codes(in_features * out_features));
    let tables = Tables::new(out_features);
    let mut scratch = vec![0; dense_scratch_elems(rows, in_features, out_features) as usize];
    let mut output = codes(rows * out_features);
    at_every_level(c, name, u64::from(rows) * weights.len() as u64, |kernels| {
        (kernels.dense)(black_box(&mut Dense {
            rows: rows as usize,
            input: &input,
            weights: &weights,
            requantize: tables.requantize(),
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn matrix_products(c: &mut Criterion) {
    dense(c, "dense 1600 128", 1, 1600, 128);
    dense(c, "dense 128 10", 1, 128, 10);
    dense(c, "dense 28x28x1 32", 28 * 28, 1, 32);
    dense(c, "dense 14x14x96 192", 14 * 14, 96, 192);
    dense(c, "dense 7x7x960 128", 7 * 7, 960, 128);
}

fn depthwise_conv2d(c: &mut Criterion, name: &str, window: Window) {
    let input = codes(window.in_h * window.in_w * window.in_c);
    let weights = codes(window.out_c * window.kernel_h * window.kernel_w);
    let tables = Tables::new(window.out_c);
    let mut scratch = vec![0; depthwise_conv2d_scratch_elems(&window) as usize];
    let mut output = codes(window.out_h * window.out_w * window.out_c);
    let work = output.len() as u64 * u64::from(window.kernel_h * window.kernel_w);
    at_every_level(c, name, work, |kernels| {
        (kernels.depthwise_conv2d)(black_box(&mut DepthwiseConv2d {
            window,
            input: &input,
            weights: &weights,
            requantize: tables.requantize(),
            pooled: false,
            scratch: &mut scratch,
            output: &mut output,
        }));
    });
}

fn depthwise_convolutions(c: &mut Criterion) {
    depthwise_conv2d(c, "depthwise_conv2d 28x28x32 3x3", window(28, 32, 3, 1, 0, 32));
    depthwise_conv2d(c, "depthwise_conv2d 14x14x96 5x5", window(14, 96, 5, 1, 2, 96));
    depthwise_conv2d(c, "depthwise_conv2d 28x28x192 3x3 s2", window(28, 192, 3, 2, 1, 192));
    depthwise_conv2d(c, "depthwise_conv2d 56x56x40 7x7", window(56, 40, 7, 1, 3, 40));
}

fn pool(c: &mut Criterion, name: &str, kernel: fn(&Kernels) -> fn(&mut Pool2d<'_>), window: Window) {
    let input = codes(window.in_h * window.in_w * window.in_c);
    let mut output = codes(window.out_h * window.out_w * window.out_c);
    at_every_level(c, name, input.len() as u64, |kernels| {
        kernel(kernels)(black_box(&mut Pool2d { window, input: &input, zero_point: -5, output: &mut output }));
    });
}

fn pools(c: &mut Criterion) {
    pool(c, "max_pool2d 26x26x32 2x2 s2", |kernels| kernels.max_pool2d, window(26, 32, 2, 2, 0, 32));
    pool(c, "max_pool2d 112x112x64 3x3 s2", |kernels| kernels.max_pool2d, window(112, 64, 3, 2, 1, 64));
    pool(c, "avg_pool2d 7x7x1280 7x7", |kernels| kernels.avg_pool2d, window(7, 1280, 7, 1, 0, 1280));
    pool(c, "avg_pool2d 28x28x24 3x3", |kernels| kernels.avg_pool2d, window(28, 24, 3, 1, 1, 24));
}

fn elementwise(c: &mut Criterion) {
    let (mut data, other) = (codes(14 * 14 * 192), codes(14 * 14 * 192));
    let work = data.len() as u64;
    let (own, other_term, output) = add_terms(0.1, 3, 0.07, -4, 0.13, 5);
    at_every_level(c, "add 14x14x192", work, |kernels| {
        let (data, other) = (&mut data, &other);
        (kernels.add)(black_box(&mut Add { data, other, own, other_term, output, min: -128, max: 127 }));
    });
    let lookup = codes(256).try_into().unwrap();
    at_every_level(c, "lookup 14x14x192", work, |kernels| (kernels.lookup)(black_box(&mut data), &lookup));
    let (multiplier, shift, diff_min) = softmax_params(0.1);
    for row_elems in [10u32, 1000] {
        let source = codes(row_elems);
        let mut data = source.clone();
        at_every_level(c, &format!("softmax {row_elems}"), u64::from(row_elems), |kernels| {
            data.copy_from_slice(&source);
            let row_elems = row_elems as usize;
            (kernels.softmax)(black_box(&mut Softmax { data: &mut data, row_elems, multiplier, shift, diff_min }));
        });
    }
}

criterion_group!(benches, convolutions, matrix_products, depthwise_convolutions, pools, elementwise);
criterion_main!(benches);
