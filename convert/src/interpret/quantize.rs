//! Between real numbers and integers with a scale.

use crate::onnx::{element_type, whole_range};
use crate::tensor::{ElementType, Tensor};

use super::call::{axis, count, invalid, real, whole};
use super::cast::round_to;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "QuantizeLinear", opsets: since(10), inputs: 2..=3, infer, compute: quantize },
    Operator { name: "DequantizeLinear", opsets: since(10), inputs: 2..=3, infer, compute: dequantize },
];

struct Quantization {
    kind: ElementType,
    /// Number of scales, and of consecutive elements that share one.
    scales: usize,
    run: usize,
}

fn quantization(call: &Call<'_>) -> Result<Quantization, Fault> {
    let attributes = call.attributes();
    let is_quantize = call.op() == "QuantizeLinear";
    let along = if call.opset >= 13 { attributes.int("axis", 1)? } else { 1 };
    if is_quantize && call.opset >= 19 {
        attributes.ignore(&["saturate"]);
    }
    if call.opset >= 21 && attributes.int("block_size", 0)? != 0 {
        return Err(Fault::unsupported("block_size", "scales of blocks are not handled"));
    }
    if is_quantize && call.opset >= 23 {
        attributes.ignore(&["precision"]);
    }
    let has_type = call.opset >= if is_quantize { 21 } else { 23 };
    let wanted = if has_type { attributes.int("output_dtype", 0)? } else { 0 };
    attributes.finish()?;
    let (input, scale) = (call.input(0)?, call.real_input(1)?);
    let stated = match wanted {
        0 => None,
        number => Some(element_type(number).map_err(|name| Fault::unsupported(name, "the type is not handled"))?),
    };
    let zero_kind = call.optional(2).map(|zero| zero.kind);
    let kind = match is_quantize {
        true => zero_kind.or(stated).unwrap_or(ElementType::U8),
        false => stated.unwrap_or(scale.kind),
    };
    if kind.is_float() == is_quantize || (is_quantize && stated.is_some_and(|stated| stated != kind)) {
        return invalid(format!("a result of type {kind}"));
    }
    if !is_quantize && (input.kind.is_float() || zero_kind.is_some_and(|zero| zero != input.kind)) {
        return invalid(format!("an input of type {}", input.kind));
    }
    let (scales, run) = match scale.shape {
        [] => (1, 1),
        // A list of one scale counts as one scale for all.
        [1] => (1, 1),
        [scales] => {
            let along = axis(along, input.shape.len())?;
            if input.shape[along] != *scales {
                return invalid(format!("{scales} scales for axis {along} of {:?}", input.shape));
            }
            (*scales, count(&input.shape[along + 1..])?)
        }
        shape => return invalid(format!("scales of shape {shape:?}")),
    };
    if call.optional(2).is_some_and(|zero| zero.shape.iter().product::<usize>() != scales) {
        return invalid("scales and zero points have different shapes");
    }
    Ok(Quantization { kind, scales, run })
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(quantization(call)?.kind, call.input(0)?.shape)])
}

fn zero_points(call: &Call<'_>, count: usize) -> Result<Vec<i64>, Fault> {
    Ok(call.optional_wholes(2)?.map_or_else(|| vec![0; count], <[i64]>::to_vec))
}

fn quantize(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let quantization = quantization(call)?;
    let (scales, zeros) = (call.reals(1)?, zero_points(call, quantization.scales)?);
    let range = whole_range(quantization.kind);
    let (low, high) = (*range.start() as f64, *range.end() as f64);
    let input = call.tensor(0)?;
    let precision = input.element_type();
    let quantized = |(index, x): (usize, f64)| {
        let place = index / quantization.run.max(1) % quantization.scales;
        // The quotient is rounded as runtimes round it, so that halves are halves here too.
        let quotient = round_to(precision, round_to(precision, x) / scales[place]);
        (quotient.round_ties_even() + zeros[place] as f64).clamp(low, high) as i64
    };
    let elements: Vec<i64> = match input.as_real() {
        Some(elements) => elements.iter().copied().enumerate().map(quantized).collect(),
        None => call.wholes(0)?.iter().map(|&x| x as f64).enumerate().map(quantized).collect(),
    };
    Ok(vec![whole(quantization.kind, input.shape(), elements)?])
}

fn dequantize(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let quantization = quantization(call)?;
    let (scales, zeros) = (call.reals(1)?, zero_points(call, quantization.scales)?);
    let elements = call.wholes(0)?.iter().enumerate().map(|(index, &x)| {
        let place = index / quantization.run.max(1) % quantization.scales;
        (x - zeros[place]) as f64 * scales[place]
    });
    Ok(vec![real(quantization.kind, call.input(0)?.shape, elements.collect())?])
}
