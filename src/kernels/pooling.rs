//! The walk over windows that float and int8 pooling, maximum and average, share.
//!
//! Inlined whole into the kernels, so that each level compiles it with its own vectors.

use crate::tensor::Window;

/// What a pooling kernel reads and writes.
pub(super) struct Maps<'a, T> {
    pub(super) window: &'a Window,
    pub(super) input: &'a [T],
    pub(super) output: &'a mut [T],
}

/// Whether this is the usual 2x2 pooling with stride 2, every window inside the input.
pub(super) fn halves(window: &Window) -> bool {
    (window.kernel_h, window.kernel_w, window.stride) == (2, 2, 2)
        && (window.pad_top, window.pad_left) == (0, 0)
        && window.out_h <= window.in_h / 2
        && window.out_w <= window.in_w / 2
}

/// 2x2 pooling with stride 2, see [`halves`]: pairs of input rows, without any window arithmetic.
#[inline(always)]
pub(super) fn halve<T: Copy>(maps: Maps<'_, T>, reduce: impl Fn([T; 4]) -> T + Copy) {
    let channels = (maps.window.out_c as usize).max(1);
    let in_row_elems = (maps.window.in_w as usize * channels).max(1);
    let out_row_elems = (maps.window.out_w as usize * channels).max(1);
    let mut in_rows = maps.input.chunks(in_row_elems);
    for out_row in maps.output.chunks_mut(out_row_elems) {
        let (Some(upper), Some(lower)) = (in_rows.next(), in_rows.next()) else { return };
        let pairs = upper.chunks(2 * channels).zip(lower.chunks(2 * channels));
        for (out, (upper, lower)) in out_row.chunks_mut(channels).zip(pairs) {
            reduce_pairs(out, upper, lower, reduce);
        }
    }
}

#[inline(always)]
fn reduce_pairs<T: Copy>(out: &mut [T], upper: &[T], lower: &[T], reduce: impl Fn([T; 4]) -> T) {
    let Some((a, b)) = upper.split_at_checked(out.len()) else { return };
    let Some((c, d)) = lower.split_at_checked(out.len()) else { return };
    for ((((out, &a), &b), &c), &d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *out = reduce([a, b, c, d]);
    }
}

/// Sets every output element to `finish(total, taps)`, where `total` folds the elements under the window into `start`
/// with `step` and `taps` is their number.
#[inline(always)]
pub(super) fn reduce_windows<T: Copy, A: Copy>(
    maps: Maps<'_, T>,
    start: A,
    step: impl Fn(A, T) -> A + Copy,
    finish: impl Fn(A, usize) -> T + Copy,
) {
    let Maps { window, input, output } = maps;
    let channels = (window.out_c as usize).max(1);
    let in_row_elems = (window.in_w as usize * channels).max(1);
    let out_row_elems = (window.out_w as usize * channels).max(1);
    for (y, out_row) in output.chunks_mut(out_row_elems).enumerate() {
        let rows = window.rows_at(y);
        let band = input.get(rows.input * in_row_elems..).unwrap_or_default();
        let band = band.get(..rows.count * in_row_elems).unwrap_or_default();
        for (x, out) in out_row.chunks_mut(channels).enumerate() {
            let columns = window.columns_at(x);
            let end = (columns.input + columns.count) * channels;
            let taps = Taps { band, in_row_elems, first: columns.input * channels, end, channels };
            let finish = |total| finish(total, rows.count * columns.count);
            let rest = reduce::<T, A, 16>(out, &taps, start, step, finish);
            let rest = reduce::<T, A, 4>(rest, &taps, start, step, finish);
            reduce::<T, A, 1>(rest, &taps, start, step, finish);
        }
    }
}

/// The input under one window.
struct Taps<'a, T> {
    /// The input rows that the window touches.
    band: &'a [T],
    in_row_elems: usize,
    /// Where the window starts in each of these rows.
    first: usize,
    /// Where it ends.
    end: usize,
    channels: usize,
}

/// Reduces the last `out.len()` channels of one window, `N` at a time, and returns those that do not fill a block.
#[inline(always)]
fn reduce<'a, T: Copy, A: Copy, const N: usize>(
    out: &'a mut [T],
    taps: &Taps<'_, T>,
    start: A,
    step: impl Fn(A, T) -> A,
    finish: impl Fn(A) -> T,
) -> &'a mut [T] {
    let mut first = taps.first + taps.channels.saturating_sub(out.len());
    let (blocks, rest) = out.as_chunks_mut::<N>();
    for block in blocks {
        let mut totals = [start; N];
        for row in taps.band.chunks(taps.in_row_elems) {
            for tap in row.get(first..taps.end).unwrap_or_default().chunks(taps.channels) {
                let Some(values) = tap.first_chunk::<N>() else { break };
                for (total, &value) in totals.iter_mut().zip(values) {
                    *total = step(*total, value);
                }
            }
        }
        for (out, total) in block.iter_mut().zip(totals) {
            *out = finish(total);
        }
        first += N;
    }
    rest
}
