//! Activations of a whole map: functions of floats, a table of int8 codes, softmax.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::Activation;
use netkit::kernels::int8::Softmax;
use netkit::kernels::int8::requantize::softmax_params;

use crate::setup::{self, Work, codes, values};

const MAP: u32 = 14 * 14 * 192;

pub fn bench(c: &mut Criterion) {
    let work = Work::Elements(u64::from(MAP));
    let source = values(MAP);
    let mut data = source.clone();
    for activation in [Activation::Relu, Activation::Sigmoid, Activation::Tanh, Activation::Silu, Activation::Gelu] {
        setup::f32(c, &format!("activate 14x14x192 {activation:?}"), work, |kernels| {
            data.copy_from_slice(&source); // else repeated runs end in one fixed point
            (kernels.activate)(&mut data, activation);
        });
    }
    let lookup = codes(256).try_into().unwrap();
    let mut data = codes(MAP);
    setup::int8(c, "lookup 14x14x192", work, |kernels| (kernels.lookup)(black_box(&mut data), &lookup));
    for row_elems in [10, 1000] {
        softmax(c, row_elems);
    }
}

fn softmax(c: &mut Criterion, row_elems: u32) {
    let (name, work) = (format!("softmax {row_elems}"), Work::Elements(u64::from(row_elems)));
    let row_elems = row_elems as usize;
    let source = values(row_elems as u32);
    let mut data = source.clone();
    setup::f32(c, &name, work, |kernels| {
        data.copy_from_slice(&source);
        (kernels.softmax)(&mut data, row_elems);
    });
    let (multiplier, shift, diff_min) = softmax_params(0.1);
    let source = codes(row_elems as u32);
    let mut data = source.clone();
    setup::int8(c, &name, work, |kernels| {
        data.copy_from_slice(&source);
        (kernels.softmax)(black_box(&mut Softmax { data: &mut data, row_elems, multiplier, shift, diff_min }));
    });
}
