//! Sums of maps.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::int8::Add;
use netkit::kernels::int8::requantize::add_terms;

use crate::setup::{self, Work, codes, values};

const MAP: u32 = 14 * 14 * 192;

pub fn bench(c: &mut Criterion) {
    let (name, work) = ("add 14x14x192", Work::Elements(u64::from(MAP)));
    let (mut data, other) = (values(MAP), values(MAP));
    setup::f32(c, name, work, |kernels| (kernels.add)(&mut data, &other));
    let (mut data, other) = (codes(MAP), codes(MAP));
    let (own, other_term, output) = add_terms(0.1, 3, 0.07, -4, 0.13, 5);
    setup::int8(c, name, work, |kernels| {
        let (data, other) = (&mut data, &other);
        (kernels.add)(black_box(&mut Add { data, other, own, other_term, output, min: -128, max: 127 }));
    });
    let (half, mut data) = (values(20 * 20 * 64), values(40 * 40 * 64));
    let work = Work::Elements(data.len() as u64);
    setup::f32(c, "add_upsampled2x 40x40x64", work, |kernels| (kernels.add_upsampled2x)(&mut data, &half, 20, 64));
}
