//! Products of matrices in double precision, fast enough for networks of a billion multiplications.
//!
//! The right factor is packed into panels of [`WIDTH`] columns, the left is read in [`HEIGHT`] rows: each tile of the
//! product stays in registers.

use std::num::NonZero;
use std::thread;

/// Columns of a panel.
pub(super) const WIDTH: usize = 4;
/// Rows of a tile.
const HEIGHT: usize = 4;
/// Elements of the right factor that are packed at a time: they stay in the cache of a core.
const STRIP_ELEMENTS: usize = 1 << 15;
/// Multiplications below which a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 1 << 21;

/// Some columns of the right factor.
pub(super) struct Panels {
    depth: usize,
    columns: usize,
    data: Vec<[f64; WIDTH]>,
}

impl Panels {
    pub(super) fn new(depth: usize) -> Self {
        Self { depth, columns: 0, data: Vec::new() }
    }

    /// Columns that should be packed at a time.
    pub(super) fn strip(depth: usize) -> usize {
        (STRIP_ELEMENTS / depth.max(1)).clamp(WIDTH, 1024) / WIDTH * WIDTH
    }

    /// Packs columns; `fill` writes one column through a function of row and value.
    pub(super) fn pack(&mut self, columns: usize, mut fill: impl FnMut(usize, &mut dyn FnMut(usize, f64))) {
        self.columns = columns;
        self.data.clear();
        self.data.resize(columns.div_ceil(WIDTH) * self.depth, [0.0; WIDTH]);
        for column in 0..columns {
            let panel = &mut self.data[column / WIDTH * self.depth..][..self.depth];
            fill(column, &mut |row, value| panel[row][column % WIDTH] = value);
        }
    }

    /// Passes on each element of the product of `left`, which has rows of the depth, and the packed columns: row,
    /// column, value.
    pub(super) fn multiply(&self, left: &[f64], mut take: impl FnMut(usize, usize, f64)) {
        for (block, rows) in left.chunks(HEIGHT * self.depth).enumerate() {
            for (index, panel) in self.data.chunks_exact(self.depth).enumerate() {
                let first = index * WIDTH;
                let width = WIDTH.min(self.columns - first);
                let mut pass = |row: usize, sums: &[f64; WIDTH]| {
                    for (column, &sum) in sums[..width].iter().enumerate() {
                        take(block * HEIGHT + row, first + column, sum);
                    }
                };
                if rows.len() == HEIGHT * self.depth {
                    let tile = tile(rows, panel);
                    tile.iter().enumerate().for_each(|(row, sums)| pass(row, sums));
                } else {
                    let lines = rows.chunks_exact(self.depth);
                    lines.enumerate().for_each(|(row, line)| pass(row, &line_of_tile(line, panel)));
                }
            }
        }
    }
}

/// Four rows times a panel.
fn tile(rows: &[f64], panel: &[[f64; WIDTH]]) -> [[f64; WIDTH]; HEIGHT] {
    let (first, second) = rows.split_at(rows.len() / 2);
    let ((r0, r1), (r2, r3)) = (first.split_at(panel.len()), second.split_at(panel.len()));
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for ((((b, a0), a1), a2), a3) in panel.iter().zip(r0).zip(r1).zip(r2).zip(r3) {
        for column in 0..WIDTH {
            sums[0][column] += a0 * b[column];
            sums[1][column] += a1 * b[column];
            sums[2][column] += a2 * b[column];
            sums[3][column] += a3 * b[column];
        }
    }
    sums
}

fn line_of_tile(line: &[f64], panel: &[[f64; WIDTH]]) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (b, a) in panel.iter().zip(line) {
        for column in 0..WIDTH {
            sums[column] += a * b[column];
        }
    }
    sums
}

/// Adds the product of a `rows` x `depth` and a `depth` x `columns` matrix to `output`. `right` reads the second.
pub(super) fn multiply(
    left: &[f64],
    right: impl Fn(usize, usize) -> f64 + Sync,
    output: &mut [f64],
    depth: usize,
    columns: usize,
) {
    if depth == 0 || columns == 0 {
        return;
    }
    let work = left.len().saturating_mul(columns);
    in_parallel(output, columns, work, |first_row, output| {
        let rows = output.len() / columns;
        let left = &left[first_row * depth..][..rows * depth];
        let mut panels = Panels::new(depth);
        let strip = Panels::strip(depth);
        for first in (0..columns).step_by(strip) {
            panels.pack(strip.min(columns - first), |column, write| {
                (0..depth).for_each(|row| write(row, right(row, first + column)));
            });
            panels.multiply(left, |row, column, value| output[row * columns + first + column] += value);
        }
    });
}

/// Cuts `output` into one part for each core, at multiples of `unit`, and lets threads fill them. `work` is the number
/// of multiplications; `fill` gets the index of the first unit of its part.
pub(super) fn in_parallel(output: &mut [f64], unit: usize, work: usize, fill: impl Fn(usize, &mut [f64]) + Sync) {
    let units = output.len() / unit.max(1);
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = cores.min(units).min(work / WORTH_A_THREAD + 1).max(1);
    if threads == 1 {
        return fill(0, output);
    }
    let units_each = units.div_ceil(threads);
    thread::scope(|scope| {
        for (index, part) in output.chunks_mut(units_each * unit).enumerate() {
            let fill = &fill;
            scope.spawn(move || fill(index * units_each, part));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around those of tiles, and one that is worth several threads.
    #[test]
    fn products_equal_sums_of_products() {
        for (rows, depth, columns) in [(1, 1, 1), (4, 3, 4), (5, 7, 9), (3, 2, 1), (9, 300, 130), (70, 200, 400)] {
            let left: Vec<f64> = (0..rows * depth).map(|i| (i as f64 * 0.7).sin()).collect();
            let right: Vec<f64> = (0..depth * columns).map(|i| (i as f64 * 1.3).cos()).collect();
            let mut output = vec![1.0; rows * columns];
            multiply(&left, |row, column| right[row * columns + column], &mut output, depth, columns);
            for (index, element) in output.iter().enumerate() {
                let (row, column) = (index / columns, index % columns);
                let sum: f64 = (0..depth).map(|k| left[row * depth + k] * right[k * columns + column]).sum();
                assert!((element - 1.0 - sum).abs() < 1e-9, "{rows}x{depth}x{columns} at {row},{column}");
            }
        }
    }

    #[test]
    fn parts_cover_the_output_once() {
        for units in [1, 2, 3, 7, 64] {
            let mut output = vec![0.0; units * 3];
            in_parallel(&mut output, 3, usize::MAX, |first, part| {
                part.iter_mut().enumerate().for_each(|(index, element)| *element += (first * 3 + index) as f64);
            });
            assert!(output.iter().enumerate().all(|(index, element)| *element == index as f64));
        }
    }
}
