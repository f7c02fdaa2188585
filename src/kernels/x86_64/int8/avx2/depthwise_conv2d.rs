//! Depthwise convolution with products of i16 that are added up in pairs: two kernel rows of 8 channels at a time.

use core::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_loadu_si128, _mm_set1_epi8, _mm_setzero_si128, _mm_unpackhi_epi8,
    _mm_unpacklo_epi8, _mm_xor_si128, _mm256_adds_epi16, _mm256_cvtepu8_epi16, _mm256_max_epi8,
    _mm256_max_epi32 as larger, _mm256_min_epi8, _mm256_or_si256, _mm256_packs_epi16, _mm256_packs_epi32,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256 as zero,
    _mm256_shuffle_epi8, _mm256_sll_epi32, _mm256_srai_epi16, _mm256_srl_epi32,
};

use bytemuck::{Zeroable, cast};

use super::super::depthwise_conv2d::{Columns, Cut, HALF, STRIP, VECTORS, depthwise};
use super::LOOPS;
use super::loops::{Form as Factors, add_product as add_products, scaled};
use crate::kernels::int8::portable::depthwise_packed::{LANES as WIDTH, Line, lines, pack_channels, packed_lines};
use crate::kernels::int8::portable::finish::Channels;
use crate::kernels::int8::portable::tile::BLOCK as LANES;
use crate::kernels::int8::{DepthwiseConv2d, Requantize, portable};
use crate::tensor::Window;

/// Rows whose products are added up.
const ROWS: usize = 2;
/// Vectors that there is room for in each of two memories of 8 KiB.
const ROOM: usize = 256;
/// What blocks that overlap their neighbours need.
const MIN_CHANNELS: usize = LANES;

depthwise!("avx2", __m256i);

/// The first channel and the number of channels of a block of up to so many vectors. The last one overlaps its neighbour
/// rather than reach past the end.
fn channels_of_block(first: usize, channels: usize, vectors: usize) -> (usize, usize) {
    let fits = |&count: &usize| count <= vectors * LANES && first + count <= channels;
    match [4 * LANES, 2 * LANES, LANES].into_iter().find(fits) {
        Some(count) => (first, count),
        None => (channels - LANES, LANES),
    }
}

/// What stands for columns outside the input.
#[inline]
#[target_feature(enable = "avx2")]
fn padding(zero_point: i8) -> __m256i {
    _mm256_set1_epi16(i16::from(zero_point) + 128)
}

/// Writes the columns of `V` vectors of channels, `pitch` from one vector to the next.
///
/// # Safety
///
/// The channels of all pixels can be read.
#[inline(never)]
#[target_feature(enable = "avx2")]
unsafe fn stage_columns<const V: usize>(columns: &Columns<ROWS>, staged: &mut [__m256i], pitch: usize) {
    assert!((V - 1) * pitch + columns.count <= staged.len());
    let sign = _mm_set1_epi8(i8::MIN);
    let mut rows = columns.rows;
    for column in 0..columns.count {
        let out = staged.as_mut_ptr().wrapping_add(column);
        for half in 0..V.div_ceil(2) {
            let mut x = [_mm_setzero_si128(); ROWS];
            for i in 0..ROWS {
                let codes = rows[i].wrapping_add(half * 2 * LANES).cast();
                // SAFETY: channels of a pixel.
                let codes = unsafe { if V == 1 { _mm_loadl_epi64(codes) } else { _mm_loadu_si128(codes) } };
                x[i] = _mm_xor_si128(codes, sign);
            }
            // SAFETY: the last column of the last vector is inside.
            unsafe {
                *out.add(2 * half * pitch) = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x[0], x[1]));
                if V > 1 {
                    *out.add((2 * half + 1) * pitch) = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(x[0], x[1]));
                }
            }
        }
        for (row, step) in rows.iter_mut().zip(columns.steps) {
            *row = row.wrapping_add(step);
        }
    }
}

impl Factors {
    /// Those of the channels from `first` on, for sums that include the bias.
    #[target_feature(enable = "avx2")]
    fn of(requantize: &Requantize<'_>, first: usize) -> Option<Self> {
        let channels = Channels::of(requantize, first)?;
        Some(Self::new(&Channels { bias: [0; LANES], ..channels }, requantize))
    }
}

/// The end of the way to codes.
struct Clamp {
    zero_point: __m256i,
    min: __m256i,
    max: __m256i,
}

impl Clamp {
    #[target_feature(enable = "avx2")]
    fn new(requantize: &Requantize<'_>) -> Self {
        Self {
            zero_point: _mm256_set1_epi16(requantize.output_zero_point as i16),
            min: _mm256_set1_epi8(requantize.min),
            max: _mm256_set1_epi8(requantize.max),
        }
    }
}

/// Where in a vector of weights in fours the first two of each channel are, as the upper halves of i16; zeros below.
static FIRST_TWO: [[i8; 16]; 2] = [[-1, 0, -1, 1, -1, 4, -1, 5, -1, 8, -1, 9, -1, 12, -1, 13]; 2];
/// The same of the last two.
static LAST_TWO: [[i8; 16]; 2] = [[-1, 2, -1, 3, -1, 6, -1, 7, -1, 10, -1, 11, -1, 14, -1, 15]; 2];

impl Block {
    /// Writes the weights of a vector, whose channels begin with channel `first` of the lines, for every phase, lower by as
    /// many rows; returns what its sums begin with.
    #[target_feature(enable = "avx2")]
    fn lower(&self, lines: &[Line], first: usize, weights: &mut [__m256i]) -> __m256i {
        let kernel_w = self.window.kernel_w as usize;
        let fours = |line: &Line| cast::<Line, [__m256i; WIDTH / LANES]>(*line)[first / LANES];
        let Some((offsets, lines)) = lines.split_first() else { return zero() };
        for (phase, weights) in weights.chunks_exact_mut(self.cut.groups * kernel_w).enumerate() {
            let bits = 8 * (phase * self.window.stride as usize) as i32;
            let (down, up) = (_mm_cvtsi32_si128(bits), _mm_cvtsi32_si128(32 - bits));
            for (group, weights) in weights.chunks_exact_mut(kernel_w).enumerate() {
                let two = cast(if group % 2 == 0 { FIRST_TWO } else { LAST_TWO });
                for (at, weights) in (group / 2 * kernel_w..).zip(weights) {
                    let above = at.checked_sub(kernel_w).map_or(zero(), |above| fours(&lines[above]));
                    let fours = _mm256_or_si256(_mm256_sll_epi32(fours(&lines[at]), down), _mm256_srl_epi32(above, up));
                    *weights = _mm256_srai_epi16::<8>(_mm256_shuffle_epi8(fours, two));
                }
            }
        }
        fours(offsets)
    }

    /// Writes the codes of `count` pixels, with which the output begins.
    ///
    /// # Safety
    ///
    /// The pixels lie in the output.
    #[target_feature(enable = "avx2")]
    unsafe fn finish<const IS_PLAIN: bool>(&self, sums: &[__m256i; STRIP * VECTORS], count: usize, output: &mut [i8]) {
        let (channels, clamp) = (self.window.in_c as usize, &self.clamp);
        let at_once = VECTORS / self.vectors;
        for (first, sums) in (0..count).step_by(at_once).zip(sums.as_chunks::<VECTORS>().0) {
            let mut scaled_sums = *sums;
            for (sums, factors) in scaled_sums.iter_mut().zip(&self.factors) {
                *sums = scaled::<IS_PLAIN>(factors, cast(*sums));
            }
            let [a, b, c, d] = scaled_sums;
            // 16 bits are enough: what saturates there is clamped anyway.
            let ab = _mm256_adds_epi16(_mm256_packs_epi32(a, b), clamp.zero_point);
            let cd = _mm256_adds_epi16(_mm256_packs_epi32(c, d), clamp.zero_point);
            // The four bytes of each lane, back to the order of vectors.
            let order = cast([0, 4, 1, 5, 2, 6, 3, 7]);
            let mut codes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(ab, cd), order);
            if !IS_PLAIN {
                codes = _mm256_min_epi8(_mm256_max_epi8(codes, clamp.min), clamp.max);
            }
            for i in 0..at_once.min(count - first) {
                let pixel = output.as_mut_ptr().wrapping_add((first + i) * channels);
                // SAFETY: channels that the pixel has. Arrays of bytes have no alignment.
                unsafe {
                    match self.vectors {
                        1 => *pixel.cast() = cast::<_, [[i8; LANES]; 4]>(codes)[i],
                        2 => *pixel.cast() = cast::<_, [[i8; 2 * LANES]; 2]>(codes)[i],
                        _ => *pixel.cast() = cast::<_, [i8; 4 * LANES]>(codes),
                    }
                }
            }
        }
    }
}
