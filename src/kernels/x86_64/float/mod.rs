//! float32 on x86-64: the inner loops of the convolutions with explicit vectors, for each instruction set.
//!
//! ```text
//! mod.rs      the loops, written once for vectors of any length
//! avx2.rs     vectors of eight, and the portable kernels without inner loops of their own compiled for AVX2
//! avx512.rs   vectors of sixteen
//! ```

/// The loops of `InnerLoops` for one instruction set: how it is enabled, the lanes and the type of its vectors, what it does
/// with them, and how many rows of inputs [`tile::dot`](crate::kernels::portable::tile::dot) takes at a time.
macro_rules! loops {
    (
        $features:literal, $lanes:literal, $vector:ty, $rows:literal,
        $zero:ident, $broadcast:ident, $fmadd:ident, $load:ident, $store:ident
    ) => {
        const fn product<const P: usize, const V: usize, const R: usize>() -> ProductLoops {
            ProductLoops {
                outputs: P,
                transpose: transpose_part::<P>,
                outer: safe::outer::<P, V, R>,
                finish: safe::finish::<P>,
            }
        }

        const fn depthwise<const B: usize>() -> DepthwiseLoops {
            DepthwiseLoops { channels: B, taps: safe::taps::<B>, finish: safe::finish::<B> }
        }

        /// The inner loops as functions that a table can hold.
        mod safe {
            use super::*;

            pub(super) fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
                // SAFETY: only `LOOPS` leads here, and only the kernels of its level use that, on processors with the
                // features.
                unsafe { super::dot(input, rows, weights, sums) }
            }

            pub(super) fn outer<const P: usize, const V: usize, const R: usize>(
                input: &[f32],
                rows: Rows,
                panel: Panel<'_>,
                output: &mut [f32],
                span: Span,
            ) {
                // SAFETY: as in `dot`.
                unsafe { super::outer::<P, V, R>(input, rows, panel, output, span) }
            }

            pub(super) fn taps<const B: usize>(
                input: &[f32],
                rows: Rows,
                panel: Panel<'_>,
                output: &mut [f32],
                span: Span,
            ) {
                // SAFETY: as in `dot`.
                unsafe { super::taps::<B>(input, rows, panel, output, span) }
            }

            pub(super) fn finish<const P: usize>(
                epilogue: &Epilogue<'_>,
                first: usize,
                output: &mut [f32],
                span: Span,
            ) {
                // SAFETY: as in `dot`.
                unsafe { super::finish::<P>(epilogue, first, output, span) }
            }
        }

        #[inline(never)]
        #[target_feature(enable = $features)]
        fn taps<const B: usize>(input: &[f32], rows: Rows, panel: Panel<'_>, output: &mut [f32], span: Span) {
            portable::depthwise_conv2d::taps::<B>(input, rows, panel, output, span);
        }

        #[inline(never)]
        #[target_feature(enable = $features)]
        fn finish<const P: usize>(epilogue: &Epilogue<'_>, first: usize, output: &mut [f32], span: Span) {
            finish_sums::<P>(epilogue, first, output, span);
        }

        /// [`tile::dot`](crate::kernels::portable::tile::dot) with explicit vectors.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
            for (first, sums) in (0..).step_by($rows).zip(sums.chunks_mut($rows)) {
                match sums.len() {
                    $rows => dot_tile::<$rows, OUTPUTS>(input, rows, first, weights, sums),
                    _ => {
                        for (first, sum) in (first..).zip(sums.chunks_mut(1)) {
                            dot_tile::<1, OUTPUTS>(input, rows, first, weights, sum);
                        }
                    }
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn dot_tile<const R: usize, const O: usize>(
            input: &[f32],
            rows: Rows,
            first: usize,
            weights: Weights<'_, O>,
            sums: &mut [[f32; O]],
        ) {
            let mut tile = [[$zero(); O]; R];
            for p in 0..rows.pieces {
                let Some((vectors, input, weights)) = tile::vectors::<$lanes, R, O>(input, rows, p, first, &weights)
                else {
                    return;
                };
                for k in 0..vectors {
                    for (sums, input) in tile.iter_mut().zip(input) {
                        let input = load(&input[k]);
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum = $fmadd(input, load(&weights[k]), *sum);
                        }
                    }
                }
            }
            for (sums, tile) in sums.iter_mut().zip(tile) {
                let mut lanes = [[0.0; $lanes]; O];
                for (lanes, vector) in lanes.iter_mut().zip(tile) {
                    store(vector, lanes);
                }
                *sums = tile::add_up(lanes);
            }
            add_rest::<O>(input, rows, first, weights, sums);
        }

        /// The elements of each piece that do not fill a vector, for the rows from `first` on.
        #[inline]
        #[target_feature(enable = $features)]
        fn add_rest<const O: usize>(
            input: &[f32],
            rows: Rows,
            first: usize,
            weights: Weights<'_, O>,
            sums: &mut [[f32; O]],
        ) {
            // Hidden from the optimiser, which knows that less than a vector is left and would write down each element of it.
            let whole = black_box(rows.len - rows.len % $lanes);
            if whole == rows.len {
                return;
            }
            for p in 0..rows.pieces {
                let Some(mut weights) = weights.piece(p, rows.len) else { return };
                for weights in &mut weights {
                    *weights = weights.get(whole..).unwrap_or_default();
                }
                for (r, sums) in (first..).zip(sums.iter_mut()) {
                    let Some([input]) = rows.input(input, p, r) else { return };
                    for (k, x) in input.get(whole..).unwrap_or_default().iter().enumerate() {
                        for (sum, weights) in sums.iter_mut().zip(weights) {
                            *sum += x * weights.get(k).copied().unwrap_or_default();
                        }
                    }
                }
            }
        }

        /// [`panel::outer`] with explicit vectors: `P` outputs in `V` vectors, `R` rows.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn outer<const P: usize, const V: usize, const R: usize>(
            input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            output: &mut [f32],
            span: Span,
        ) {
            let (mut input, mut output, mut left) = (input, output, span.pixels);
            while left >= R {
                outer_tile::<P, V, R>(input, rows, panel, output, span);
                input = input.get(R * rows.step..).unwrap_or_default();
                output = output.get_mut(R * span.pitch..).unwrap_or_default();
                left -= R;
            }
            if left >= 4 && R > 4 {
                outer_tile::<P, V, 4>(input, rows, panel, output, span);
                input = input.get(4 * rows.step..).unwrap_or_default();
                output = output.get_mut(4 * span.pitch..).unwrap_or_default();
                left -= 4;
            }
            if left >= 2 && R > 2 {
                outer_tile::<P, V, 2>(input, rows, panel, output, span);
                input = input.get(2 * rows.step..).unwrap_or_default();
                output = output.get_mut(2 * span.pitch..).unwrap_or_default();
                left -= 2;
            }
            for _ in 0..left {
                outer_tile::<P, V, 1>(input, rows, panel, output, span);
                input = input.get(rows.step..).unwrap_or_default();
                output = output.get_mut(span.pitch..).unwrap_or_default();
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn outer_tile<const P: usize, const V: usize, const R: usize>(
            mut input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            output: &mut [f32],
            span: Span,
        ) {
            let mut tile = [[$zero(); V]; R];
            if !span.fresh {
                for (r, tile) in tile.iter_mut().enumerate() {
                    let Some(held) = panel::vectors::<$lanes, V>(output, r * span.pitch) else { return };
                    for (sum, held) in tile.iter_mut().zip(held) {
                        *sum = load(held);
                    }
                }
            }
            let mut weights = panel.rows::<P>();
            for _ in 0..rows.pieces {
                let (Some(piece), Some(vectors)) = (rows.first::<R>(input), weights.get(..rows.len)) else { return };
                let vectors = vectors.as_flattened().as_chunks().0.as_chunks::<V>().0;
                let k_elems = vectors.len();
                if panel::differ(&piece, k_elems) {
                    return;
                }
                for k in 0..k_elems {
                    for (tile, input) in tile.iter_mut().zip(piece) {
                        let input = $broadcast(input[k]);
                        for (sum, weights) in tile.iter_mut().zip(&vectors[k]) {
                            *sum = $fmadd(input, load(weights), *sum);
                        }
                    }
                }
                input = input.get(rows.stretch..).unwrap_or_default();
                weights = weights.get(panel.step..).unwrap_or_default();
            }
            for (r, tile) in tile.iter().enumerate() {
                let Some(output) = panel::vectors_mut::<$lanes, V>(output, r * span.pitch) else { return };
                for (sum, output) in tile.iter().zip(output) {
                    store(*sum, output);
                }
            }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn load(values: &[f32; $lanes]) -> $vector {
            // SAFETY: the array has as many elements as are read.
            unsafe { $load(values.as_ptr()) }
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store(vector: $vector, values: &mut [f32; $lanes]) {
            // SAFETY: the array has as many elements as are written.
            unsafe { $store(values.as_mut_ptr(), vector) }
        }
    };
}

pub(in crate::kernels) mod avx2;
pub(in crate::kernels) mod avx512;
