//! The times of many runs, and what is told of them.

use std::time::Duration;

use serde::Serialize;

/// Times in nanoseconds.
#[derive(Default)]
pub(super) struct Samples(Vec<u64>);

/// What is told of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Statistics {
    pub(super) runs: usize,
    pub(super) median_ns: u64,
    /// No more than 5 % of the runs took longer.
    pub(super) p95_ns: u64,
    pub(super) min_ns: u64,
}

impl Samples {
    pub(super) fn push(&mut self, time: Duration) {
        self.0.push(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Zeros when there are no samples.
    pub(super) fn statistics(&mut self) -> Statistics {
        self.0.sort_unstable();
        let runs = self.0.len();
        // The least time that this many hundredths of the runs did not exceed.
        let rank = |percent: usize| self.0.get((runs * percent).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0);
        Statistics { runs, median_ns: rank(50), p95_ns: rank(95), min_ns: rank(0) }
    }
}

/// A time with three digits.
pub(super) fn time(ns: u64) -> String {
    let scaled = |divisor: f64, unit: &str| {
        let value = ns as f64 / divisor;
        let decimals = match value {
            v if v < 9.995 => 2,
            v if v < 99.95 => 1,
            _ => 0,
        };
        format!("{value:.decimals$} {unit}")
    };
    match ns {
        0..1000 => format!("{ns} ns"),
        1000..999_500 => scaled(1e3, "µs"),
        999_500..999_500_000 => scaled(1e6, "ms"),
        _ => scaled(1e9, "s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl IntoIterator<Item = u64>) -> Statistics {
        let mut samples = Samples::default();
        times.into_iter().for_each(|time| samples.push(Duration::from_nanos(time)));
        samples.statistics()
    }

    #[test]
    fn ranks_are_those_of_the_sorted_times() {
        assert_eq!(of((1..=100).rev()), Statistics { runs: 100, median_ns: 50, p95_ns: 95, min_ns: 1 });
        assert_eq!(of([7]), Statistics { runs: 1, median_ns: 7, p95_ns: 7, min_ns: 7 });
        assert_eq!(of([3, 1, 2]), Statistics { runs: 3, median_ns: 2, p95_ns: 3, min_ns: 1 });
        assert_eq!(of([]), Statistics { runs: 0, median_ns: 0, p95_ns: 0, min_ns: 0 });
    }

    #[test]
    fn times_have_three_digits() {
        let cases = [(0, "0 ns"), (999, "999 ns"), (1234, "1.23 µs"), (12_345, "12.3 µs"), (999_600, "1.00 ms")];
        for (ns, text) in cases.into_iter().chain([(19_200_000, "19.2 ms"), (2_500_000_000, "2.50 s")]) {
            assert_eq!(time(ns), text);
        }
    }
}
