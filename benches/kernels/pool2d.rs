//! Pools.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::{self, int8};
use netkit::tensor::Window;

use crate::setup::{self, Work, codes, input_elems, name_of, output_elems, values, window};

pub fn bench(c: &mut Criterion) {
    for window in [window(26, 32, 2, 2, 0, 32), window(112, 64, 3, 2, 1, 64)] {
        pool(c, "max_pool2d", window, |kernels| kernels.max_pool2d, |kernels| kernels.max_pool2d);
    }
    for window in [window(7, 1280, 7, 1, 0, 1280), window(28, 24, 3, 1, 1, 24)] {
        pool(c, "avg_pool2d", window, |kernels| kernels.avg_pool2d, |kernels| kernels.avg_pool2d);
    }
}

fn pool(
    c: &mut Criterion,
    kind: &str,
    window: Window,
    float: fn(&kernels::Kernels) -> fn(&mut kernels::Pool2d<'_>),
    int8: fn(&int8::Kernels) -> fn(&mut int8::Pool2d<'_>),
) {
    let name = format!("{kind} {}", name_of(&window));
    let work = Work::Elements(u64::from(input_elems(&window)));
    let (input, mut output) = (values(input_elems(&window)), values(output_elems(&window)));
    setup::f32(c, &name, work, |kernels| {
        float(kernels)(black_box(&mut kernels::Pool2d { window, input: &input, output: &mut output }));
    });
    let (input, mut output) = (codes(input_elems(&window)), codes(output_elems(&window)));
    setup::int8(c, &name, work, |kernels| {
        int8(kernels)(black_box(&mut int8::Pool2d { window, input: &input, zero_point: -5, output: &mut output }));
    });
}
