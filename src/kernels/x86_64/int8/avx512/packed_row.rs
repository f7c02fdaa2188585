//! One row of a dense layer with VNNI and packed weights: these stay in the second-level cache, and reading them takes most of
//! the time. Nothing is staged, and sums go from registers to codes.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_xor_si512,
};

use super::requantize::{Clamp, Factors, LANES};
use crate::kernels::int8::portable::packed::{PackedForm, panels_of};
use crate::kernels::int8::{Conv2d, Requantize};

/// Elements that are multiplied at a time, and bytes of a vector.
const QUAD: usize = 4;
const VECTOR: usize = 64;

/// Computes the outputs of [`one row`](super::is_row) with packed weights; false, with all of them still to be computed, where
/// weights or multipliers have another form.
pub(super) fn run(args: &mut Conv2d<'_>) -> bool {
    // SAFETY: the kernels of this level run where the processor was seen to have the features.
    unsafe { row(args) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn row(args: &mut Conv2d<'_>) -> bool {
    let (requantize, outputs) = (args.requantize, args.requantize.bias.len());
    let extents = (1, args.input.len());
    let Some(panels) = panels_of(&PackedForm::QUADS, args.packed, 0..outputs, extents) else { return false };
    let clamp = Clamp::new(&requantize);
    for (first, blocks, panel) in panels {
        let scaled = match blocks {
            4 => scaled_sums::<4>(args.input, panel, &requantize, first),
            2 => scaled_sums::<2>(args.input, panel, &requantize, first),
            _ => scaled_sums::<1>(args.input, panel, &requantize, first),
        };
        let (Some(scaled), Some(output)) = (scaled, args.output.get_mut(first..outputs)) else { return false };
        let mask = u64::MAX >> (VECTOR - output.len().min(blocks * LANES));
        // SAFETY: the mask keeps the codes of outputs that there are.
        unsafe { _mm512_mask_storeu_epi8(output.as_mut_ptr(), mask, clamp.codes::<false>(scaled)) };
    }
    true
}

/// The scaled sums of a panel of `B` vectors of outputs from `first` on; the other vectors are 0. Nothing where multipliers have
/// another form.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn scaled_sums<const B: usize>(
    input: &[i8],
    panel: &[i8],
    requantize: &Requantize<'_>,
    first: usize,
) -> Option<[__m512i; 4]> {
    let mut scaled = [_mm512_setzero_si512(); 4];
    let (offsets, weights) = panel.split_at_checked(B * VECTOR).unwrap_or_default();
    if weights.len() < input.len().div_ceil(QUAD) * B * VECTOR {
        return None;
    }
    let (quads, rest) = input.as_chunks::<QUAD>();
    // Two sums of each output, because products wait for the sums before them.
    let mut sums = [[_mm512_setzero_si512(); B]; 2];
    for (b, sum) in sums[0].iter_mut().enumerate() {
        // SAFETY: there are `B` vectors of offsets.
        *sum = unsafe { _mm512_loadu_si512(offsets.as_ptr().add(b * VECTOR).cast()) };
    }
    let mut rows = weights.as_ptr();
    let (pairs, single) = quads.as_chunks::<2>();
    // SAFETY: every quad of the input has `B` vectors of weights.
    unsafe {
        for pair in pairs {
            for (quad, sums) in pair.iter().zip(&mut sums) {
                add_products(*quad, rows, sums);
                rows = rows.add(B * VECTOR);
            }
        }
        for quad in single {
            add_products(*quad, rows, &mut sums[0]);
            rows = rows.add(B * VECTOR);
        }
        if !rest.is_empty() {
            // What is behind the last element meets weights of 0.
            let mut quad = [0; QUAD];
            quad.iter_mut().zip(rest).for_each(|(to, code)| *to = *code);
            add_products(quad, rows, &mut sums[0]);
        }
    }
    for b in 0..B {
        let factors = Factors::of(requantize, first + b * LANES)?;
        let sums = _mm512_add_epi32(sums[0][b], sums[1][b]);
        scaled[b] = if requantize.is_plain() { factors.scaled::<true>(sums) } else { factors.scaled::<false>(sums) };
    }
    Some(scaled)
}

/// Adds the products of four elements, as inputs plus 128, and `B` vectors of weights.
///
/// # Safety
///
/// `B` vectors can be read from `weights` on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn add_products<const B: usize>(quad: [i8; QUAD], weights: *const i8, sums: &mut [__m512i; B]) {
    let quad = _mm512_set1_epi32(i32::from_le_bytes(quad.map(|code| code as u8)));
    let inputs = _mm512_xor_si512(quad, _mm512_set1_epi8(i8::MIN));
    for (b, sum) in sums.iter_mut().enumerate() {
        // SAFETY: as the caller says.
        let weights = unsafe { _mm512_loadu_si512(weights.add(b * VECTOR).cast()) };
        *sum = _mm512_dpbusd_epi32(*sum, inputs, weights);
    }
}
