//! The inner loops of the float depthwise convolution with explicit vectors, written once for vectors of any length.

use crate::kernels::portable::tile::Line;

/// Whether all taps of `width` channels lie inside the input, their weights inside the panel, and all pixels inside an output
/// of `output_elems` elements.
pub(in crate::kernels) fn is_inside(line: &Line<'_>, width: usize, output_elems: usize) -> bool {
    let (rows, span) = (line.rows, line.span);
    let last_pixel = span.pixels.saturating_sub(1);
    if last_pixel * span.pitch + width > output_elems {
        return false;
    }
    if rows.pieces == 0 || rows.len == 0 {
        return true;
    }
    let last_tap = (rows.pieces - 1) * rows.stretch + (rows.len - 1) * line.channels;
    last_pixel * rows.step + last_tap + width <= line.input.len()
        && ((rows.pieces - 1) * line.panel.step + rows.len) * width <= line.panel.weights.len()
}

/// The loops of `DepthwiseLoops` for one instruction set: how it is enabled, and the lanes, the type and the operations of its
/// vectors. Beside [`loops!`](super::float::loops), whose `load`, `store` and `activate_tile` they use.
macro_rules! depthwise_loops {
    (
        $features:literal, $lanes:literal, $vector:ty,
        $zero:ident, $fmadd:ident, $add:ident
    ) => {
        /// For blocks of `B` channels, `V` vectors, and up to `G` pixels at a time.
        const fn depthwise<const B: usize, const V: usize, const G: usize>() -> DepthwiseLoops {
            const { assert!(B == V * $lanes) };
            DepthwiseLoops {
                channels: B,
                taps: |line, output| {
                    if is_inside(line, B, output.len()) {
                        // SAFETY: the features belong to the processor, as only the kernels of this level lead here; and the
                        // line is inside.
                        unsafe { all_taps::<B, V, G>(line, output) }
                    }
                },
            }
        }

        /// # Safety
        ///
        /// `is_inside(line, B, output.len())`.
        #[inline(never)]
        #[target_feature(enable = $features)]
        unsafe fn all_taps<const B: usize, const V: usize, const G: usize>(line: &Line<'_>, output: &mut [f32]) {
            let mut done = 0;
            while done < line.span.pixels {
                let input = line.input.get(done.saturating_mul(line.rows.step)..).unwrap_or_default();
                let output = output.get_mut(done * line.span.pitch..).unwrap_or_default();
                // SAFETY: the caller's duty.
                done += unsafe {
                    match line.span.pixels - done {
                        left if left >= G => taps_of::<B, V, G>(line, input, output),
                        4.. if G > 4 => taps_of::<B, V, 4>(line, input, output),
                        2.. if G > 2 => taps_of::<B, V, 2>(line, input, output),
                        _ => taps_of::<B, V, 1>(line, input, output),
                    }
                };
            }
        }

        /// `G` pixels of a line, with which input and output begin; returns `G`. A function of its own for each number: where
        /// one has several, the compiler keeps the sums in memory.
        ///
        /// # Safety
        ///
        /// All taps of these pixels lie inside the input, their weights inside the panel, and the pixels inside the output.
        #[inline(never)]
        #[target_feature(enable = $features)]
        unsafe fn taps_of<const B: usize, const V: usize, const G: usize>(
            line: &Line<'_>,
            input: &[f32],
            output: &mut [f32],
        ) -> usize {
            let (rows, pitch) = (line.rows, line.span.pitch);
            let mut sums = [[$zero(); V]; G];
            if !line.span.fresh {
                for (g, sums) in sums.iter_mut().enumerate() {
                    for (v, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: a pixel of the output.
                        *sum = load(unsafe { &*output.as_ptr().add(g * pitch + v * $lanes).cast() });
                    }
                }
            }
            if let Some(bias) = panel::vectors::<$lanes, V>(line.ends.bias, 0) {
                for sums in &mut sums {
                    for (sum, bias) in sums.iter_mut().zip(bias) {
                        *sum = $add(*sum, load(bias));
                    }
                }
            }
            for piece in 0..rows.pieces {
                let mut input = input.as_ptr().wrapping_add(piece * rows.stretch);
                let mut weights = line.panel.weights.as_ptr().wrapping_add(piece * line.panel.step * B);
                for _ in 0..rows.len {
                    for v in 0..V {
                        // SAFETY: a tap of a pixel and its weights. With checks, these loops take twice as long.
                        unsafe {
                            let weights = load(&*weights.add(v * $lanes).cast());
                            for (g, sums) in sums.iter_mut().enumerate() {
                                let input = load(&*input.add(g * rows.step + v * $lanes).cast());
                                sums[v] = $fmadd(input, weights, sums[v]);
                            }
                        }
                    }
                    (input, weights) = (input.wrapping_add(line.channels), weights.wrapping_add(B));
                }
            }
            activate_tile(&mut sums, line.ends.activation);
            for (g, sums) in sums.iter().enumerate() {
                for (v, sum) in sums.iter().enumerate() {
                    // SAFETY: a pixel of the output.
                    store(*sum, unsafe { &mut *output.as_mut_ptr().add(g * pitch + v * $lanes).cast() });
                }
            }
            if let Activation::LeakyRelu(_) = line.ends.activation {
                for pixel in output.chunks_mut(pitch).take(G) {
                    activate_in_place(pixel.get_mut(..B).unwrap_or_default(), line.ends.activation);
                }
            }
            G
        }
    };
}

pub(in crate::kernels) use depthwise_loops;
