//! Normalisations, which have no int8 form.

use std::hint::black_box;

use criterion::Criterion;
use netkit::kernels::{Grn, grn_scratch_elems};

use crate::setup::{self, Work, values};

pub fn bench(c: &mut Criterion) {
    let (scale, shift, mut data) = (values(96), values(96), values(28 * 28 * 96));
    let work = Work::Elements(data.len() as u64);
    setup::f32(c, "batch_norm2d 28x28x96", work, |kernels| (kernels.batch_norm2d)(&mut data, &scale, &shift));

    let (gamma, beta, mut data) = (values(40), values(40), values(56 * 56 * 40));
    let work = Work::Elements(data.len() as u64);
    setup::f32(c, "layernorm2d 56x56x40", work, |kernels| (kernels.layernorm2d)(&mut data, &gamma, &beta, 1e-6));

    let (gamma, beta) = (vec![0.0; 160], values(160)); // gamma 0 keeps repeated runs finite
    let (mut scratch, mut data) = (values(grn_scratch_elems(160)), values(56 * 56 * 160));
    let work = Work::Elements(data.len() as u64);
    setup::f32(c, "grn 56x56x160", work, |kernels| {
        let args = &mut Grn { data: &mut data, gamma: &gamma, beta: &beta, eps: 1e-6, scratch: &mut scratch };
        (kernels.grn)(black_box(args));
    });
}
