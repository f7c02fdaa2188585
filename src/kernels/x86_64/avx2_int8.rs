//! int8 on x86-64: the inner loops of products with vectors of 128 bits (SSE2, the baseline) and of 256 bits (AVX2), and
//! the portable int8 kernels compiled for AVX2.
//!
//! Both instruction sets multiply pairs of i16 and add the two products in one instruction. The compiler does not find it
//! in plain loops over tiles, hence the intrinsics; they are the only ones in this library.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_cvtsi64_si128, _mm_madd_epi16, _mm_set1_epi16, _mm_set1_epi32,
    _mm_setzero_si128, _mm_srai_epi16, _mm_sub_epi16, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_add_epi32,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_madd_epi16, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_setzero_si256, _mm256_sub_epi16,
};

use bytemuck::cast;

use crate::kernels::Level;
use crate::kernels::int8::portable::finish::{self, Lanes};
use crate::kernels::int8::portable::tile::{BLOCK, InnerLoops, PANEL_ROWS, Pairs, STRIP, Windows, add_rest, block_at};
use crate::kernels::int8::{Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Softmax, portable};

/// `masks()[n]` keeps the last `n` of `L` lanes.
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

/// `InnerLoops::dot` of one instruction set. No closures in here: those of a function with a target feature are not
/// inlined into what takes them.
macro_rules! dot {
    ($lanes:literal, $masks:ident, $zero:ident, $widen:ident, $add_product:ident, $add_up:ident, $input:ident, $weights:ident) => {{
        let (len, chunks) = ($input[0].len(), $input[0].len() / $lanes);
        let mut sums = [[$zero(); O]; R];
        let mut x_chunks = [&[[0i16; $lanes]; 0][..]; R];
        let mut w_chunks = [&[[0i8; $lanes]; 0][..]; O];
        let mut is_equal = true;
        for r in 0..R {
            x_chunks[r] = $input[r].as_chunks().0;
            is_equal &= $input[r].len() == len;
        }
        for o in 0..O {
            w_chunks[o] = $weights[o].as_chunks().0;
            is_equal &= $weights[o].len() == len;
        }
        if !is_equal {
            return [[0; O]; R];
        }
        for k in 0..chunks {
            for o in 0..O {
                let w = $widen(w_chunks[o][k]);
                for r in 0..R {
                    sums[r][o] = $add_product(sums[r][o], x_chunks[r][k], w);
                }
            }
        }
        let mut totals = [[0; O]; R];
        if chunks == 0 {
            add_rest(&mut totals, $input, $weights);
            return totals;
        }
        let rest = len % $lanes;
        if rest > 0 {
            // The last whole vector ends with the rest; what has been added already is masked.
            for o in 0..O {
                let Some(&w) = $weights[o].last_chunk() else { break };
                let w = $widen(w);
                for r in 0..R {
                    let Some(x) = $input[r].last_chunk::<$lanes>() else { break };
                    let mut masked = *x;
                    for i in 0..$lanes {
                        masked[i] &= $masks[rest][i];
                    }
                    sums[r][o] = $add_product(sums[r][o], masked, w);
                }
            }
        }
        for r in 0..R {
            for o in 0..O {
                totals[r][o] = $add_up(sums[r][o]);
            }
        }
        totals
    }};
}

/// `InnerLoops::taps` of one instruction set.
macro_rules! taps {
    ($zero:expr, $add_taps:ident, $windows:ident, $sums:ident) => {{
        let kernel_w = $windows.kernel_w;
        for (group, sums) in $sums.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            if group * GROUP >= $windows.count {
                break;
            }
            let mut totals = [$zero; GROUP];
            for (row, weights) in $windows.weights.chunks_exact(kernel_w.max(1)).enumerate() {
                let mut columns = [$windows.columns; GROUP];
                for at in 0..GROUP {
                    // Past the last window the group repeats it.
                    let window = (group * GROUP + at).min($windows.count - 1);
                    let start = row * $windows.width + window * $windows.step;
                    let Some(window) = $windows.columns.get(start..start + kernel_w) else { return };
                    columns[at] = window;
                }
                for column in 0..kernel_w {
                    for at in 0..GROUP {
                        totals[at] = $add_taps(totals[at], &columns[at][column], &weights[column]);
                    }
                }
            }
            *sums = cast(totals);
        }
    }};
}

/// Windows of a group, two in a strip.
const GROUP: usize = 4;

/// Products with the vectors of every x86-64.
pub(in crate::kernels) struct Sse2;

impl InnerLoops for Sse2 {
    const HAS_VECTORS: bool = true;

    #[inline(always)]
    fn dot<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
            dot!(8, MASKS_8, _mm_setzero_si128, widen_8, add_product, add_up, input, weights)
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, weights) }
    }

    #[inline(always)]
    fn outer(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
            let mut rest = input;
            for all_sums in all_sums.as_chunks_mut::<PANEL_ROWS>().0 {
                let mut rows = [rest; PANEL_ROWS];
                for row in &mut rows {
                    let Some((first, others)) = rest.split_at_checked(panel.len()) else { return };
                    (*row, rest) = (first, others);
                }
                let mut sums = [[_mm_setzero_si128(); 2]; PANEL_ROWS];
                for (k, weights) in panel.iter().enumerate() {
                    let weights: [__m128i; 2] = cast(*weights);
                    for r in 0..PANEL_ROWS {
                        let x = _mm_set1_epi32(cast(rows[r][k]));
                        for half in 0..2 {
                            sums[r][half] = _mm_add_epi32(sums[r][half], _mm_madd_epi16(x, weights[half]));
                        }
                    }
                }
                *all_sums = cast(sums);
            }
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(input, panel, all_sums) }
    }

    #[inline(always)]
    fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
            let centre = _mm_set1_epi16(i16::from(zero_point));
            for (column, out) in out.iter_mut().enumerate() {
                let upper = block_at(rows[0], column * channels, zero_point);
                let lower = block_at(rows[1], column * channels, zero_point);
                *out = alternate(upper, lower, centre);
            }
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(rows, channels, zero_point, out) }
    }

    #[inline(always)]
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
        #[inline(never)]
        #[target_feature(enable = "sse2")]
        fn compiled(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
            taps!([_mm_setzero_si128(); 2], add_taps, windows, sums)
        }
        // SAFETY: SSE2 belongs to the baseline of x86-64.
        unsafe { compiled(windows, sums) }
    }

    #[inline(never)]
    fn codes(lanes: &Lanes, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
        finish::codes(lanes, sums, output, pitch);
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn widen_8(codes: [i8; 8]) -> __m128i {
    let codes = _mm_cvtsi64_si128(cast(codes));
    _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes))
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_product(sums: __m128i, x: [i16; 8], w: __m128i) -> __m128i {
    _mm_add_epi32(sums, _mm_madd_epi16(cast(x), w))
}

/// The sum of all lanes.
#[inline]
#[target_feature(enable = "sse2")]
fn add_up(sums: __m128i) -> i32 {
    let [a, b, c, d]: [i32; 4] = cast(sums);
    (a.wrapping_add(b)).wrapping_add(c.wrapping_add(d))
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "sse2")]
fn alternate(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: __m128i) -> Pairs {
    let codes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(cast(upper)), _mm_cvtsi64_si128(cast(lower)));
    let low = _mm_srai_epi16::<8>(_mm_unpacklo_epi8(codes, codes));
    let high = _mm_srai_epi16::<8>(_mm_unpackhi_epi8(codes, codes));
    cast([_mm_sub_epi16(low, zero_point), _mm_sub_epi16(high, zero_point)])
}

#[inline]
#[target_feature(enable = "sse2")]
fn add_taps(sums: [__m128i; 2], x: &Pairs, weights: &Pairs) -> [__m128i; 2] {
    let (x, w): ([__m128i; 2], [__m128i; 2]) = (cast(*x), cast(*weights));
    [_mm_add_epi32(sums[0], _mm_madd_epi16(x[0], w[0])), _mm_add_epi32(sums[1], _mm_madd_epi16(x[1], w[1]))]
}

/// Products with vectors of 256 bits.
struct Avx2;

impl InnerLoops for Avx2 {
    const HAS_VECTORS: bool = true;

    #[inline(always)]
    fn dot<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled<const R: usize, const O: usize>(input: [&[i16]; R], weights: [&[i8]; O]) -> [[i32; O]; R] {
            dot!(16, MASKS_16, _mm256_setzero_si256, widen_16, add_product_256, add_up_256, input, weights)
        }
        // SAFETY: only the kernels below name this type, and they run after `has_avx2` has found the feature.
        unsafe { compiled(input, weights) }
    }

    #[inline(always)]
    fn outer(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut [[i32; BLOCK]; STRIP]) {
            let mut rest = input;
            for all_sums in all_sums.as_chunks_mut::<PANEL_ROWS>().0 {
                let mut rows = [rest; PANEL_ROWS];
                for row in &mut rows {
                    let Some((first, others)) = rest.split_at_checked(panel.len()) else { return };
                    (*row, rest) = (first, others);
                }
                let mut sums = [_mm256_setzero_si256(); PANEL_ROWS];
                for (k, weights) in panel.iter().enumerate() {
                    let weights = cast(*weights);
                    for r in 0..PANEL_ROWS {
                        let x = _mm256_set1_epi32(cast(rows[r][k]));
                        sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(x, weights));
                    }
                }
                *all_sums = cast(sums);
            }
        }
        // SAFETY: only the kernels below name this type, and they run after `has_avx2` has found the feature.
        unsafe { compiled(input, panel, all_sums) }
    }

    #[inline(always)]
    fn stage(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
            let centre = _mm256_set1_epi16(i16::from(zero_point));
            for (column, out) in out.iter_mut().enumerate() {
                let upper = block_at(rows[0], column * channels, zero_point);
                let lower = block_at(rows[1], column * channels, zero_point);
                *out = alternate_256(upper, lower, centre);
            }
        }
        // SAFETY: as for `dot`.
        unsafe { compiled(rows, channels, zero_point, out) }
    }

    #[inline(always)]
    fn taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
            taps!(_mm256_setzero_si256(), add_taps_256, windows, sums)
        }
        // SAFETY: as for `dot`.
        unsafe { compiled(windows, sums) }
    }

    #[inline(always)]
    fn codes(lanes: &Lanes, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
        #[inline(never)]
        #[target_feature(enable = "avx2")]
        fn compiled(lanes: &Lanes, sums: &[[i32; BLOCK]], output: &mut [i8], pitch: usize) {
            finish::codes(lanes, sums, output, pitch);
        }
        // SAFETY: as for `dot`.
        unsafe { compiled(lanes, sums, output, pitch) }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn widen_16(codes: [i8; 16]) -> __m256i {
    _mm256_cvtepi8_epi16(cast(codes))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_product_256(sums: __m256i, x: [i16; 16], w: __m256i) -> __m256i {
    _mm256_add_epi32(sums, _mm256_madd_epi16(cast(x), w))
}

/// The sum of all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn add_up_256(sums: __m256i) -> i32 {
    add_up(_mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums)))
}

/// Two rows of a block of channels, without their zero point: their elements alternate.
#[inline]
#[target_feature(enable = "avx2")]
fn alternate_256(upper: [i8; BLOCK], lower: [i8; BLOCK], zero_point: __m256i) -> Pairs {
    let codes = _mm_unpacklo_epi8(_mm_cvtsi64_si128(cast(upper)), _mm_cvtsi64_si128(cast(lower)));
    cast(_mm256_sub_epi16(_mm256_cvtepi8_epi16(codes), zero_point))
}

#[inline]
#[target_feature(enable = "avx2")]
fn add_taps_256(sums: __m256i, x: &Pairs, weights: &Pairs) -> __m256i {
    _mm256_add_epi32(sums, _mm256_madd_epi16(cast(*x), cast(*weights)))
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
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::run::<Avx2>(args);
    max_pool2d(args: &mut Pool2d<'_>) = portable::max_pool2d::max_pool2d(args);
    avg_pool2d(args: &mut Pool2d<'_>) = portable::avg_pool2d::avg_pool2d(args);
    add(args: &mut Add<'_>) = portable::add::add(args);
    softmax(args: &mut Softmax<'_>) = portable::softmax::softmax(args);
    lookup(data: &mut [i8], table: &[i8; 256]) = portable::lookup::lookup(data, table);
}
