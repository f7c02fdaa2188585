//! Real numbers as the int8 codes of a model, and back.

use netkit::format::quant::QuantParams;
use netkit::text::General;

/// Codes that int8 has.
const ALL: usize = 256;
/// An input whose codes span fewer than 5 % of all codes is suspicious: it probably was scaled for another model.
const FEW: usize = ALL * 5 / 100 + 1;

/// The codes nearest to real numbers; what lies outside of int8 becomes its end.
pub(crate) fn quantize(values: &[f32], params: QuantParams) -> Vec<i8> {
    values.iter().map(|&value| params.quantize(value)).collect()
}

/// The real numbers that codes stand for.
pub(crate) fn dequantize(codes: &[i8], params: QuantParams) -> Vec<f32> {
    codes.iter().map(|&code| params.dequantize(code)).collect()
}

/// A sentence for each doubt about an input that was quantized.
pub(crate) fn doubts(values: &[f32], codes: &[i8], params: QuantParams) -> Vec<String> {
    [lost(values), clipped(values, params), narrow(codes)].into_iter().flatten().collect()
}

/// Says that values are no numbers.
fn lost(values: &[f32]) -> Option<String> {
    let count = values.iter().filter(|value| value.is_nan()).count();
    (count > 0).then(|| format!("{count} of {} input values are NaN and become 0", values.len()))
}

/// Says how many values lie outside of what int8 covers, and how far they go.
fn clipped(values: &[f32], params: QuantParams) -> Option<String> {
    let is_outside = |value: &&f32| i8::try_from(params.quantize_unbounded(**value)).is_err();
    let count = values.iter().filter(is_outside).count();
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let (least, most) = (known().reduce(f32::min)?, known().reduce(f32::max)?);
    let [low, high] = [i8::MIN, i8::MAX].map(|end| General(params.dequantize(end)));
    (count > 0).then(|| {
        let (total, least, most) = (values.len(), General(least), General(most));
        format!("{count} of {total} input values clip: they span {least} to {most}, int8 holds {low} to {high}")
    })
}

/// Says that the codes span too few of all to tell inputs apart. One value has no span.
pub(crate) fn narrow(codes: &[i8]) -> Option<String> {
    let (least, most) = (i32::from(*codes.iter().min()?), i32::from(*codes.iter().max()?));
    let span = (most - least + 1) as usize;
    (codes.len() > 1 && span < FEW).then(|| {
        format!("the input covers {span} of the {ALL} int8 codes ({least} to {most}); check how it was scaled")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALVES: QuantParams = QuantParams { scale: 0.5, zero_point: 3 };

    #[test]
    fn halves_are_rounded_away_from_zero_and_ends_saturate() {
        let values = [0.0, 0.25, -0.25, 0.24, 0.75, 62.0, 62.24, 1e30, -65.5, -66.0, f32::NEG_INFINITY, f32::NAN];
        assert_eq!(quantize(&values, HALVES), [3, 4, 2, 3, 5, 127, 127, 127, -128, -128, -128, 3]);
        assert_eq!(dequantize(&[-128, 3, 127], HALVES), [-65.5, 0.0, 62.0]);
        let back = dequantize(&(-128..=127).collect::<Vec<i8>>(), HALVES);
        assert_eq!(quantize(&back, HALVES), (-128..=127).collect::<Vec<i8>>());
    }

    #[test]
    fn what_rounds_to_the_last_code_does_not_clip() {
        assert_eq!(clipped(&[62.24, -65.74], HALVES), None);
        let text = "2 of 3 input values clip: they span -65.75 to 62.25, int8 holds -65.5 to 62";
        assert_eq!(clipped(&[62.25, 0.0, -65.75], HALVES).as_deref(), Some(text));
        assert_eq!(clipped(&[f32::NAN], HALVES), None);
        assert_eq!(lost(&[f32::NAN, 1.0]).as_deref(), Some("1 of 2 input values are NaN and become 0"));
    }

    #[test]
    fn fewer_than_5_percent_of_the_codes_are_narrow() {
        assert!(narrow(&[-6, 0, 6]).is_none(), "13 codes");
        assert!(narrow(&[-6, 5]).is_some_and(|text| text.contains("12 of the 256 int8 codes (-6 to 5)")));
        assert!(narrow(&[-128, 127]).is_none());
        assert!(narrow(&[7]).is_none());
        assert!(narrow(&[]).is_none());
    }
}
