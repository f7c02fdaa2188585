//! Products of packed weights with VNNI: four products of bytes at a time, of which those of the input must not be negative:
//! inputs plus 128. A tile keeps all its sums in registers.

use core::arch::x86_64::{
    __m512i, _mm512_dpbusd_epi32, _mm512_mask_storeu_epi8, _mm512_max_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
};

use bytemuck::{Pod, Zeroable, cast, cast_ref, cast_slice_mut};

use super::requantize::{Clamp, Factors};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::packed::{
    Codes, PackedForm, PackedLoops, PanelFinish, PanelTables, Tile, TileSums, WIDTH,
};
use crate::kernels::int8::portable::staged::{Buffer, Staging, stage};
use crate::kernels::simd::int8::tiles;

/// Packed weights for these products.
pub(super) const QUADS: PackedLoops = PackedLoops {
    form: &PackedForm::QUADS,
    elem_bytes: 1,
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the
    // features.
    stage: |staging, buffer| unsafe { all_rows(staging, buffer) },
    // SAFETY: see above.
    products: |tile, sums| unsafe { all_tiles(tile, sums) },
    finish: Some(PanelFinish {
        // SAFETY: see above.
        tables: |requantize, first, width| unsafe { tables(requantize, first, width) },
        // SAFETY: see above.
        codes: |tables, sums, codes| unsafe { all_codes(tables, sums, codes) },
    }),
};

#[target_feature(enable = "avx512bw,avx512vl")]
fn all_rows(staging: &Staging<'_>, buffer: &mut Buffer) {
    stage::<u8>(staging, cast_slice_mut(&mut buffer.0));
}

tiles!("avx512f,avx512vnni", u8, 4, 16, [1, 2, 4], _mm512_setzero_si512, _mm512_set1_epi32, cast, _mm512_dpbusd_epi32);

/// The form of [`PanelTables`].
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Form {
    factors: [Factors; 4],
    clamp: Clamp,
    /// Not 0 if [`Requantize::is_plain`].
    is_plain: [i32; 16],
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn tables(requantize: &Requantize<'_>, first: usize, width: usize) -> Option<PanelTables> {
    let mut factors = [Factors::zeroed(); 4];
    for (block, factors) in factors.iter_mut().enumerate().take(width / WIDTH) {
        *factors = Factors::of(requantize, first + block * WIDTH)?;
    }
    let is_plain = [requantize.is_plain().into(); 16];
    Some(PanelTables(cast(Form { factors, clamp: Clamp::new(requantize), is_plain })))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn all_codes(tables: &PanelTables, sums: &TileSums, codes: Codes<'_>) {
    let form: &Form = cast_ref(&tables.0);
    match (codes.width / WIDTH, form.is_plain[0] != 0) {
        (4, true) => codes_of::<4, true>(form, sums, codes),
        (4, false) => codes_of::<4, false>(form, sums, codes),
        (2, true) => codes_of::<2, true>(form, sums, codes),
        (2, false) => codes_of::<2, false>(form, sums, codes),
        (_, true) => codes_of::<1, true>(form, sums, codes),
        (_, false) => codes_of::<1, false>(form, sums, codes),
    }
}

/// The codes of a tile, `B` blocks wide.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw")]
fn codes_of<const B: usize, const IS_PLAIN: bool>(form: &Form, sums: &TileSums, codes: Codes<'_>) {
    let Codes { output, pitch, pixels, outputs, pooled, .. } = codes;
    let pixels = if pooled { 1 } else { pixels.min(sums.len()) };
    if pixels == 0 || outputs == 0 || outputs > B * WIDTH || (pixels - 1) * pitch + outputs > output.len() {
        return;
    }
    let existing = u64::MAX >> (64 - outputs);
    // Four vectors at a time: so many pixels.
    for first in (0..pixels).step_by(4 / B) {
        let mut scaled = [_mm512_setzero_si512(); 4];
        for (v, scaled) in scaled.iter_mut().enumerate() {
            let (pixel, block) = ((first + v / B).min(pixels - 1), v % B);
            let sums = if pooled { largest(sums, block) } else { vector(sums, pixel, block) };
            *scaled = form.factors[block].scaled::<IS_PLAIN>(sums);
        }
        let all = form.clamp.codes::<IS_PLAIN>(scaled);
        for pixel in 0..(4 / B).min(pixels - first) {
            let before = pixel * B * WIDTH;
            // SAFETY: the mask keeps the codes of one pixel, which end inside the output.
            unsafe {
                let to = output.as_mut_ptr().add((first + pixel) * pitch).wrapping_sub(before);
                _mm512_mask_storeu_epi8(to, existing << before, all);
            }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn vector(sums: &TileSums, pixel: usize, block: usize) -> __m512i {
    let (vectors, _) = sums[pixel].as_chunks::<WIDTH>();
    cast(vectors[block])
}

/// The largest sums of four pixels. As multipliers are not negative and nothing is shifted to the left, a larger sum never
/// has a smaller code.
#[inline]
#[target_feature(enable = "avx512f")]
fn largest(sums: &TileSums, block: usize) -> __m512i {
    let upper = _mm512_max_epi32(vector(sums, 0, block), vector(sums, 1, block));
    let lower = _mm512_max_epi32(vector(sums, 2, block), vector(sums, 3, block));
    _mm512_max_epi32(upper, lower)
}
