//! The arithmetic against models in i128 that follow the definitions, not the code; and the examples of
//! `docs/quantization.md`.

use netkit::kernels::int8::requantize::{add_terms, clamp_range, softmax_params};
use netkit::kernels::int8::{Add, Multiplier, Pool2d, Requantize, Softmax, multiply_by_quantized_multiplier, table};
use netkit::kernels::{Level, supported_levels};
use netkit::tensor::{Padding, Shape, Window};

use crate::args::Values;

/// `numerator / 2^bits`, halves up.
fn halves_up(numerator: i128, bits: u32) -> i128 {
    (2 * numerator + (1 << bits)).div_euclid(2 << bits)
}

/// `numerator / 2^bits`, halves away from zero.
fn halves_away(numerator: i128, bits: u32) -> i128 {
    if numerator < 0 { -halves_up(-numerator, bits) } else { halves_up(numerator, bits) }
}

fn product_model(x: i32, multiplier: i32, shift: i8) -> i32 {
    let moved = if shift > 0 { (i128::from(x) << shift) as i32 } else { x };
    let product = halves_up(i128::from(moved) * i128::from(multiplier), 31).min(i128::from(i32::MAX));
    halves_away(product, u32::from((-shift).max(0) as u8)) as i32
}

/// Numbers around every power of two and around zero.
fn edges() -> Vec<i32> {
    let powers = (0..32).map(|bit| 1i64 << bit);
    let near = powers.flat_map(|power| [-1, 0, 1].map(|step| power + step));
    let mut edges: Vec<i32> = near.flat_map(|x| [x, -x]).filter_map(|x| i32::try_from(x).ok()).collect();
    edges.extend([0, i32::MIN, i32::MIN + 1, i32::MAX, 3 << 29, -(3 << 29)]);
    edges
}

#[test]
fn products_agree_with_the_model_at_the_edges_and_in_between() {
    let edges = edges();
    let mut cases = 0;
    for shift in -31..=30 {
        for &x in &edges {
            for &multiplier in &edges {
                let got = multiply_by_quantized_multiplier(x, multiplier, shift);
                assert_eq!(got, product_model(x, multiplier, shift), "{x} * {multiplier} >> {shift}");
                cases += 1;
            }
        }
    }
    let mut values = Values::new(7);
    for _ in 0..1_000_000 {
        let (x, multiplier) = (values.next() as i32 >> (values.next() % 32), values.next() as i32);
        let shift = (values.next() % 62) as i8 - 31;
        let got = multiply_by_quantized_multiplier(x, multiplier, shift);
        assert_eq!(got, product_model(x, multiplier, shift), "{x} * {multiplier} >> {shift}");
        cases += 1;
    }
    assert!(cases >= 2_000_000, "{cases}");
}

/// The vector form of every level, by way of 1x1 depthwise convolutions whose bias is the accumulator.
#[test]
fn requantising_many_channels_agrees_with_the_model() {
    const PIXELS: u32 = 4;
    let edges: Vec<i32> = edges();
    let mut values = Values::new(11);
    for shift in -31..=3i8 {
        let multipliers = [0, 1, 1 << 30, (1 << 30) + 1, i32::MAX - 1, i32::MAX, 3 << 29, 0x5555_5555, 0x6789_abcd];
        let pairs = edges.iter().flat_map(|&x| multipliers.map(|multiplier| (x, multiplier)));
        let ties = (0..2000).map(|i| ((i - 1000) << 4, 1 << 30));
        let random = (0..3000).map(|_| (values.next() as i32 >> (values.next() % 24), (values.next() >> 1) as i32));
        let (bias, multipliers): (Vec<i32>, Vec<i32>) = pairs.chain(ties).chain(random).unzip();
        let channels = bias.len();
        let window =
            Window::new(Shape::map(1, PIXELS, channels as u32), (1, 1), 1, Padding::default(), channels as u32)
                .unwrap();
        let input = vec![5i8; PIXELS as usize * channels];
        let weights = vec![9i8; channels];
        let zero_point = (values.next() >> 24) as i8;
        let requantize = Requantize {
            bias: &bias,
            multipliers: &multipliers,
            shifts: &vec![shift; channels],
            input_zero_point: 5,
            weight_zero_point: 0,
            output_zero_point: i32::from(zero_point),
            min: i8::MIN,
            max: i8::MAX,
        };
        for level in supported_levels() {
            let elems = netkit::kernels::int8::args::depthwise_conv2d_scratch_elems(&window);
            let mut output = vec![0i8; PIXELS as usize * channels];
            (table(level).depthwise_conv2d)(&mut netkit::kernels::int8::DepthwiseConv2d {
                window,
                input: &input,
                weights: &weights,
                packed: &[],
                requantize,
                pooled: false,
                scratch: &mut vec![0; elems as usize],
                output: &mut output,
            });
            for (at, &code) in output.iter().enumerate() {
                let c = at % channels;
                let scaled = i64::from(product_model(bias[c], multipliers[c], shift)) + i64::from(zero_point);
                let wanted = scaled.clamp(-128, 127) as i8;
                assert_eq!(code, wanted, "{}: {} * {} >> {shift}", level.name(), bias[c], multipliers[c]);
            }
        }
    }
}

/// `a * b / 2^31`, halves away from zero in magnitude of the last place as the fixed-point library of the original has it.
fn fixed_product(a: i128, b: i128) -> i128 {
    halves_up(a * b, 31)
}

/// exp of a number with 26 fraction bits in (-32, 0], with 31 fraction bits.
fn exp_model(x: i128) -> i128 {
    if x == 0 {
        return (1 << 31) - 1;
    }
    let quarter = 1 << 24;
    let fraction = x.rem_euclid(quarter) - quarter;
    let quarters = (fraction - x) / quarter;
    let t = fraction * 32 + (1 << 28);
    let t2 = fixed_product(t, t);
    let tail = halves_away(fixed_product(t2, t2), 2) + fixed_product(t2, t);
    let tail = halves_away(fixed_product(tail, 715_827_883) + t2, 1);
    let base = 1_895_147_668;
    let factors = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];
    let mut exp = base + fixed_product(base, t + tail);
    for (bit, factor) in factors.into_iter().enumerate() {
        if quarters / (1 << bit) % 2 == 1 {
            exp = fixed_product(exp, factor);
        }
    }
    exp
}

/// `2^62 / scaled` for numbers from 2^31 to 2^32, by three steps of Newton's method on numbers with 29 fraction bits.
fn reciprocal_model(scaled: i128) -> i128 {
    let half = scaled / 2;
    let mut estimate = 1_515_870_810 + fixed_product(half, -1_010_580_540);
    for _ in 0..3 {
        estimate += 4 * fixed_product(estimate, (1 << 29) - fixed_product(half, estimate));
    }
    (2 * estimate).min((1 << 31) - 1)
}

fn softmax_model(row: &[i8], (multiplier, shift, diff_min): (i32, i8, i32)) -> Vec<i8> {
    let largest = i128::from(*row.iter().max().unwrap());
    let exps: Vec<Option<i128>> = row
        .iter()
        .map(|&logit| {
            let difference = i128::from(logit) - largest;
            let moved = if shift < 0 { 0 } else { difference << shift };
            (difference >= i128::from(diff_min)).then(|| exp_model(fixed_product(moved, i128::from(multiplier))))
        })
        .collect();
    let sum: i128 = exps.iter().flatten().map(|&exp| halves_away(exp, 12)).sum();
    let head = (1..=32).find(|&head| sum << head >= 1 << 32).unwrap() - 1;
    let reciprocal = reciprocal_model(sum << head);
    exps.iter()
        .map(|exp| match exp {
            Some(exp) => (halves_away(fixed_product(reciprocal, *exp), 35 - head) - 128).clamp(-128, 127) as i8,
            None => -128,
        })
        .collect()
}

#[test]
fn softmax_agrees_with_the_model() {
    let rows = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
    let mut values = Values::new(3);
    for _ in 0..rows {
        let scale = f32::exp2((values.next() >> 16) as f32 / 4096.0 - 12.0);
        let params = softmax_params(scale);
        let spread = values.next() % 8 + 1;
        let row: Vec<i8> = (0..values.next() % 12 + 1).map(|_| (values.next() as i32 >> (32 - spread)) as i8).collect();
        let wanted = softmax_model(&row, params);
        for level in supported_levels() {
            let mut data = row.clone();
            let (multiplier, shift, diff_min) = params;
            let row_elems = row.len();
            (table(level).softmax)(&mut Softmax { data: &mut data, row_elems, multiplier, shift, diff_min });
            assert_eq!(data, wanted, "{}: {row:?} with scale {scale:e}", level.name());
        }
    }
}

#[test]
fn softmax_of_very_many_equal_logits_is_zero_everywhere() {
    for (elems, wanted) in [(1, 127), (2, 0), (256, -127), (511, -127), (513, -128), (4096, -128), (9000, -128)] {
        for level in supported_levels() {
            let mut data = vec![17i8; elems];
            let (multiplier, shift, diff_min) = softmax_params(0.1);
            (table(level).softmax)(&mut Softmax { data: &mut data, row_elems: elems, multiplier, shift, diff_min });
            assert!(data.iter().all(|&code| code == wanted), "{} of {}: {}", elems, level.name(), data[0]);
        }
    }
}

/// The section "Requantising" of `docs/quantization.md`.
#[test]
fn documented_examples_of_requantising() {
    let half = Multiplier::of_scales(1.0, 1.0, 2.0);
    assert_eq!(half, Multiplier { multiplier: 1 << 30, shift: 0 });
    let eighth = Multiplier::of_scales(1.0, 1.0, 8.0);
    assert_eq!(eighth, Multiplier { multiplier: 1 << 30, shift: -2 });
    assert_eq!(Multiplier::of_scales(3.0, 1.0, 1000.0), Multiplier { multiplier: 1_649_267_442, shift: -8 });
    assert_eq!(Multiplier::of_scales(3.0, 1.0, 1.0), Multiplier { multiplier: 3 << 29, shift: 2 });
    let apply = |x, m: Multiplier| multiply_by_quantized_multiplier(x, m.multiplier, m.shift);
    assert_eq!([3, -3, 5, -5].map(|x| apply(x, half)), [2, -1, 3, -2]);
    assert_eq!([4, -4, 12, -12].map(|x| apply(x, eighth)), [1, -1, 2, -2]);
    // Rounded twice: 3 / 8 is below one half, yet becomes 1.
    assert_eq!([3, -3].map(|x| apply(x, eighth)), [1, 0]);
    assert_eq!(apply(10_000, Multiplier::of_scales(3.0, 1.0, 1000.0)), 30);
    assert_eq!(multiply_by_quantized_multiplier(i32::MIN, i32::MIN, 0), i32::MAX);
    assert_eq!(apply(i32::MIN, Multiplier { multiplier: i32::MAX, shift: 0 }), -i32::MAX);
    assert_eq!(apply(1 << 30, Multiplier::of_scales(3.0, 1.0, 1.0)), 0);
}

/// The sections "Clamps" and "Pooling" of the document.
#[test]
fn documented_examples_of_clamps_and_means() {
    assert_eq!(clamp_range(1, 0.05, -100), (-100, 127));
    assert_eq!(clamp_range(5, 0.05, -100), (-100, 20));
    assert_eq!(clamp_range(5, 0.02, -100), (-100, 127));
    let window = Window::new(Shape::map(1, 2, 1), (1, 2), 1, Padding::default(), 1).unwrap();
    let mean = |zero_point: i32, input: [i8; 2]| {
        let mut output = [0];
        (table(Level::Reference).avg_pool2d)(&mut Pool2d { window, input: &input, zero_point, output: &mut output });
        output[0]
    };
    assert_eq!([mean(0, [2, 3]), mean(0, [-2, -3]), mean(10, [2, 3])], [3, -3, 2]);
}

/// The section "Residual addition" of the document.
#[test]
fn documented_example_of_an_addition() {
    let (own, other_term, output) = add_terms(0.5, 0, 0.25, 10, 0.5, -20);
    let mut data = [40, 127, -128];
    let other = [30, 127, -128];
    (table(Level::Reference).add)(&mut Add {
        data: &mut data,
        other: &other,
        own,
        other_term,
        output,
        min: i8::MIN,
        max: i8::MAX,
    });
    assert_eq!(data, [30, 127, -128]);
}
