//! What every level, the reference included, does at the edges: NaN, infinities, extremes, windows in the padding, and
//! how far the smooth activations are from the true function.

use netkit::kernels::{Activation, Kernels, Pool2d, supported_levels, table};
use netkit::tensor::{Padding, Shape, Window};

const INF: f32 = f32::INFINITY;

fn every_level(check: impl Fn(&Kernels)) {
    for level in supported_levels() {
        println!("level {}", level.name());
        check(table(level));
    }
}

/// The activation of `x`, computed at each place of a slice that fills vectors and leaves a rest.
fn activated(kernels: &Kernels, activation: Activation, x: f32) -> f32 {
    let mut data = [x; 21];
    (kernels.activate)(&mut data, activation);
    assert!(data.iter().all(|y| y.to_bits() == data[0].to_bits() || y.is_nan() && data[0].is_nan()), "{x}: {data:?}");
    data[0]
}

// ---------------------------------------------------------------------------------------------- activations

/// `f64` functions that the smooth activations are measured against.
fn true_value(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Tanh => x.tanh(),
        Activation::Silu => x / (1.0 + (-x).exp()),
        // 0.5 (1 + tanh u) is sigmoid(2u); written so, it does not cancel.
        Activation::Gelu => x / (1.0 + (-2.0 * 0.7978845608 * (x + 0.044715 * x * x * x)).exp()),
        _ => unreachable!("not a smooth activation"),
    }
}

/// Floats of every exponent and both signs, and the range where the functions bend in small steps.
fn sweep() -> Vec<f32> {
    let all = (0..=u32::MAX).step_by(20_011).map(f32::from_bits).filter(|x| x.is_finite());
    let dense = (-100_000..=100_000).map(|i| i as f32 * 1.3e-4);
    all.chain(dense).collect()
}

fn worst_error(kernels: &Kernels, activation: Activation, relative_to: fn(f64) -> f64) -> f64 {
    let inputs = sweep();
    let mut outputs = inputs.clone();
    (kernels.activate)(&mut outputs, activation);
    let errors = inputs.iter().zip(&outputs).map(|(&x, &y)| {
        let error = (f64::from(y) - true_value(activation, f64::from(x))).abs() / relative_to(f64::from(x));
        assert!(error < 1e-3, "{activation:?}({x}) = {y}");
        error
    });
    let worst = errors.fold(0.0, f64::max);
    println!("{activation:?}: {worst:.2e}");
    worst
}

#[test]
fn sigmoid_and_tanh_have_an_absolute_error_below_2e_7() {
    every_level(|kernels| {
        for activation in [Activation::Sigmoid, Activation::Tanh] {
            assert!(worst_error(kernels, activation, |_| 1.0) <= 2e-7);
        }
    });
}

#[test]
fn silu_and_gelu_have_an_error_below_2e_7_of_their_argument() {
    every_level(|kernels| {
        for activation in [Activation::Silu, Activation::Gelu] {
            // Below the normal numbers an error is a whole step of 1.4e-45 or two.
            assert!(worst_error(kernels, activation, |x| x.abs().max(1e-37)) <= 2e-7);
        }
    });
}

#[test]
fn activations_of_nan_are_nan_but_for_relu() {
    let smooth = [Activation::Sigmoid, Activation::Tanh, Activation::Silu, Activation::Gelu];
    let straight = [Activation::None, Activation::LeakyRelu(0.1), Activation::Relu6];
    every_level(|kernels| {
        for nan in [f32::NAN, -f32::NAN] {
            for activation in smooth.into_iter().chain(straight) {
                assert!(activated(kernels, activation, nan).is_nan(), "{activation:?}");
            }
            assert_eq!(activated(kernels, Activation::Relu, nan).to_bits(), 0);
        }
    });
}

#[test]
fn activations_have_their_limits_at_infinity() {
    every_level(|kernels| {
        for (activation, at_minus_inf, at_inf) in [
            (Activation::None, -INF, INF),
            (Activation::Relu, 0.0, INF),
            (Activation::Sigmoid, 0.0, 1.0),
            (Activation::Tanh, -1.0, 1.0),
            (Activation::LeakyRelu(0.5), -INF, INF),
            (Activation::Relu6, 0.0, 6.0),
        ] {
            assert_eq!(activated(kernels, activation, -INF), at_minus_inf, "{activation:?}");
            assert_eq!(activated(kernels, activation, INF), at_inf, "{activation:?}");
        }
        for activation in [Activation::Silu, Activation::Gelu] {
            assert!(activated(kernels, activation, -INF).is_nan(), "{activation:?}: infinity times 0");
            assert_eq!(activated(kernels, activation, INF), INF, "{activation:?}");
            assert_eq!(activated(kernels, activation, -1e30), 0.0, "{activation:?}");
        }
    });
}

#[test]
fn smooth_activations_are_finite_where_exp_overflows_or_underflows() {
    every_level(|kernels| {
        for x in [88.0, 88.8, 104.0, 1e30, f32::MAX] {
            for (activation, positive, negative) in [
                (Activation::Sigmoid, 1.0, 0.0),
                (Activation::Tanh, 1.0, -1.0),
                (Activation::Silu, x, 0.0),
                (Activation::Gelu, x, 0.0),
            ] {
                assert_eq!(activated(kernels, activation, x), positive, "{activation:?}({x})");
                let y = activated(kernels, activation, -x);
                assert!((y - negative).abs() <= 1e-35, "{activation:?}(-{x}) = {y}");
            }
        }
    });
}

#[test]
fn zero_and_subnormal_numbers_pass_through_tanh() {
    every_level(|kernels| {
        for x in [0.0, -0.0, 1e-40, -1e-40, f32::MIN_POSITIVE, 1e-20] {
            assert_eq!(activated(kernels, Activation::Tanh, x).to_bits(), x.to_bits(), "{x:e}");
            assert_eq!(activated(kernels, Activation::Sigmoid, x), 0.5, "{x:e}");
        }
    });
}

#[test]
fn relu_makes_negative_zero_positive_and_relu6_keeps_it() {
    every_level(|kernels| {
        assert_eq!(activated(kernels, Activation::Relu, -0.0).to_bits(), 0);
        assert_eq!(activated(kernels, Activation::Relu6, -0.0).to_bits(), (-0.0f32).to_bits());
    });
}

// ---------------------------------------------------------------------------------------------- softmax

fn softmax(kernels: &Kernels, row: &[f32]) -> Vec<f32> {
    let mut data = row.to_vec();
    (kernels.softmax)(&mut data, row.len());
    data
}

#[test]
fn a_softmax_row_sums_to_1_however_large_its_elements() {
    every_level(|kernels| {
        for scale in [0.0, 1.0, 1e3, 1e38] {
            let row: Vec<f32> = (0..37).map(|i| scale * ((i * 7 % 37) as f32 / 37.0 - 0.5)).collect();
            let sum: f32 = softmax(kernels, &row).iter().sum();
            assert!((sum - 1.0).abs() <= 1e-5, "scale {scale}: {sum}");
        }
    });
}

#[test]
fn softmax_gives_negative_infinity_no_share() {
    every_level(|kernels| assert_eq!(softmax(kernels, &[0.0, -INF, 0.0]), [0.5, 0.0, 0.5]));
}

#[test]
fn a_row_without_softmax_becomes_nan_as_a_whole() {
    every_level(|kernels| {
        for special in [f32::NAN, INF] {
            for at in 0..19 {
                let mut row = [0.5; 19];
                row[at] = special;
                assert!(softmax(kernels, &row).iter().all(|y| y.is_nan()), "{special} at {at}");
            }
        }
        assert!(softmax(kernels, &[-INF; 19]).iter().all(|y| y.is_nan()));
    });
}

#[test]
fn softmax_leaves_other_rows_and_an_incomplete_row_alone() {
    every_level(|kernels| {
        let mut data = [f32::NAN, 0.0, 7.0, 7.0, 3.0];
        (kernels.softmax)(&mut data, 2);
        assert_eq!(data[2..], [0.5, 0.5, 3.0]);
        (kernels.softmax)(&mut data, 0);
        assert_eq!(data[2..], [0.5, 0.5, 3.0]);
    });
}

// ---------------------------------------------------------------------------------------------- pooling

/// Pools a 2x2 map of `pixels` with 21 channels that are all alike, kernel 2x2, stride 2, padding 2: the corner windows
/// lie in the padding, the middle one covers the map.
fn pooled(pool: fn(&mut Pool2d<'_>), pixels: [f32; 4]) -> Vec<f32> {
    const CHANNELS: usize = 21;
    let window = Window::new(Shape::map(2, 2, CHANNELS as u32), (2, 2), 2, Padding::same(2), CHANNELS as u32).unwrap();
    let input: Vec<f32> = pixels.iter().flat_map(|&x| [x; CHANNELS]).collect();
    let mut output = vec![f32::NAN; 9 * CHANNELS];
    pool(&mut Pool2d { window, input: &input, output: &mut output });
    output
        .chunks(CHANNELS)
        .inspect(|pixel| assert!(pixel.iter().all(|&x| x == pixel[0])))
        .map(|pixel| pixel[0])
        .collect()
}

#[test]
fn a_window_in_the_padding_has_maximum_float_min_and_mean_0() {
    every_level(|kernels| {
        for at in (0..9).filter(|&at| at != 4) {
            assert_eq!(pooled(kernels.max_pool2d, [1.0, 2.0, 3.0, 4.0])[at], -3.4028235e38);
            assert_eq!(pooled(kernels.avg_pool2d, [1.0, 2.0, 3.0, 4.0])[at], 0.0);
        }
    });
}

#[test]
fn pooling_takes_the_elements_inside() {
    every_level(|kernels| {
        assert_eq!(pooled(kernels.max_pool2d, [1.0, -2.0, 3.0, 2.0])[4], 3.0);
        assert_eq!(pooled(kernels.avg_pool2d, [1.0, -2.0, 3.0, 2.0])[4], 1.0);
    });
}

#[test]
fn the_maximum_ignores_nan_and_starts_from_the_lowest_finite_float() {
    every_level(|kernels| {
        assert_eq!(pooled(kernels.max_pool2d, [f32::NAN, 1.0, f32::NAN, -1.0])[4], 1.0);
        assert_eq!(pooled(kernels.max_pool2d, [-INF; 4])[4], f32::MIN);
        assert_eq!(pooled(kernels.max_pool2d, [f32::NAN; 4])[4], f32::MIN);
    });
}

#[test]
fn halving_max_pool_agrees_with_the_general_one_on_nan() {
    every_level(|kernels| {
        let window = Window::new(Shape::map(2, 2, 1), (2, 2), 2, Padding::default(), 1).unwrap();
        for (input, expected) in [([f32::NAN; 4], f32::MIN), ([-INF, f32::NAN, -1.0, -2.0], -1.0)] {
            let mut output = [0.0];
            (kernels.max_pool2d)(&mut Pool2d { window, input: &input, output: &mut output });
            assert_eq!(output, [expected]);
        }
    });
}
