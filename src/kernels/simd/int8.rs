//! The int8 inner loops with explicit vectors, written once for vectors of any length.
//!
//! Instruction sets multiply i16 to i32 and add up in an instruction or two, and requantise with a few products of 32 by
//! 32 bits. The compiler finds neither in plain loops, hence the intrinsics of those who compile these macros.

#![expect(unsafe_code, reason = "the length of what a vector reads or writes is beyond what the compiler can check")]

use crate::kernels::int8::portable::tile::BLOCK;

/// `masks()[n]` keeps the last `n` of `L` lanes.
pub(in crate::kernels) const fn masks<const L: usize>() -> [[i16; L]; L] {
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

/// The inner loops of one instruction set, whose other macros and functions have compiled them.
macro_rules! inner_loops {
    ($feature:literal, $min_pixels:literal, $packed:expr) => {
        /// The inner loops with these vectors. Must be reached through `KERNELS` of this level only.
        pub(in crate::kernels) const LOOPS: InnerLoops = InnerLoops {
            // SAFETY: the feature belongs to the baseline of the target, or only the kernels of its level name these loops and
            // run after the processor was seen to have it.
            gather: |gather, rows| unsafe { all_rows(gather, rows) },
            // SAFETY: as for `gather`, here and below.
            dot: |products, sums| unsafe { all_products(products, sums) },
            // SAFETY: see above.
            outer: |input, panel, sums| unsafe { all_panel_products(input, panel, sums) },
            // SAFETY: see above.
            stage: |rows, channels, zero_point, out| unsafe { all_columns(rows, channels, zero_point, out) },
            // SAFETY: see above.
            taps: |windows, sums| unsafe { all_taps(windows, sums) },
            // SAFETY: see above.
            add_terms: |terms, data, codes, sums| unsafe { all_terms(terms, data, codes, sums) },
            packed: $packed,
            requantize: Some(RequantizeLoops {
                min_pixels: $min_pixels,
                // SAFETY: see above.
                tables: |requantize, first| unsafe { tables(requantize, first) },
                // SAFETY: see above.
                codes: |tables, sums, count, output, pitch| unsafe { all_codes(tables, sums, count, output, pitch) },
                // SAFETY: see above.
                once: |requantize, first, sums, count, output, pitch| unsafe {
                    tables_and_codes(requantize, first, sums, count, output, pitch)
                },
                // SAFETY: see above.
                largest: |blocks, sums| unsafe { all_largest(blocks, sums) },
            }),
        };

        #[target_feature(enable = $feature)]
        fn all_rows(gather: &Gather<'_>, rows: &mut [i16]) {
            gather::gather(gather, rows);
        }

        #[target_feature(enable = $feature)]
        fn all_terms(terms: [Scale; 2], data: &[i8], codes: &[i8], sums: &mut Sums) {
            add_terms(terms, data, codes, sums);
        }

        #[target_feature(enable = $feature)]
        fn tables_and_codes(
            requantize: &Requantize<'_>,
            first: usize,
            sums: &Sums,
            count: usize,
            output: &mut [i8],
            pitch: usize,
        ) -> bool {
            let Some(tables) = tables(requantize, first) else { return false };
            all_codes(&tables, sums, count, output, pitch);
            true
        }

        #[target_feature(enable = $feature)]
        fn all_largest(blocks: &[[&[i32; BLOCK]; 4]], sums: &mut Sums) {
            largest(blocks, sums);
        }
    };
}

/// `InnerLoops::dot` of one instruction set with vectors of `$lanes` i16, four rows by `$outputs` outputs at a time. No
/// closures in here: those of a function with a target feature are not inlined into what takes them.
macro_rules! dot {
    (
        $feature:literal, $lanes:literal, $outputs:literal,
        $vector:ty, $zero:ident, $widen:ident, $add_product:ident, $add_up:ident
    ) => {
        static MASKS: [[i16; $lanes]; $lanes] = masks();

        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn all_products(products: &Products<'_>, sums: &mut [[i32; BLOCK]]) {
            if !products.are_inside(sums.len()) {
                return;
            }
            // SAFETY: `are_inside` has found all rows and all weights.
            unsafe {
                match sums.len() {
                    1 => tiles::<1, 8>(products, sums),
                    2 => tiles::<2, 4>(products, sums),
                    3 => tiles::<3, 4>(products, sums),
                    _ => tiles::<4, $outputs>(products, sums),
                }
            }
        }

        /// All products, in tiles of `R` rows and `O` outputs.
        ///
        /// # Safety
        ///
        /// `products.are_inside(sums.len())`.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn tiles<const R: usize, const O: usize>(products: &Products<'_>, sums: &mut [[i32; BLOCK]]) {
            let count = sums.len();
            for first in (0..BLOCK).step_by(O) {
                // Past the last output and the last row a tile repeats it, and the result is dropped.
                let mut weights = [products.weights.as_ptr(); O];
                for o in 0..O {
                    let output = (first + o).min(products.outputs - 1);
                    // SAFETY: where the weights of an output start.
                    weights[o] = unsafe { weights[o].add(output * products.pitch) };
                }
                for (tile, sums) in sums.chunks_mut(R).enumerate() {
                    let mut input = [products.input.as_ptr(); R];
                    for r in 0..R {
                        // SAFETY: where a row starts.
                        input[r] = unsafe { input[r].add((tile * R + r).min(count - 1) * products.step) };
                    }
                    // SAFETY: all of these have `len` elements.
                    let totals = unsafe { tile_sums(input, weights, products.len) };
                    for (sums, totals) in sums.iter_mut().zip(totals) {
                        for o in 0..O {
                            sums[first + o] = sums[first + o].wrapping_add(totals[o]);
                        }
                    }
                }
            }
        }

        /// The sums of one tile.
        ///
        /// # Safety
        ///
        /// `len` elements can be read behind each pointer.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn tile_sums<const R: usize, const O: usize>(
            input: [*const i16; R],
            weights: [*const i8; O],
            len: usize,
        ) -> [[i32; O]; R] {
            let mut sums = [[$zero(); O]; R];
            // Arrays of numbers have the alignment of one.
            for k in (0..len / $lanes).map(|chunk| chunk * $lanes) {
                let mut x = [[0i16; $lanes]; R];
                for r in 0..R {
                    // SAFETY: a whole vector from `k` on ends at or before `len`.
                    x[r] = unsafe { *input[r].add(k).cast() };
                }
                for o in 0..O {
                    // SAFETY: as before.
                    let w = $widen(unsafe { *weights[o].add(k).cast() });
                    for r in 0..R {
                        sums[r][o] = $add_product(sums[r][o], x[r], w);
                    }
                }
            }
            let mut totals = [[0; O]; R];
            let rest = len % $lanes;
            if len < $lanes {
                for o in 0..O {
                    for r in 0..R {
                        for k in 0..len {
                            // SAFETY: `k` is below `len`.
                            let (x, w) = unsafe { (*input[r].add(k), *weights[o].add(k)) };
                            totals[r][o] += i32::from(x) * i32::from(w);
                        }
                    }
                }
                return totals;
            }
            if rest > 0 {
                // The last whole vector ends with the rest; what has been added already is masked.
                for o in 0..O {
                    // SAFETY: there is at least one whole vector.
                    let w = $widen(unsafe { *weights[o].add(len - $lanes).cast() });
                    for r in 0..R {
                        // SAFETY: as before.
                        let mut x: [i16; $lanes] = unsafe { *input[r].add(len - $lanes).cast() };
                        for i in 0..$lanes {
                            x[i] &= MASKS[rest][i];
                        }
                        sums[r][o] = $add_product(sums[r][o], x, w);
                    }
                }
            }
            // Four vectors at a time become four sums: tiles have a multiple of four.
            let quads = totals.as_flattened_mut().as_chunks_mut::<4>().0;
            let vectors = sums.as_flattened().as_chunks::<4>().0;
            for (quad, vectors) in quads.iter_mut().zip(vectors) {
                *quad = $add_up(*vectors);
            }
            totals
        }
    };
}

/// `InnerLoops::stage` of one instruction set.
macro_rules! stage {
    ($feature:literal, $set1:ident, $alternate:ident) => {
        #[inline(never)]
        #[target_feature(enable = $feature)]
        fn all_columns(rows: [Option<&[i8]>; 2], channels: usize, zero_point: i8, out: &mut [Pairs]) {
            let centre = $set1(i16::from(zero_point));
            // A row outside the input is one block of zero points again and again.
            let outside = [zero_point; BLOCK];
            let reach = out.len().saturating_sub(1) * channels + BLOCK;
            let (mut starts, mut steps) = ([outside.as_ptr(); 2], [0; 2]);
            for i in 0..2 {
                match rows[i] {
                    Some(row) if row.len() >= reach => (starts[i], steps[i]) = (row.as_ptr(), channels),
                    Some(_) => return,
                    None => {}
                }
            }
            for (column, out) in out.iter_mut().enumerate() {
                // SAFETY: the last block of a row ends at `reach`, which is inside. Arrays have the alignment of one element.
                let [upper, lower] = unsafe {
                    let upper = starts[0].add(column * steps[0]).cast::<[i8; BLOCK]>();
                    let lower = starts[1].add(column * steps[1]).cast::<[i8; BLOCK]>();
                    [*upper, *lower]
                };
                *out = $alternate(upper, lower, centre);
            }
        }
    };
}

/// `InnerLoops::taps` of one instruction set: `$vectors` of its vectors, numbered, are a block. `$zero` starts what
/// `$add_product` adds to, and `$settle` makes sums of that.
macro_rules! taps {
    (
        $feature:literal, $vectors:literal, [$($part:literal),*],
        $vector:ty, $zero:ident, $add_product:ident, $settle:ident
    ) => {
        /// All windows of a strip, in groups of 8 and 4 where it is as long, so that weights are read once per group.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        pub(in crate::kernels) fn all_taps(windows: &Windows<'_>, sums: &mut Sums) {
            if !windows.are_inside() {
                return;
            }
            // SAFETY: the groups lie in the strip, and `are_inside` has found room for all of it.
            unsafe {
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
        }

        /// The second group overlaps the first rather than reach past the strip.
        ///
        /// # Safety
        ///
        /// As for `vector_of_group`, with a strip of at least 4 windows.
        #[target_feature(enable = $feature)]
        unsafe fn fours<const STEP: usize>(windows: &Windows<'_>, sums: &mut Sums) {
            // SAFETY: the caller's duty.
            unsafe {
                group::<4, STEP>(windows, 0, sums);
                if windows.count > 4 {
                    group::<4, STEP>(windows, windows.strip - 4, sums);
                }
            }
        }

        /// The sums of `G` windows from the one `at` on, which are `STEP` columns apart.
        ///
        /// # Safety
        ///
        /// As for `vector_of_group`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn group<const G: usize, const STEP: usize>(
            windows: &Windows<'_>,
            at: usize,
            sums: &mut Sums,
        ) {
            // SAFETY: the caller's duty.
            unsafe {
                $(vector_of_group::<G, STEP, $part>(windows, at, sums);)*
            }
        }

        /// The same for one vector of the block.
        ///
        /// # Safety
        ///
        /// `windows.are_inside()`, and `at + G <= windows.strip`, and `STEP == windows.step` unless `G == 1`.
        #[inline(never)]
        #[target_feature(enable = $feature)]
        unsafe fn vector_of_group<const G: usize, const STEP: usize, const PART: usize>(
            windows: &Windows<'_>,
            at: usize,
            sums: &mut Sums,
        ) {
            let mut totals = [$zero(); G];
            let mut weights = windows.weights.as_ptr();
            for row in 0..windows.pair_rows {
                let line = windows.line_start(row) + at * windows.step;
                // SAFETY: `are_inside` has found that the line and the weights are as long as these loops go. With checks,
                // they take twice as long.
                unsafe {
                    let mut columns = windows.columns.as_ptr().add(line);
                    for _ in 0..windows.kernel_w {
                        let w = cast::<Pairs, [$vector; $vectors]>(*weights)[PART];
                        for i in 0..G {
                            let x = cast::<Pairs, [$vector; $vectors]>(*columns.add(i * STEP))[PART];
                            totals[i] = $add_product(totals[i], x, w);
                        }
                        (columns, weights) = (columns.add(1), weights.add(1));
                    }
                }
            }
            for (sums, total) in sums.iter_mut().skip(at).zip(totals) {
                cast_mut::<[i32; BLOCK], [[i32; BLOCK / $vectors]; $vectors]>(sums)[PART] = $settle(total);
            }
        }
    };
}

/// Writes the codes of the first `count` pixels, which are `pitch` elements apart.
#[inline(always)]
pub(in crate::kernels) fn store<const N: usize>(
    codes: &[[i8; BLOCK]; N],
    count: usize,
    output: &mut [i8],
    pitch: usize,
) {
    let count = count.min(N);
    if count == 0 || (count - 1) * pitch + BLOCK > output.len() {
        return;
    }
    for (pixel, codes) in codes.iter().enumerate() {
        if pixel == count {
            return;
        }
        // SAFETY: the last of them ends inside the output. Arrays of bytes have no alignment.
        unsafe { *output.as_mut_ptr().add(pixel * pitch).cast() = *codes };
    }
}

pub(in crate::kernels) use {dot, inner_loops, stage, taps};
