//! int8 on x86-64: the inner loops of products with vectors of 128 bits (SSE2, the baseline) and of 256 bits (AVX2), and
//! the portable int8 kernels compiled for AVX2.
//!
//! Both instruction sets multiply pairs of i16 and add the two products in one instruction. The compiler does not find it
//! in plain loops over tiles, hence the intrinsics; they are the only ones in this library.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_and_si128, _mm_cvtsi64_si128, _mm_madd_epi16, _mm_set1_epi32, _mm_setzero_si128,
    _mm_srai_epi16, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi32,
    _mm_unpacklo_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
    _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_set1_epi32, _mm256_setzero_si256,
};

use bytemuck::cast;

use crate::kernels::Level;
use crate::kernels::int8::portable::tile::{InnerLoops, OUTPUTS, PANEL, PANEL_ROWS, Pairs, add_rest};
use crate::kernels::int8::{Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Softmax, portable};

/// `MASKS[n..][..L]` keeps the last `n` of `L` lanes, for L up to 16.
const fn masks<const L: usize>() -> [[i16; L]; L] {
    let mut masks = [[0; L]; L];
    let mut n = 0;
    while n < L {
        let mut lane = L - n;
        while lane < L {
            masks[n][lane] = -1;
            lane += 1;
        }
        n += 1;
    }
    masks
}

static MASKS_8: [[i16; 8]; 8] = masks();
static MASKS_16: [[i16; 16]; 16] = masks();

/// The inner loops of one instruction set; the only differences are in `$widen`, `$add_up` and the intrinsics' names.
macro_rules! dot {
    ($lanes:literal, $masks:ident, $widen:expr, $and:ident, $add:ident, $madd:ident, $zero:ident, $add_up:expr,
        $input:ident, $weights:ident) => {{
        let len = $input[0].len();
        let mut sums = [[$zero(); OUTPUTS]; R];
        let (x_chunks, w_chunks) = ($input.map(|x| x.as_chunks::<$lanes>().0), $weights.map(|w| w.as_chunks().0));
        let chunks = len / $lanes;
        if x_chunks.iter().any(|x| x.len() != chunks) || w_chunks.iter().any(|w| w.len() != chunks) {
            return [[0; OUTPUTS]; R];
        }
        for k in 0..chunks {
            let x = x_chunks.map(|x| cast(x[k]));
            for o in 0..OUTPUTS {
                let w = $widen(w_chunks[o][k]);
                for r in 0..R {
                    sums[r][o] = $add(sums[r][o], $madd(x[r], w));
                }
            }
        }
        let rest = len % $lanes;
        if rest > 0 && chunks > 0 {
            // The last whole vector ends with the rest; what has been added already is masked.
            let mask = cast($masks[rest]);
            let x = $input.map(|x| x.last_chunk().map_or($zero(), |&x| $and(cast::<[i16; $lanes], _>(x), mask)));
            for o in 0..OUTPUTS {
                let Some(&w) = $weights[o].last_chunk() else { break };
                let w = $widen(w);
                for r in 0..R {
                    sums[r][o] = $add(sums[r][o], $madd(x[r], w));
                }
            }
        }
        let mut sums = sums.map($add_up);
        if chunks == 0 {
            add_rest(&mut sums, $input, $weights);
        }
        sums
    }};
}

/// Products with the vectors of every x86-64.
pub(in crate::kernels) struct Sse2;

impl InnerLoops for Sse2 {
    const HAS_OUTER: bool = true;

    #[inline(always)]
    fn dot<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R] {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R] {
            dot!(
                8, MASKS_8, widen_8, _mm_and_si128, _mm_add_epi32, _mm_madd_epi16, _mm_setzero_si128,
                |sums| cast(add_up(sums)), input, weights
            )
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, weights) }
    }

    #[inline(always)]
    fn outer(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS] {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS] {
            let mut sums = [[_mm_setzero_si128(); 2]; PANEL_ROWS];
            if input.iter().all(|x| x.len() == panel.len()) {
                for (k, &weights) in panel.iter().enumerate() {
                    let weights: [__m128i; 2] = cast(weights);
                    for (sums, x) in sums.iter_mut().zip(input) {
                        let x = _mm_set1_epi32(cast(x[k]));
                        for (sum, w) in sums.iter_mut().zip(weights) {
                            *sum = _mm_add_epi32(*sum, _mm_madd_epi16(x, w));
                        }
                    }
                }
            }
            cast(sums)
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, panel) }
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn widen_8(codes: [i8; 8]) -> __m128i {
    let codes = _mm_cvtsi64_si128(cast(codes));
    _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes))
}

/// The sum of all lanes of each vector.
#[inline]
#[target_feature(enable = "sse2")]
fn add_up(sums: [__m128i; 4]) -> __m128i {
    let [a, b, c, d] = sums;
    let ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd))
}

/// Products with vectors of 256 bits.
struct Avx2;

impl InnerLoops for Avx2 {
    const HAS_OUTER: bool = true;

    #[inline(always)]
    fn dot<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R] {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R] {
            dot!(
                16, MASKS_16, |w: [i8; 16]| _mm256_cvtepi8_epi16(cast(w)), _mm256_and_si256, _mm256_add_epi32,
                _mm256_madd_epi16, _mm256_setzero_si256, |sums| cast(add_up(sums.map(|sums| add_halves(sums)))), input, weights
            )
        }
        // SAFETY: only the kernels below name this type, and they run after `has_avx2` has found the feature.
        unsafe { compiled(input, weights) }
    }

    #[inline(always)]
    fn outer(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS] {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS] {
            let mut sums = [_mm256_setzero_si256(); PANEL_ROWS];
            if input.iter().all(|x| x.len() == panel.len()) {
                for (k, &weights) in panel.iter().enumerate() {
                    for (sum, x) in sums.iter_mut().zip(input) {
                        let x = _mm256_set1_epi32(cast(x[k]));
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(x, cast(weights)));
                    }
                }
            }
            cast(sums)
        }
        // SAFETY: only the kernels below name this type, and they run after `has_avx2` has found the feature.
        unsafe { compiled(input, panel) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_halves(sums: __m256i) -> __m128i {
    _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums))
}

/// One kernel per line: its name and parameters, and the portable function that it compiles.
macro_rules! kernels {
    ($($name:ident($($arg:ident: $type:ty),*) = $portable:expr;)*) => {
        $(#[inline(never)]
        fn $name($($arg: $type),*) {
            #[target_feature(enable = "avx2")]
            fn compiled($($arg: $type),*) {
                $portable
            }
            // SAFETY: `KERNELS` alone leads to this function, and only `int8::table` hands `KERNELS` out, after
            // `has_avx2` has found the feature.
            unsafe { compiled($($arg),*) }
        })*

        /// The AVX2 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
        pub(in crate::kernels) static KERNELS: Kernels = Kernels { level: Level::Avx2, $($name),* };
    };
}

kernels! {
    conv2d(args: &mut Conv2d<'_>) = portable::conv2d::run::<Avx2>(args);
    dense(args: &mut Dense<'_>) = portable::dense::run(args, conv2d);
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::depthwise_conv2d(args);
    max_pool2d(args: &mut Pool2d<'_>) = portable::max_pool2d::max_pool2d(args);
    avg_pool2d(args: &mut Pool2d<'_>) = portable::avg_pool2d::avg_pool2d(args);
    add(args: &mut Add<'_>) = portable::add::add(args);
    softmax(args: &mut Softmax<'_>) = portable::softmax::softmax(args);
    lookup(data: &mut [i8], table: &[i8; 256]) = portable::lookup::lookup(data, table);
}
