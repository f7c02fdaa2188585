//! Values of one tensor, counted in equal bins around 0.
//!
//! The bins end at a power of two; where a value lies beyond, they are merged in pairs. So a single pass over the samples
//! is enough, and counts do not depend on the order of samples.

/// Number of bins: at least a quarter of them lie in the range of the values.
const BINS: usize = 8192;

/// Counted values.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    bins: Vec<u64>,
    /// Bins go from minus this to this; 0 before the first value other than 0.
    limit: f64,
    /// Values that are exactly 0, which every scale represents exactly.
    zeros: u64,
    count: u64,
    low: f32,
    high: f32,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { bins: vec![0; BINS], limit: 0.0, zeros: 0, count: 0, low: 0.0, high: 0.0 }
    }
}

impl Distribution {
    /// Counts values; false, with nothing counted, if one of them is NaN or infinite.
    pub fn add(&mut self, values: &[f32]) -> bool {
        let is_finite = values.iter().fold(true, |all, value| all & value.is_finite());
        if !is_finite || values.is_empty() {
            return is_finite;
        }
        let (low, high) = values.iter().fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        self.widen(f64::from(low.abs().max(high.abs())));
        (self.low, self.high) = if self.count == 0 { (low, high) } else { (self.low.min(low), self.high.max(high)) };
        self.count += values.len() as u64;
        let density = if self.limit > 0.0 { BINS as f64 / (2.0 * self.limit) } else { 0.0 };
        for &value in values {
            if value == 0.0 {
                self.zeros += 1;
            } else {
                let bin = ((f64::from(value) + self.limit) * density) as usize;
                self.bins[bin.min(BINS - 1)] += 1;
            }
        }
        true
    }

    /// Counts what another distribution has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let mut other = other.clone();
        self.widen(other.limit);
        other.widen(self.limit);
        self.bins.iter_mut().zip(&other.bins).for_each(|(own, other)| *own += other);
        let ends = (self.low.min(other.low), self.high.max(other.high));
        (self.low, self.high) = if self.count == 0 { (other.low, other.high) } else { ends };
        self.zeros += other.zeros;
        self.count += other.count;
    }

    /// Makes the bins reach as far as `magnitude`.
    fn widen(&mut self, magnitude: f64) {
        if magnitude <= self.limit || magnitude == 0.0 {
            return;
        }
        if self.limit == 0.0 {
            self.limit = magnitude.log2().ceil().exp2();
        }
        while self.limit < magnitude {
            self.limit *= 2.0;
            let merged: Vec<u64> = self.bins.chunks(2).map(|pair| pair[0] + pair[1]).collect();
            self.bins.fill(0);
            self.bins[BINS / 4..][..BINS / 2].copy_from_slice(&merged);
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Least value, 0 if there is none.
    pub fn low(&self) -> f32 {
        self.low
    }

    /// Largest value, 0 if there is none.
    pub fn high(&self) -> f32 {
        self.high
    }

    /// Values other than 0, as the centres of the bins that hold some, with their counts, in ascending order.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (f64, u64)> + '_ {
        let width = 2.0 * self.limit / BINS as f64;
        let centre = move |bin: usize| (bin as f64 + 0.5) * width - self.limit;
        self.bins.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(bin, &count)| (centre(bin), count))
    }

    /// The ends between which all values lie but the share `outside` at each end.
    pub fn central(&self, outside: f64) -> (f64, f64) {
        let allowed = (outside * self.count as f64).floor() as u64;
        let half = self.limit / BINS as f64;
        let low = first_beyond(self.points_and_zeros(), allowed).map_or(0.0, |centre| centre - half);
        let high = first_beyond(self.points_and_zeros().rev(), allowed).map_or(0.0, |centre| centre + half);
        let (low, high) = (low.max(f64::from(self.low)), high.min(f64::from(self.high)));
        (low, high)
    }

    fn points_and_zeros(&self) -> impl DoubleEndedIterator<Item = (f64, u64)> + '_ {
        let zeros = (self.zeros > 0).then_some((0.0, self.zeros));
        let below = self.points().filter(|(centre, _)| *centre < 0.0);
        below.chain(zeros).chain(self.points().filter(|(centre, _)| *centre > 0.0))
    }
}

/// The first point that is not among the first `allowed` values.
fn first_beyond(mut points: impl Iterator<Item = (f64, u64)>, allowed: u64) -> Option<f64> {
    let mut cut = 0;
    let first = points.find(|(_, count)| {
        cut += count;
        cut > allowed
    });
    first.map(|(centre, _)| centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f32]) -> Distribution {
        let mut distribution = Distribution::default();
        assert!(distribution.add(values));
        distribution
    }

    #[test]
    fn order_and_grouping_of_values_do_not_matter() {
        let whole = of(&[0.0, 0.1, -7.5, 3.25, 1e-3, 100.0]);
        let mut parts = of(&[100.0, 3.25]);
        assert!(parts.add(&[1e-3, 0.0]));
        parts.merge(&of(&[-7.5, 0.1]));
        assert_eq!(parts.points().collect::<Vec<_>>().len(), whole.points().collect::<Vec<_>>().len());
        assert_eq!((parts.count(), parts.low(), parts.high(), parts.zeros), (6, -7.5, 100.0, 1));
        assert_eq!(parts, whole);
    }

    #[test]
    fn a_power_of_two_is_in_the_last_bin() {
        let distribution = of(&[4.0, -4.0]);
        let points: Vec<_> = distribution.points().collect();
        assert_eq!(points, [(-4.0 + 4.0 / 8192.0, 1), (4.0 - 4.0 / 8192.0, 1)]);
    }

    #[test]
    fn nan_and_infinity_are_not_counted() {
        let mut distribution = Distribution::default();
        assert!(!distribution.add(&[1.0, f32::NAN]));
        assert!(!distribution.add(&[f32::INFINITY]));
        assert_eq!(distribution, Distribution::default());
    }

    #[test]
    fn the_central_part_leaves_out_a_share_at_each_end() {
        let values: Vec<f32> = (1..=1000).map(|value| value as f32).collect();
        let (low, high) = of(&values).central(0.01);
        assert!((10.0..=11.5).contains(&low) && (989.5..=991.0).contains(&high), "{low} {high}");
        assert_eq!(of(&values).central(0.0), (1.0, 1000.0));
        // Half of all values are 0: nothing is below.
        let (low, high) = of(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]).central(0.2);
        assert!(low == 0.0 && (2.0..2.1).contains(&high), "{low} {high}");
    }
}
