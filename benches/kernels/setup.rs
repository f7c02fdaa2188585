//! Groups by level, random elements, windows.

use criterion::{Criterion, Throughput};
use netkit::kernels::int8::Requantize;
use netkit::kernels::{self, Activation, Epilogue, Level, int8, supported_levels};
use netkit::tensor::{Padding, Shape, Window};

/// What one call of a kernel does.
#[derive(Clone, Copy)]
pub enum Work {
    /// Multiply-adds of products.
    Macs(u64),
    /// Elements of a kernel that has none.
    Elements(u64),
}

impl Work {
    pub fn throughput(self) -> Throughput {
        Throughput::Elements(match self {
            Self::Macs(macs) => 2 * macs,
            Self::Elements(elements) => elements,
        })
    }
}

/// Runs a float kernel at every level.
pub fn f32(c: &mut Criterion, name: &str, work: Work, mut kernel: impl FnMut(&kernels::Kernels)) {
    let tables = supported_levels().map(|level| (level.name(), kernels::table(level)));
    at_every_level(c, &format!("{name} f32"), work, tables, |kernels| kernel(kernels));
}

/// Runs an int8 kernel at every level.
pub fn int8(c: &mut Criterion, name: &str, work: Work, mut kernel: impl FnMut(&int8::Kernels)) {
    int8_packed(c, name, work, |_| (), |kernels, ()| kernel(kernels));
}

/// The same with weights that are packed for each level.
pub fn int8_packed<P>(
    c: &mut Criterion,
    name: &str,
    work: Work,
    mut pack: impl FnMut(Level) -> P,
    mut kernel: impl FnMut(&int8::Kernels, &P),
) {
    let tables = supported_levels().map(|level| (level.name(), (int8::table(level), pack(level))));
    at_every_level(c, &format!("{name} int8"), work, tables, |(kernels, packed)| kernel(kernels, packed));
}

fn at_every_level<K>(
    c: &mut Criterion,
    name: &str,
    work: Work,
    tables: impl Iterator<Item = (&'static str, K)>,
    mut kernel: impl FnMut(&K),
) {
    let mut group = c.benchmark_group(name);
    group.throughput(work.throughput()).sample_size(20);
    for (level, kernels) in tables {
        group.bench_function(level, |b| b.iter(|| kernel(&kernels)));
    }
    group.finish();
}

/// Values in -1 to 1, no two neighbours alike.
pub fn values(len: u32) -> Vec<f32> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}

/// Codes of all sizes, no two neighbours alike.
pub fn codes(len: u32) -> Vec<i8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as i8).collect()
}

pub fn relu(bias: &[f32]) -> Epilogue<'_> {
    Epilogue { bias, norm: None, accumulate: false, activation: Activation::Relu }
}

/// What a layer of a trained network has: multipliers between 2^-9 and 2^-6.
pub struct Tables {
    bias: Vec<i32>,
    multipliers: Vec<i32>,
    shifts: Vec<i8>,
}

impl Tables {
    pub fn new(channels: u32) -> Self {
        Self {
            bias: (0..channels as i32).map(|c| c * 37 - 500).collect(),
            multipliers: (0..channels as i32).map(|c| (1 << 30) + c * 1_234_567 % (1 << 30)).collect(),
            shifts: (0..channels).map(|c| -6 - (c % 3) as i8).collect(),
        }
    }

    pub fn relu(&self) -> Requantize<'_> {
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
pub fn window(size: u32, in_c: u32, kernel: u32, stride: u32, pad: u32, out_c: u32) -> Window {
    Window::new(Shape::map(size, size, in_c), (kernel, kernel), stride, Padding::same(pad), out_c).unwrap()
}

/// `28x28x1 3x3 s2`: map, kernel, and a stride that is not 1.
pub fn name_of(window: &Window) -> String {
    let Window { in_h, in_w, in_c, kernel_h, kernel_w, stride, .. } = window;
    let stride = if *stride == 1 { String::new() } else { format!(" s{stride}") };
    format!("{in_h}x{in_w}x{in_c} {kernel_h}x{kernel_w}{stride}")
}

pub fn input_elems(window: &Window) -> u32 {
    window.in_h * window.in_w * window.in_c
}

pub fn output_elems(window: &Window) -> u32 {
    window.out_h * window.out_w * window.out_c
}
