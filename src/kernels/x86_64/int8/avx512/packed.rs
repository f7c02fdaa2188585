//! Products of packed weights with VNNI: four products of bytes at a time, of which those of the input must not be negative:
//! inputs plus 128. A tile keeps all its sums in registers.

use core::arch::x86_64::{
    _mm512_dpbusd_epi32, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_set1_epi32,
    _mm512_setzero_si512, _mm512_xor_si512,
};

use bytemuck::{Pod, Zeroable, cast, cast_mut, cast_ref, cast_slice_mut};

use super::requantize::{Clamp, Factors};
use crate::kernels::int8::Requantize;
use crate::kernels::int8::portable::packed::{
    Codes, PackedForm, PackedLoops, PanelFinish, PanelTables, Tile, TileSums, WIDTH,
};
use crate::kernels::int8::portable::staged::{Staging, stage};
use crate::kernels::simd::int8_packed::tiles;

/// Packed weights for these products.
pub(super) const QUADS: PackedLoops = PackedLoops {
    form: &PackedForm::QUADS,
    min_pixels: 1,
    elem_bytes: 1,
    // SAFETY: only the kernels of this level name these loops, and they run where the processor was seen to have the
    // features.
    stage: |staging, buffer| unsafe { all_rows(staging, buffer) },
    // SAFETY: see above.
    products: |tile, sums| unsafe { all_tiles(tile, sums) },
    finish: PanelFinish {
        // SAFETY: see above.
        tables: |requantize, first, width, tables| unsafe { write_tables(requantize, first, width, tables) },
        // SAFETY: see above.
        codes: |tables, sums, codes| unsafe { all_codes(tables, sums, codes) },
    },
};

#[target_feature(enable = "avx512bw,avx512vl")]
fn all_rows(staging: &Staging<'_>, buffer: &mut [i16]) {
    stage(staging, cast_slice_mut(buffer), |codes, _, out| copy_run(codes, out));
}

/// Inputs plus 128.
#[target_feature(enable = "avx512bw,avx512vl")]
fn copy_run(codes: &[i8], out: &mut [u8]) {
    let upper = _mm512_set1_epi8(i8::MIN);
    for (codes, out) in codes.chunks(64).zip(out.chunks_mut(64)) {
        let mask = u64::MAX >> (64 - codes.len().min(out.len()));
        // SAFETY: the mask keeps what is there.
        unsafe {
            let codes = _mm512_maskz_loadu_epi8(mask, codes.as_ptr());
            _mm512_mask_storeu_epi8(out.as_mut_ptr().cast(), mask, _mm512_xor_si512(codes, upper));
        }
    }
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
fn write_tables(requantize: &Requantize<'_>, first: usize, width: usize, tables: &mut PanelTables) -> bool {
    let form: &mut Form = cast_mut(&mut tables.wide);
    form.clamp = Clamp::new(requantize);
    form.is_plain = [requantize.is_plain().into(); 16];
    for (block, to) in form.factors.iter_mut().enumerate().take(width / WIDTH) {
        let Some(factors) = Factors::of(requantize, first + block * WIDTH) else { return false };
        *to = factors;
    }
    true
}

#[target_feature(enable = "avx512f,avx512bw")]
fn all_codes(tables: &PanelTables, sums: &mut TileSums, codes: &mut Codes<'_>) {
    let form: &Form = cast_ref(&tables.wide);
    if codes.pooled {
        largest(sums, codes.width);
        codes.pixels = 1;
    }
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
fn codes_of<const B: usize, const IS_PLAIN: bool>(form: &Form, sums: &TileSums, codes: &mut Codes<'_>) {
    let Codes { ref mut output, pitch, pixels, outputs, .. } = *codes;
    if pixels == 0 || outputs == 0 || outputs > B * WIDTH || (pixels - 1) * pitch + outputs > output.len() {
        return;
    }
    let existing = u64::MAX >> (64 - outputs);
    // Four vectors at a time: so many pixels, of which the last need not exist.
    let at_once = 4 / B;
    for (group, sums) in vectors(sums).as_chunks::<4>().0.iter().enumerate().take(pixels.div_ceil(at_once)) {
        let mut scaled = [_mm512_setzero_si512(); 4];
        for v in 0..4 {
            scaled[v] = form.factors[v % B].scaled::<IS_PLAIN>(cast(sums[v]));
        }
        let all = form.clamp.codes::<IS_PLAIN>(scaled);
        for part in 0..at_once {
            let (pixel, before) = (group * at_once + part, part * B * WIDTH);
            if pixel < pixels {
                // SAFETY: the mask keeps the codes of one pixel, which end inside the output.
                unsafe {
                    let to = output.as_mut_ptr().add(pixel * pitch).wrapping_sub(before);
                    _mm512_mask_storeu_epi8(to, existing << before, all);
                }
            }
        }
    }
}

fn vectors(sums: &TileSums) -> &[[i32; WIDTH]] {
    sums.as_chunks().0
}

/// The largest sums of four pixels, in place of those of the first. As multipliers are not negative and nothing is shifted to
/// the left, a larger sum never has a smaller code.
#[inline]
#[target_feature(enable = "avx512f")]
fn largest(sums: &mut TileSums, width: usize) {
    let (first, others) = sums.split_at_mut(width);
    let (second, others) = others.split_at(width);
    let (third, fourth) = others.split_at(width);
    for (((a, b), c), d) in first.iter_mut().zip(second).zip(third).zip(fourth) {
        *a = (*a).max(*b).max((*c).max(*d));
    }
}
