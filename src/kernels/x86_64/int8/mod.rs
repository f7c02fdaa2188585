//! int8 on x86-64: inner loops with vectors of 128 bits (SSE2, the baseline) and of 256 bits (AVX2), and the portable int8
//! kernels compiled for AVX2.
//!
//! Both instruction sets multiply pairs of i16 and add the two products in one instruction, and requantise with a few
//! products of 32 by 32 bits. The compiler finds neither in plain loops, hence the intrinsics; they are the only ones in
//! this library.

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
        // Four vectors at a time become four sums: tiles have a multiple of four.
        let quads = totals.as_flattened_mut().as_chunks_mut::<4>().0;
        let vectors = sums.as_flattened().as_chunks::<4>().0;
        for i in 0..quads.len().min(vectors.len()) {
            quads[i] = $add_up(vectors[i]);
        }
        totals
    }};
}

/// `InnerLoops::taps` of one instruction set: `$vectors` of its vectors, numbered, are a block.
macro_rules! taps {
    ($feature:literal, $vectors:literal, [$($part:literal),*], $vector:ty, $zero:ident, $add_product:ident, $lower:ident) => {
        /// All windows of a strip, in groups of 8 and 4 where it is as long, so that weights are read once per group.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn all_taps(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
            match (windows.strip, windows.step) {
                (STRIP, 1) if windows.count > 4 => group::<8, 1>(windows, 0, sums),
                (STRIP, 2) if windows.count > 4 => group::<8, 2>(windows, 0, sums),
                (4.., 1) => fours::<1>(windows, sums),
                (4.., 2) => fours::<2>(windows, sums),
                _ => {
                    for at in 0..windows.count {
                        group::<1, 1>(windows, at, sums);
                    }
                }
            }
        }

        /// The second group overlaps the first rather than reach past the strip.
        #[target_feature(enable = $feature)]
        fn fours<const STEP: usize>(windows: &Windows<'_>, sums: &mut [[i32; BLOCK]; STRIP]) {
            group::<4, STEP>(windows, 0, sums);
            if windows.count > 4 {
                group::<4, STEP>(windows, windows.strip - 4, sums);
            }
        }

        /// The sums of `G` windows from the one `at` on, which are `STEP` columns apart.
        #[inline]
        #[target_feature(enable = $feature)]
        fn group<const G: usize, const STEP: usize>(
            windows: &Windows<'_>,
            at: usize,
            sums: &mut [[i32; BLOCK]; STRIP],
        ) {
            $(vector_of_group::<G, STEP, $part>(windows, at, sums);)*
        }

        /// The same for one vector of the block.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn vector_of_group<const G: usize, const STEP: usize, const PART: usize>(
            windows: &Windows<'_>,
            at: usize,
            sums: &mut [[i32; BLOCK]; STRIP],
        ) {
            let Some(sums) = sums.get_mut(at..at + G) else { return };
            let kernel_w = windows.kernel_w;
            let span = (G - 1) * STEP + 1;
            let mut totals = [$zero(); G];
            for row in 0..windows.pair_rows {
                let (start, weights) = (windows.line_start(row) + at * windows.step, row * kernel_w);
                let Some(line) = windows.columns.get(start..start + span + kernel_w - 1) else { return };
                // The kernel row above, which a lowered kernel begins with.
                let above = windows.weights.get(weights.wrapping_sub(kernel_w)..weights).unwrap_or_default();
                let Some(weights) = windows.weights.get(weights..weights + kernel_w) else { return };
                for (column, x) in line.windows(span).enumerate().take(kernel_w) {
                    let mut w = cast::<Pairs, [$vector; $vectors]>(weights[column])[PART];
                    if windows.is_lowered {
                        let above = match above.get(column) {
                            Some(above) => cast::<Pairs, [$vector; $vectors]>(*above)[PART],
                            None => $zero(),
                        };
                        w = $lower(above, w);
                    }
                    for i in 0..G {
                        let x = cast::<Pairs, [$vector; $vectors]>(x[i * STEP])[PART];
                        totals[i] = $add_product(totals[i], x, w);
                    }
                }
            }
            for i in 0..G {
                cast_mut::<[i32; BLOCK], [[i32; BLOCK / $vectors]; $vectors]>(&mut sums[i])[PART] = cast(totals[i]);
            }
        }
    };
}

pub(in crate::kernels) mod avx2;
pub(in crate::kernels) mod sse2;

use avx2::Avx2;

use crate::kernels::Level;
use crate::kernels::int8::{Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Softmax, portable};

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
    add(args: &mut Add<'_>) = portable::add::run::<Avx2>(args);
    softmax(args: &mut Softmax<'_>) = portable::softmax::softmax(args);
    lookup(data: &mut [i8], table: &[i8; 256]) = portable::lookup::lookup(data, table);
}
