//! Cuts a long row of boxes into columns that fill a landscape page.

use std::ops::Range;

/// Width by height of an A4 page that lies on its side.
const LANDSCAPE: f64 = 1.414;

/// The parts of `heights` that stand in one column each. All columns have the width `width`; `surroundings` is what the page
/// needs beside them, in both directions.
pub(crate) fn cut(heights: &[f64], width: f64, surroundings: (f64, f64)) -> Vec<Range<usize>> {
    let misfit = |columns: &[Range<usize>]| {
        let tallest = columns.iter().map(|column| height(heights, column)).fold(0.0, f64::max);
        let ratio = (width * columns.len() as f64 + surroundings.0) / (tallest + surroundings.1);
        (ratio / LANDSCAPE).ln().abs()
    };
    (1..=heights.len().max(1))
        .map(|count| balanced(heights, count))
        .min_by(|a, b| misfit(a).total_cmp(&misfit(b)))
        .unwrap_or_default()
}

fn height(heights: &[f64], column: &Range<usize>) -> f64 {
    heights[column.clone()].iter().sum()
}

/// At most `count` columns whose tallest is as low as can be.
fn balanced(heights: &[f64], count: usize) -> Vec<Range<usize>> {
    let tallest_box = heights.iter().copied().fold(0.0, f64::max);
    let (mut low, mut high) = (tallest_box, heights.iter().sum::<f64>());
    // The limit that needs no more than `count` columns, to a hundredth of a pixel.
    while high - low > 0.01 {
        let limit = f64::midpoint(low, high);
        if filled(heights, limit).len() <= count { high = limit } else { low = limit }
    }
    filled(heights, high)
}

/// Columns filled one after another up to `limit`.
fn filled(heights: &[f64], limit: f64) -> Vec<Range<usize>> {
    let mut columns = Vec::new();
    let (mut first, mut sum) = (0, 0.0);
    for (index, height) in heights.iter().enumerate() {
        if index > first && sum + height > limit {
            columns.push(first..index);
            (first, sum) = (index, 0.0);
        }
        sum += height;
    }
    columns.push(first..heights.len());
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_hold_every_box_once_and_in_order() {
        for count in 1..40 {
            let heights: Vec<f64> = (0..count).map(|index| 40.0 + f64::from(index % 5) * 13.0).collect();
            let columns = cut(&heights, 250.0, (60.0, 120.0));
            let joined: Vec<usize> = columns.iter().cloned().flatten().collect();
            assert_eq!(joined, (0..heights.len()).collect::<Vec<_>>());
            assert!(columns.iter().all(|column| !column.is_empty()));
        }
    }

    #[test]
    fn many_boxes_become_a_landscape_page() {
        let heights = [80.0; 30];
        let columns = cut(&heights, 250.0, (0.0, 0.0));
        let tallest = columns.iter().map(|column| height(&heights, column)).fold(0.0, f64::max);
        let ratio = 250.0 * columns.len() as f64 / tallest;
        assert!((1.0..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_tallest_column_is_as_low_as_can_be() {
        assert_eq!(balanced(&[3.0, 1.0, 1.0, 1.0], 2), [0..1, 1..4]);
        assert_eq!(balanced(&[1.0; 6], 3), [0..2, 2..4, 4..6]);
    }
}
