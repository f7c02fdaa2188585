//! Exponential, hyperbolic tangent and what is built from them, without branches and without tables.
//!
//! Every function takes one value, and a loop over a slice that calls it becomes vector code: selects turn into
//! minimum, maximum and blend instructions, and the exponent is made with integer additions. They are always inlined,
//! so a caller compiled for AVX2 gets them for AVX2. Error bounds are stated per function, hold for every f32 and are
//! checked by the tests below and by `tests/kernels_match.rs`.

/// `1 / ln 2`.
const LOG2_E: f32 = core::f32::consts::LOG2_E;

/// `ln 2` in two parts. The high part has 9 significant bits, so its product with an integer below 2^15 is exact.
const LN_2_HIGH: f32 = 0.691_406_25;
const LN_2_LOW: f32 = 0.001_740_930_6;

/// Adding this number rounds a small float to an integer and leaves that integer in the low bits of the sum.
const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23

/// `(exp(r) - 1 - r) / r^2` for `|r| <= ln(2) / 2`, lowest power first: the polynomial whose largest relative error in
/// `exp(r)` is least (3.1e-9, found by exchange over 50-digit numbers), each coefficient then rounded to f32.
const EXP: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_745, 0.001_381_454];

/// `exp(x)` as `2^n * (1 + fraction)`.
struct Power {
    n: i32,
    fraction: f32,
}

/// Splits `exp(x)`, `|x| <= 2^13`. A NaN gives a NaN `fraction` and some `n`.
#[inline(always)]
fn split(x: f32) -> Power {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let [c0, c1, c2, c3, c4] = EXP;
    let q = c0 + r * (c1 + r * (c2 + r * (c3 + r * c4)));
    Power { n: shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32, fraction: r + r * r * q }
}

/// `2^n` for `-126 <= n <= 127`, any value otherwise.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

/// The smaller of `x` and `limit`; NaN when `x` is.
#[inline(always)]
fn at_most(x: f32, limit: f32) -> f32 {
    if x > limit { limit } else { x }
}

/// The larger of `x` and `limit`; NaN when `x` is.
#[inline(always)]
fn at_least(x: f32, limit: f32) -> f32 {
    if x < limit { limit } else { x }
}

/// `exp(x)`, within 1 ulp of the true value where that is a normal or subnormal number. Infinite above 88.7228, 0 below
/// -103.9721, NaN for NaN.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    // Beyond these limits the result is infinite or 0 anyway, and within them `n` stays between -150 and 128.
    let Power { n, fraction } = split(at_most(at_least(x, -104.0), 89.0));
    // One factor 2^n may lie outside the normal numbers. The product with the first half is exact, so the second one
    // rounds once, to a subnormal or to infinity where need be.
    let half = n >> 1;
    (1.0 + fraction) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

/// Hyperbolic tangent, within 3 ulp (absolute error 1.2e-7) of the true value; odd, and `x` itself for tiny `x`.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    // With e = exp(2|x|) - 1, tanh|x| = e / (e + 2). From |x| = 9.02 on it rounds to 1, as it does at 10.
    let Power { n, fraction } = split(2.0 * at_most(x.abs(), 10.0));
    // Where n = 0 this is `fraction` alone, so nothing cancels near 0.
    let scale = power_of_two(n);
    let e = (scale - 1.0) + scale * fraction;
    (e / (e + 2.0)).copysign(x)
}

/// `1 / (1 + exp(-x))`, within 3 ulp of the true value down to -88.7 and 0 below: absolute error 1.2e-7.
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `x * sigmoid(x)`; NaN for negative infinity, like the formula.
#[inline(always)]
pub(super) fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// The tanh form of GELU; NaN for negative infinity, like the formula.
///
/// `0.5 (1 + tanh u)` equals `sigmoid(2u)`, which takes one exponential and does not cancel for negative `x`.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    const TWICE_ROOT: f32 = 2.0 * 0.797_884_6; // 2 sqrt(2 / pi)
    let twice_u = TWICE_ROOT * (x + 0.044_715 * x * x * x);
    x / (1.0 + exp(-twice_u))
}

/// `1 / sqrt(x)`, within 4 ulp for normal numbers; elsewhere (0, subnormal, negative, infinite, NaN) whatever the square
/// root says. Unlike a call of that, it leaves vector registers alone and overlaps with its neighbours.
#[inline(always)]
pub(super) fn inverse_sqrt(x: f32) -> f32 {
    if !(f32::MIN_POSITIVE..=f32::MAX).contains(&x) {
        return 1.0 / libm::sqrtf(x);
    }
    // The bits of a float are roughly its logarithm, so halving and negating them is roughly the inverse root: the
    // constant, 3/2 of the exponent bias less 0.045, leaves 3.5 %. Each Newton step squares that error.
    let mut y = f32::from_bits(0x5f37_59df - (x.to_bits() >> 1));
    for _ in 0..3 {
        y *= 1.5 - 0.5 * x * y * y;
    }
    y
}

/// Partial results kept side by side, so that the steps of a loop do not wait for each other and fill vector registers.
const LANES: usize = 16;

/// Sum of `term(x)` over `values`.
#[inline(always)]
pub(super) fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    fold(values, 0.0, |sum, x| sum + term(x), |a, b| a + b)
}

/// The largest of `values`, from negative infinity; NaN is never the largest.
#[inline(always)]
pub(super) fn largest(values: &[f32]) -> f32 {
    let larger = |best: f32, x: f32| if x > best { x } else { best };
    fold(values, f32::NEG_INFINITY, larger, larger)
}

/// Folds whole blocks lane by lane, then what is left in fours and one by one, and joins the lanes by halves.
#[inline(always)]
fn fold(values: &[f32], start: f32, step: impl Fn(f32, f32) -> f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for block in blocks {
        for (lane, &x) in lanes.iter_mut().zip(block) {
            *lane = step(*lane, x);
        }
    }
    let (fours, rest) = rest.as_chunks::<4>();
    for (lanes, four) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
        for (lane, &x) in lanes.iter_mut().zip(four) {
            *lane = step(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, x);
    }
    let mut count = LANES / 2;
    while count > 0 {
        for i in 0..count {
            lanes[i] = join(lanes[i], lanes[i + count]);
        }
        count /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every `step`-th finite float, positive and negative.
    fn floats(step: usize) -> impl Iterator<Item = f32> {
        (0..=u32::MAX).step_by(step).map(f32::from_bits).filter(|x| x.is_finite())
    }

    /// Distance from `y` to the true value, in units of the last place that an f32 near it has.
    fn ulps(y: f32, true_value: f64) -> f64 {
        let above = (true_value.abs() as f32).max(f32::MIN_POSITIVE);
        let unit = f32::from_bits(above.to_bits() & 0x7f80_0000) * f32::EPSILON;
        (f64::from(y) - true_value).abs() / f64::from(unit)
    }

    #[test]
    fn exp_is_within_its_bound_wherever_it_is_finite() {
        let bent = (-1_100_000..900_000).map(|i| i as f32 * 1e-4);
        for x in floats(4_001).chain(bent) {
            let (y, true_value) = (exp(x), libm::exp(f64::from(x)));
            if x >= 88.722_84 {
                assert_eq!(y, f32::INFINITY, "{x}");
            } else {
                assert!(ulps(y, true_value) <= 1.25, "exp({x}) = {y}, true {true_value}");
            }
        }
    }

    #[test]
    fn exp_at_its_limits() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(f32::MAX), f32::INFINITY);
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp(f32::MIN), 0.0);
        assert!(exp(f32::NAN).is_nan() && exp(-f32::NAN).is_nan());
        // The last arguments before infinity and before 0.
        assert!(exp(88.72283).is_finite() && exp(88.72284).is_infinite());
        assert!(exp(-103.97207) > 0.0 && exp(-103.97209) == 0.0);
    }

    #[test]
    fn tanh_is_within_3_ulp_and_odd() {
        let bent = (-100_000..100_000).map(|i| i as f32 * 1e-4);
        for x in floats(4_001).chain(bent) {
            let (y, true_value) = (tanh(x), libm::tanh(f64::from(x)));
            assert!(ulps(y, true_value) <= 3.0, "tanh({x}) = {y}, true {true_value}");
            assert_eq!(tanh(-x).to_bits(), (-y).to_bits(), "{x}");
        }
    }

    #[test]
    fn sum_and_largest_take_every_element_once() {
        let values: [f32; 67] = core::array::from_fn(|i| i as f32);
        for len in 0..=values.len() {
            let values = &values[..len];
            assert_eq!(sum(values, |x| x + 1.0), (len * (len + 1) / 2) as f32);
            assert_eq!(largest(values), values.last().copied().unwrap_or(f32::NEG_INFINITY));
        }
        assert_eq!(largest(&[f32::NAN, 2.0, f32::NAN]), 2.0);
    }
}
