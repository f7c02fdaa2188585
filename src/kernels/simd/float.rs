//! The inner loops of the float convolutions with explicit vectors, written once for vectors of any length.

/// The loops of `InnerLoops` for one instruction set: how it is enabled, the lanes and the type of its vectors, what it does
/// with them, and how many rows of inputs [`tile::dot`](crate::kernels::portable::tile::dot) takes at a time.
macro_rules! loops {
    (
        $features:literal, $lanes:literal, $vector:ty, $rows:literal,
        $zero:ident, $broadcast:ident, $fmadd:ident, $add:ident, $min:ident, $max:ident, $load:ident, $store:ident, $prefetch:ident
    ) => {
        /// Panels of `P` outputs, `W` vectors, of which a tile takes `V` of up to `R` rows.
        const fn product<const P: usize, const W: usize, const V: usize, const R: usize>() -> ProductLoops {
            const { assert!(P == W * $lanes && (W == V || W == 2 * V)) };
            ProductLoops { outputs: P, transpose: transpose_part::<P>, outer: safe::outer::<P, W, V, R>, single: None }
        }

        const WINOGRAD: WinogradLoops = WinogradLoops { input: safe::input_tile, output: safe::output_tile };

        /// The inner loops as functions that a table can hold.
        mod safe {
            use super::*;

            pub(super) fn dot(input: &[f32], rows: Rows, weights: Weights<'_, OUTPUTS>, sums: &mut [[f32; OUTPUTS]]) {
                // SAFETY: only `LOOPS` leads here, and only the kernels of its level use that, on processors with the
                // features.
                unsafe { super::dot(input, rows, weights, sums) }
            }

            #[allow(dead_code, reason = "an instruction set may use the loop of another")]
            pub(super) fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
                // SAFETY: as in `dot`.
                unsafe { super::dot_single(input, weights) }
            }

            pub(super) fn outer<const P: usize, const W: usize, const V: usize, const R: usize>(
                input: &[f32],
                rows: Rows,
                panel: Panel<'_>,
                output: &mut [f32],
                span: Span,
                ends: Ends<'_>,
            ) {
                // SAFETY: as in `dot`.
                unsafe { super::outer::<P, W, V, R>(input, rows, panel, output, span, ends) }
            }

            pub(super) fn input_tile(patch: &Patch<'_>, points: &mut [f32], step: usize) {
                // SAFETY: as in `dot`.
                unsafe { super::input_tile(patch, points, step) }
            }

            pub(super) fn output_tile(sums: &[f32], step: usize, offsets: &[f32], output: &mut [f32], corner: Corner) {
                // SAFETY: as in `dot`.
                unsafe { super::output_tile(sums, step, offsets, output, corner) }
            }
        }

        #[inline(never)]
        #[target_feature(enable = $features)]
        fn input_tile(patch: &Patch<'_>, points: &mut [f32], step: usize) {
            winograd::input_tile::<$lanes>(patch, points, step);
        }

        #[inline(never)]
        #[target_feature(enable = $features)]
        fn output_tile(sums: &[f32], step: usize, offsets: &[f32], output: &mut [f32], corner: Corner) {
            winograd::output_tile::<$lanes>(sums, step, offsets, output, corner);
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

        /// [`tile::dot_single`](crate::kernels::portable::tile::dot_single) with explicit vectors.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn dot_single(input: &[f32], weights: Weights<'_, SINGLE_OUTPUTS>) -> [f32; SINGLE_OUTPUTS] {
            let mut sums = [[0.0; SINGLE_OUTPUTS]];
            dot_tile::<1, SINGLE_OUTPUTS>(input, Rows::contiguous(input.len()), 0, weights, &mut sums);
            let [sums] = sums;
            sums
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

        /// [`panel::outer`] with explicit vectors: panels of `P` outputs, `W` vectors, of which a tile takes `V` of up to `R` rows.
        /// The rows are shared out evenly: two tiles of seven are faster than one of eight and one of six.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn outer<const P: usize, const W: usize, const V: usize, const R: usize>(
            input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            output: &mut [f32],
            span: Span,
            ends: Ends<'_>,
        ) {
            let tiles = span.pixels.div_ceil(R);
            let Some(each) = span.pixels.checked_div(tiles) else { return };
            let longer = span.pixels - tiles * each;
            let (first, second) = ends.next.split_at(ends.next.len() / tiles * longer);
            let pixels = longer * (each + 1);
            let part = Ends { next: first, ..ends };
            tiles_of::<P, W, V, R>(each + 1, input, rows, panel, output, Span { pixels, ..span }, part);
            let input = input.get(pixels * rows.step..).unwrap_or_default();
            let output = output.get_mut(pixels * span.pitch..).unwrap_or_default();
            let pixels = span.pixels - pixels;
            let part = Ends { next: second, ..ends };
            tiles_of::<P, W, V, R>(each, input, rows, panel, output, Span { pixels, ..span }, part);
        }

        /// Tiles of `count` rows, as many as the span has pixels for. Few rows take whole panels, to keep enough sums under way.
        #[inline]
        #[target_feature(enable = $features)]
        fn tiles_of<const P: usize, const W: usize, const V: usize, const R: usize>(
            count: usize,
            input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            output: &mut [f32],
            span: Span,
            ends: Ends<'_>,
        ) {
            if span.pixels == 0 {
                return;
            }
            match count {
                1 => outer_tiles::<P, W, W, 1>(input, rows, panel, output, span, ends),
                2 => outer_tiles::<P, W, W, 2>(input, rows, panel, output, span, ends),
                3 => outer_tiles::<P, W, V, 3>(input, rows, panel, output, span, ends),
                4 => outer_tiles::<P, W, V, 4>(input, rows, panel, output, span, ends),
                5 if R >= 5 => outer_tiles::<P, W, V, 5>(input, rows, panel, output, span, ends),
                6 if R >= 6 => outer_tiles::<P, W, V, 6>(input, rows, panel, output, span, ends),
                7 if R >= 7 => outer_tiles::<P, W, V, 7>(input, rows, panel, output, span, ends),
                8 if R >= 8 => outer_tiles::<P, W, V, 8>(input, rows, panel, output, span, ends),
                _ => {}
            }
        }

        /// Tiles of `R` rows over whole panels, one after the other. A function of its own for each kind of tile: where one
        /// has several, the compiler keeps the sums in memory.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn outer_tiles<const P: usize, const W: usize, const V: usize, const R: usize>(
            mut input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            mut output: &mut [f32],
            span: Span,
            ends: Ends<'_>,
        ) {
            let tiles = span.pixels / R;
            let mut next = ends.next.chunks(ends.next.len().checked_div(tiles).unwrap_or(0) + 1);
            for _ in 0..tiles {
                let next = next.next().unwrap_or_default();
                let (first, second) = if W > V { next.split_at(next.len() / 2) } else { (next, &[][..]) };
                outer_tile::<P, V, 0, R>(input, rows, panel, output, span, Ends { next: first, ..ends });
                if W > V {
                    outer_tile::<P, V, 1, R>(input, rows, panel, output, span, Ends { next: second, ..ends });
                }
                input = input.get(R * rows.step..).unwrap_or_default();
                output = output.get_mut(R * span.pitch..).unwrap_or_default();
            }
        }

        /// The sums of `R` rows for the `V` vectors of outputs at place `F` of the panel.
        #[inline]
        #[target_feature(enable = $features)]
        fn outer_tile<const P: usize, const V: usize, const F: usize, const R: usize>(
            mut input: &[f32],
            rows: Rows,
            panel: Panel<'_>,
            output: &mut [f32],
            span: Span,
            ends: Ends<'_>,
        ) {
            let place = F * V * $lanes;
            let mut tile = [[$zero(); V]; R];
            if !span.fresh {
                for (r, tile) in tile.iter_mut().enumerate() {
                    let Some(held) = panel::vectors::<$lanes, V>(output, r * span.pitch + place) else { return };
                    for (sum, held) in tile.iter_mut().zip(held) {
                        *sum = load(held);
                    }
                }
            }
            if let Some(bias) = panel::vectors::<$lanes, V>(ends.bias, place) {
                for tile in &mut tile {
                    for (sum, bias) in tile.iter_mut().zip(bias) {
                        *sum = $add(*sum, load(bias));
                    }
                }
            }
            let mut weights = panel.rows::<P>();
            let mut next = ends.next.chunks(LINE);
            for _ in 0..rows.pieces {
                let (Some(piece), Some(vectors)) = (rows.first::<R>(input), weights.get(..rows.len)) else { return };
                let k_elems = vectors.len();
                if panel::differ(&piece, k_elems) {
                    return;
                }
                for k in 0..k_elems {
                    let Some(row) = panel::vectors::<$lanes, V>(&vectors[k], place) else { return };
                    if let Some(line) = next.next() {
                        $prefetch(line);
                    }
                    let mut weights = [$zero(); V];
                    for (weights, row) in weights.iter_mut().zip(row) {
                        *weights = load(row);
                    }
                    for (tile, input) in tile.iter_mut().zip(piece) {
                        let input = $broadcast(input[k]);
                        for (sum, weights) in tile.iter_mut().zip(&weights) {
                            *sum = $fmadd(input, *weights, *sum);
                        }
                    }
                }
                input = input.get(rows.stretch..).unwrap_or_default();
                weights = weights.get(panel.step..).unwrap_or_default();
            }
            activate_tile(&mut tile, ends.activation);
            for (r, tile) in tile.iter().enumerate() {
                let Some(output) = panel::vectors_mut::<$lanes, V>(output, r * span.pitch + place) else { return };
                for (sum, output) in tile.iter().zip(output) {
                    store(*sum, output);
                }
            }
            if let Activation::LeakyRelu(_) = ends.activation {
                for r in 0..R {
                    let Some(output) = panel::vectors_mut::<$lanes, V>(output, r * span.pitch + place) else { return };
                    activate_in_place(output.as_flattened_mut(), ends.activation);
                }
            }
        }

        /// The activations that vectors are clamped by, of sums in registers.
        #[inline]
        #[target_feature(enable = $features)]
        fn activate_tile<const V: usize, const R: usize>(tile: &mut [[$vector; V]; R], activation: Activation) {
            // Of two operands, one of them NaN, these instructions give the second: NaN becomes 0 in relu and stays NaN in relu6.
            // Loops over rows and vectors, which the compiler unrolls, or it keeps the sums in memory.
            if let Activation::Relu = activation {
                for tile in &mut *tile {
                    for sum in tile {
                        *sum = $max(*sum, $zero());
                    }
                }
            }
            if let Activation::Relu6 = activation {
                for tile in tile {
                    for sum in tile {
                        *sum = $min($broadcast(6.0), $max($zero(), *sum));
                    }
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

pub(in crate::kernels) use loops;
