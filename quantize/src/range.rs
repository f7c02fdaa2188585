//! From a distribution to scale and zero point.

use netkit::format::quant::QuantParams;

use crate::distribution::Distribution;

/// Steps between the least and the largest int8 code.
const STEPS: f64 = 255.0;
/// Scale of a tensor that is always 0.
const SCALE_OF_NOTHING: f64 = 1.0 / STEPS;
/// The search for the least squared error tries ends at multiples of 1 / this of the whole range.
const TRIALS: usize = 64;
/// Shortest end that the search tries, in the same parts.
const SHORTEST: usize = 12;

/// So many values show how far others may lie; the ends of fewer are widened.
const ENOUGH_VALUES: f64 = 1e5;

/// How ends of ranges are chosen. Where few values were seen, they are widened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// The least and the largest value.
    MinMax,
    /// At each end all but this share of the values; 99.99 % are the share 0.0001.
    Percentile(f64),
    /// What makes the squared error of rounding and clipping least.
    Mse,
}

/// Scale and zero point for values of this distribution. Values outside of `ends` may be clipped whatever the method says,
/// because nothing behind the tensor tells them from the ends. The scale is not below `least_scale`.
pub fn choose(values: &Distribution, method: Method, ends: (f64, f64), least_scale: f64) -> QuantParams {
    let (low, high) = ends_by(values, method, ends);
    let widening = widening(values.count());
    let within = |end: f64| (end * widening).clamp(ends.0, ends.1);
    affine(within(low), within(high), least_scale)
}

fn ends_by(values: &Distribution, method: Method, ends: (f64, f64)) -> (f64, f64) {
    match method {
        Method::MinMax => (f64::from(values.low()), f64::from(values.high())),
        Method::Percentile(outside) => values.central(outside),
        Method::Mse => least_squares(values, ends),
    }
}

/// Scale and zero point of an input, whose range the samples state.
pub fn choose_for_input(values: &Distribution, method: Method) -> QuantParams {
    let (low, high) = ends_by(values, method, (f64::NEG_INFINITY, f64::INFINITY));
    affine(low, high, 0.0)
}

/// How much further than the largest of `count` values the largest of many is likely to lie, if they are normal: the
/// largest of n grows like the root of the logarithm of n.
fn widening(count: u64) -> f64 {
    let count = (count as f64).clamp(16.0, ENOUGH_VALUES);
    (ENOUGH_VALUES.ln() / count.ln()).sqrt()
}

/// The low end behind which a leaky ReLU makes clipping cheaper than the coarser steps of a wider range.
pub fn leaky_low_end(values: &Distribution, slope: f64) -> f64 {
    let (low, high) = (f64::from(values.low()).min(0.0), f64::from(values.high()).max(0.0));
    let points: Vec<(f64, f64)> = values.points().map(|(value, count)| (value, count as f64)).collect();
    let total: f64 = points.iter().map(|(_, count)| count).sum();
    let error = |end: f64| {
        let clipped: f64 = points.iter().map(|&(value, count)| count * (slope * (value - end).min(0.0)).powi(2)).sum();
        clipped + rounding(total, end, high)
    };
    let ends = (0..=TRIALS).map(|part| low * part as f64 / TRIALS as f64);
    ends.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or(low)
}

/// Squared error of rounding: spread evenly over a step.
fn rounding(count: f64, low: f64, high: f64) -> f64 {
    let step = (high - low) / STEPS;
    count * step * step / 12.0
}

/// Scale and zero point that cover a range and represent 0 exactly.
pub fn affine(low: f64, high: f64, least_scale: f64) -> QuantParams {
    let (low, high) = (low.min(0.0), high.max(0.0));
    let spread = if high > low { (high - low) / STEPS } else { SCALE_OF_NOTHING };
    let scale = (spread.max(least_scale) as f32).max(f32::MIN_POSITIVE);
    let zero_point = (-128.0 - low / f64::from(scale)).round().clamp(-128.0, 127.0);
    QuantParams { scale, zero_point: zero_point as i32 }
}

/// The ends with the least squared error, among parts of the whole range.
fn least_squares(values: &Distribution, ends: (f64, f64)) -> (f64, f64) {
    let points: Vec<(f64, f64)> =
        values.points().map(|(value, count)| (value.clamp(ends.0, ends.1), count as f64)).collect();
    let low = f64::from(values.low()).min(0.0).max(ends.0);
    let high = f64::from(values.high()).max(0.0).min(ends.1);
    let clipping = |end: f64, beyond: &dyn Fn(f64) -> f64| -> f64 {
        points.iter().map(|&(value, count)| count * beyond(value - end).powi(2)).sum()
    };
    let trial = |end: f64| (SHORTEST..=TRIALS).map(move |part| end * part as f64 / TRIALS as f64);
    let lows: Vec<(f64, f64)> = trial(low).map(|end| (end, clipping(end, &|x| x.min(0.0)))).collect();
    let highs: Vec<(f64, f64)> = trial(high).map(|end| (end, clipping(end, &|x| x.max(0.0)))).collect();
    let total: f64 = points.iter().map(|(_, count)| count).sum();
    let mut best = (low, high, f64::INFINITY);
    for &(low, below) in &lows {
        for &(high, above) in &highs {
            let error = below + above + rounding(total, low, high);
            // Of equal ones the widest, which comes last.
            if error <= best.2 {
                best = (low, high, error);
            }
        }
    }
    (best.0, best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    fn of(values: &[f32]) -> Distribution {
        let mut distribution = Distribution::default();
        assert!(distribution.add(values));
        distribution
    }

    #[test]
    fn both_ends_have_codes_and_so_has_zero() {
        for (low, high) in [(-1.0, 1.0), (0.0, 6.0), (-3.0, 0.0), (2.0, 5.0), (-5.0, -2.0), (-0.1, 70.0)] {
            let params = affine(low, high, 0.0);
            let half = f64::from(params.scale) * 0.501;
            assert!(f64::from(params.dequantize(-128)) <= low.min(0.0) + half, "{low} {high}: {params:?}");
            assert!(f64::from(params.dequantize(127)) >= high.max(0.0) - half, "{low} {high}: {params:?}");
            assert_eq!(params.dequantize(params.zero_point as i8), 0.0);
        }
        assert_eq!(affine(0.0, 255.0, 0.0), QuantParams { scale: 1.0, zero_point: -128 });
        assert_eq!(affine(0.0, 0.0, 0.0).scale, 1.0 / 255.0);
        assert_eq!(affine(0.0, 1.0, 0.5).scale, 0.5);
    }

    #[test]
    fn ends_of_few_values_are_widened() {
        assert_eq!([widening(100_000), widening(1 << 40)], [1.0, 1.0]);
        assert!((1.2..1.4).contains(&widening(1000)) && widening(10_000) < 1.15 && widening(1) < 2.1);
        assert_eq!(
            choose_for_input(&of(&[0.0, 255.0]), Method::MinMax).scale,
            1.0,
            "the samples say what the input is"
        );
    }

    #[test]
    fn a_leaky_relu_needs_no_far_low_end() {
        let values = of(&(-1000..=1000).map(|value| value as f32 / 100.0).collect::<Vec<_>>());
        assert!((-10.0..-9.0).contains(&leaky_low_end(&values, 1.0)));
        assert!((-8.0..-1.0).contains(&leaky_low_end(&values, 0.01)));
        assert_eq!(leaky_low_end(&values, 0.0), 0.0, "a ReLU");
    }

    #[test]
    fn methods_differ_in_what_they_clip() {
        let mut values: Vec<f32> = (0..20_000).map(|index| (index as f32 * 0.37).sin()).collect();
        values.push(1000.0);
        let values = of(&values);
        let scale = |method| choose(&values, method, EVERYTHING, 0.0).scale;
        assert!((1001.0 / 255.0..1.1 * 1001.0 / 255.0).contains(&scale(Method::MinMax)));
        assert!(scale(Method::Percentile(1e-4)) < 0.05, "2 of 20001 values may be cut");
        assert_eq!(scale(Method::Percentile(0.0)), scale(Method::MinMax));
        assert!(scale(Method::Mse) <= scale(Method::MinMax));
    }

    #[test]
    fn least_squares_beats_the_ends_where_tails_are_thin() {
        // Nearly normal: sums of twelve uniform numbers.
        let mut state = 1u32;
        let mut uniform = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        let values: Vec<f32> = (0..100_000).map(|_| (0..12).map(|_| uniform()).sum()).collect();
        let distribution = of(&values);
        let error = |method| {
            let params = choose(&distribution, method, EVERYTHING, 0.0);
            let of_one = |&x: &f32| f64::from(params.dequantize(params.quantize(x)) - x).powi(2);
            values.iter().map(of_one).sum::<f64>()
        };
        assert!(error(Method::Mse) < 0.9 * error(Method::MinMax));
    }

    #[test]
    fn ends_that_nobody_tells_apart_are_clipped_by_every_method() {
        let values = of(&[-50.0, -1.0, 0.5, 1.0, 50.0]);
        for method in [Method::MinMax, Method::Percentile(0.0), Method::Mse] {
            let params = choose(&values, method, (-2.0, 3.0), 0.0);
            assert!(params.scale <= (5.0 / 255.0) as f32, "{method:?} {params:?}");
        }
    }
}
