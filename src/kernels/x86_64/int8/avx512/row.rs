//! One row of a dense layer with VNNI, with the weights in place: each of them meets one input only, so that reading them takes
//! most of the time.
//!
//! Inputs are multiplied as inputs plus 128, see [`packed`](super::packed); what they are too large by is subtracted with the sum
//! of the weights.

use core::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_dpbusd_epi32, _mm512_maskz_loadu_epi8,
    _mm512_maskz_loadu_epi32, _mm512_mullo_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_shuffle_i32x4, _mm512_sub_epi32, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use bytemuck::cast;

use super::requantize::{Clamp, Factors, LANES};
use crate::kernels::int8::{Conv2d, Requantize};

/// Elements of a vector.
const ELEMS: usize = 64;
/// Outputs whose weights are read at the same time.
const OUTPUTS: usize = 8;

/// Computes the outputs of [`one row`](super::is_row) with weights in place; false, with nothing computed, where there are packed
/// ones.
pub(super) fn run(args: &mut Conv2d<'_>) -> bool {
    let filters = args.filters();
    if !args.packed.is_empty()
        || args.requantize.weight_zero_point != 0
        || filters.elems() == 0
        || filters.elems() != args.input.len()
    {
        return false;
    }
    let outputs = args.requantize.bias.len();
    let pitch = filters.pitch.filter;
    let Some(last) = outputs.checked_sub(1) else { return true };
    if last * pitch + filters.elems() > args.weights.len() || args.output.len() < outputs {
        return false;
    }
    for (first, output) in (0..outputs).step_by(LANES).zip(args.output.chunks_mut(LANES)) {
        // SAFETY: the kernels of this level run where the processor was seen to have the features. The weights of all outputs
        // are there.
        unsafe { codes(args.input, args.weights, pitch, &args.requantize, first, output) };
    }
    true
}

/// The codes of the outputs from `first` on.
///
/// # Safety
///
/// Each output of `requantize` has as many weights as there are inputs, `pitch` elements from output to output.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
unsafe fn codes(
    input: &[i8],
    weights: &[i8],
    pitch: usize,
    requantize: &Requantize<'_>,
    first: usize,
    output: &mut [i8],
) {
    let excess = requantize.input_zero_point + 128;
    let mut vectors = [_mm512_setzero_si512(); LANES];
    for half in 0..output.len().div_ceil(OUTPUTS) {
        let mut rows = [weights.as_ptr(); OUTPUTS];
        for (o, row) in rows.iter_mut().enumerate() {
            // Past the last output it is repeated, and the result is dropped.
            let output = (first + half * OUTPUTS + o).min(requantize.bias.len() - 1);
            *row = weights.as_ptr().wrapping_add(output * pitch);
        }
        // SAFETY: these rows are as long as the input.
        let sums = unsafe {
            if excess == 0 { products::<false>(input, rows, 0) } else { products::<true>(input, rows, excess) }
        };
        vectors[half * OUTPUTS..][..OUTPUTS].copy_from_slice(&sums);
    }
    let sums = lane_sums(vectors);
    let mask = u16::MAX >> (LANES - output.len());
    let bias = requantize.bias.get(first..).unwrap_or_default();
    // SAFETY: the mask keeps no more than the outputs, which have a bias each.
    let bias = unsafe { _mm512_maskz_loadu_epi32(mask, bias.as_ptr()) };
    let Some(factors) = Factors::of(requantize, first) else {
        let sums: [i32; LANES] = cast(sums);
        for (i, (code, sum)) in output.iter_mut().zip(sums).enumerate() {
            *code = requantize.output(first + i, sum);
        }
        return;
    };
    let sums = _mm512_add_epi32(sums, bias);
    let scaled = if requantize.is_plain() { factors.scaled::<true>(sums) } else { factors.scaled::<false>(sums) };
    let rest = _mm512_setzero_si512();
    let codes = Clamp::new(requantize).codes::<false>([scaled, rest, rest, rest]);
    let codes: [i8; LANES] = cast(_mm512_castsi512_si128(codes));
    for (to, code) in output.iter_mut().zip(codes) {
        *to = code;
    }
}

/// The sums of some outputs, which the lanes of a vector add up to.
///
/// # Safety
///
/// As many weights as there are inputs can be read behind each pointer.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
unsafe fn products<const HAS_EXCESS: bool>(
    input: &[i8],
    mut rows: [*const i8; OUTPUTS],
    excess: i32,
) -> [__m512i; OUTPUTS] {
    let mut sums = [_mm512_setzero_si512(); OUTPUTS];
    let mut of_weights = [_mm512_setzero_si512(); OUTPUTS];
    let (upper, ones) = (_mm512_set1_epi8(i8::MIN), _mm512_set1_epi8(1));
    for codes in input.chunks(ELEMS) {
        let mask = u64::MAX >> (ELEMS - codes.len());
        // SAFETY: the mask keeps what is there.
        let x = _mm512_xor_si512(unsafe { _mm512_maskz_loadu_epi8(mask, codes.as_ptr()) }, upper);
        for o in 0..OUTPUTS {
            // SAFETY: as before.
            let w = unsafe { _mm512_maskz_loadu_epi8(mask, rows[o]) };
            sums[o] = _mm512_dpbusd_epi32(sums[o], x, w);
            if HAS_EXCESS {
                of_weights[o] = _mm512_dpbusd_epi32(of_weights[o], ones, w);
            }
            rows[o] = rows[o].wrapping_add(ELEMS);
        }
    }
    if HAS_EXCESS {
        for o in 0..OUTPUTS {
            sums[o] = _mm512_sub_epi32(sums[o], _mm512_mullo_epi32(of_weights[o], _mm512_set1_epi32(excess)));
        }
    }
    sums
}

/// The sums of all lanes of each.
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_sums(vectors: [__m512i; LANES]) -> __m512i {
    let mut quads = [_mm512_setzero_si512(); 4];
    for (quad, four) in quads.iter_mut().zip(vectors.as_chunks::<4>().0) {
        let [a, b, c, d] = *four;
        let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        *quad = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    }
    // Each quarter of a quad has a part of the sums of four vectors.
    let [a, b, c, d] = quads;
    let ab = _mm512_add_epi32(_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xEE>(a, b));
    let cd = _mm512_add_epi32(_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xEE>(c, d));
    _mm512_add_epi32(_mm512_shuffle_i32x4::<0x88>(ab, cd), _mm512_shuffle_i32x4::<0xDD>(ab, cd))
}
