//! Functions of single elements.

use crate::onnx::whole_range;
use crate::tensor::{ElementType, Elements, Tensor};

use super::call::{invalid, real, whole};
use super::{Call, Fault, Operator, Signature, since};

const fn operator(name: &'static str, from: i64) -> Operator {
    Operator { name, opsets: since(from), inputs: 1..=1, infer, compute }
}

pub(super) const OPERATORS: &[Operator] = &[
    operator("Relu", 1),
    operator("LeakyRelu", 1),
    operator("ThresholdedRelu", 10),
    operator("Elu", 1),
    operator("Selu", 1),
    operator("Celu", 12),
    operator("Sigmoid", 1),
    operator("HardSigmoid", 1),
    operator("HardSwish", 14),
    operator("Swish", 24),
    operator("Mish", 18),
    operator("Gelu", 20),
    operator("Tanh", 1),
    operator("Softplus", 1),
    operator("Softsign", 1),
    operator("Erf", 9),
    operator("Exp", 1),
    operator("Log", 1),
    operator("Sqrt", 1),
    operator("Reciprocal", 1),
    operator("Floor", 1),
    operator("Ceil", 1),
    operator("Round", 11),
    operator("Sin", 7),
    operator("Cos", 7),
    operator("Abs", 1),
    operator("Neg", 1),
    operator("Sign", 9),
    Operator { name: "Clip", opsets: since(1), inputs: 1..=3, infer, compute },
];

type RealFunction = Box<dyn Fn(f64) -> f64>;

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let input = call.input(0)?;
    match input.kind.is_float() {
        true => drop(real_function(call, false)?),
        false => drop(whole_function(call, input.kind, false)?),
    }
    Ok(vec![Signature::new(input.kind, input.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let input = call.tensor(0)?;
    let kind = input.element_type();
    let output = match input.elements() {
        Elements::Real(elements) => {
            let function = real_function(call, true)?;
            real(kind, input.shape(), elements.iter().map(|&x| function(x)).collect())?
        }
        Elements::Whole(elements) => {
            let function = whole_function(call, kind, true)?;
            whole(kind, input.shape(), elements.iter().map(|&x| function(x)).collect())?
        }
    };
    Ok(vec![output])
}

/// The function of a node. Bounds that are inputs are read only if `with_inputs`.
fn real_function(call: &Call<'_>, with_inputs: bool) -> Result<RealFunction, Fault> {
    let attributes = call.attributes();
    let function: RealFunction = match call.op() {
        "Relu" => Box::new(|x| if x < 0.0 { 0.0 } else { x }),
        "LeakyRelu" => {
            let alpha = attributes.float("alpha", 0.01)?;
            Box::new(move |x| if x < 0.0 { alpha * x } else { x })
        }
        "ThresholdedRelu" => {
            let alpha = attributes.float("alpha", 1.0)?;
            Box::new(move |x| if x <= alpha { 0.0 } else { x })
        }
        "Elu" => {
            let alpha = attributes.float("alpha", 1.0)?;
            Box::new(move |x| if x < 0.0 { alpha * x.exp_m1() } else { x })
        }
        "Selu" => {
            let (alpha, gamma) = (attributes.float("alpha", 1.673_263_2)?, attributes.float("gamma", 1.050_701)?);
            Box::new(move |x| gamma * if x <= 0.0 { alpha * x.exp_m1() } else { x })
        }
        "Celu" => {
            let alpha = attributes.float("alpha", 1.0)?;
            Box::new(move |x| if x < 0.0 { alpha * (x / alpha).exp_m1() } else { x })
        }
        "Sigmoid" => Box::new(sigmoid),
        "HardSigmoid" => {
            let (alpha, beta) = (attributes.float("alpha", 0.2)?, attributes.float("beta", 0.5)?);
            Box::new(move |x| (alpha * x + beta).clamp(0.0, 1.0))
        }
        "HardSwish" => Box::new(|x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0)),
        "Swish" => {
            let alpha = attributes.float("alpha", 1.0)?;
            Box::new(move |x| x * sigmoid(alpha * x))
        }
        "Mish" => Box::new(|x| x * softplus(x).tanh()),
        "Gelu" => match attributes.choice("approximate", "none", &["none", "tanh"])? {
            "tanh" => Box::new(gelu_by_tanh),
            _ => Box::new(|x| 0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))),
        },
        "Tanh" => Box::new(f64::tanh),
        "Softplus" => Box::new(softplus),
        "Softsign" => Box::new(|x| x / (1.0 + x.abs())),
        "Erf" => Box::new(libm::erf),
        "Exp" => Box::new(f64::exp),
        "Log" => Box::new(f64::ln),
        "Sqrt" => Box::new(f64::sqrt),
        "Reciprocal" => Box::new(|x| 1.0 / x),
        "Floor" => Box::new(f64::floor),
        "Ceil" => Box::new(f64::ceil),
        "Round" => Box::new(f64::round_ties_even),
        "Sin" => Box::new(f64::sin),
        "Cos" => Box::new(f64::cos),
        "Abs" => Box::new(f64::abs),
        "Neg" => Box::new(|x| -x),
        "Sign" => Box::new(|x| {
            if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                x
            }
        }),
        "Clip" => {
            let (low, high) = real_bounds(call, &attributes, with_inputs)?;
            Box::new(move |x| if x.is_nan() { x } else { x.max(low).min(high) })
        }
        op => return invalid(format!("{op} is no function of elements")),
    };
    attributes.finish()?;
    Ok(function)
}

/// The function of a node whose input holds integers.
fn whole_function(call: &Call<'_>, kind: ElementType, with_inputs: bool) -> Result<Box<dyn Fn(i64) -> i64>, Fault> {
    let range = whole_range(kind);
    let function: Box<dyn Fn(i64) -> i64> = match call.op() {
        "Relu" => Box::new(|x| x.max(0)),
        "Abs" => Box::new(move |x| wrap(kind, x.wrapping_abs())),
        "Neg" => Box::new(move |x| wrap(kind, x.wrapping_neg())),
        "Sign" => Box::new(i64::signum),
        "Clip" if call.opset >= 11 => {
            let bound = |index, default| match call.optional(index) {
                Some(_) if with_inputs => Ok(scalar(call.wholes(index)?)?),
                _ => Ok(default),
            };
            let (low, high) = (bound(1, *range.start())?, bound(2, *range.end())?);
            Box::new(move |x| x.max(low).min(high))
        }
        op => return invalid(format!("{op} takes real numbers, found {kind}")),
    };
    call.attributes().finish()?;
    Ok(function)
}

/// Bounds of `Clip`: attributes until operator set 10, then optional inputs.
fn real_bounds(
    call: &Call<'_>,
    attributes: &super::attributes::Attributes<'_>,
    with_inputs: bool,
) -> Result<(f64, f64), Fault> {
    if call.opset < 11 {
        if call.inputs.len() > 1 {
            return invalid("bounds are attributes before operator set 11, but it has inputs for them");
        }
        return Ok((attributes.float("min", f32::MIN)?, attributes.float("max", f32::MAX)?));
    }
    let bound = |index, default| match call.optional(index) {
        Some(_) if with_inputs => scalar(call.reals(index)?),
        _ => Ok(default),
    };
    Ok((bound(1, f64::NEG_INFINITY)?, bound(2, f64::INFINITY)?))
}

fn scalar<T: Copy>(elements: &[T]) -> Result<T, Fault> {
    match elements {
        [element] => Ok(*element),
        _ => invalid(format!("a bound has {} elements, expected one", elements.len())),
    }
}

/// The value of an integer type that has the low bits of `x`.
pub(super) fn wrap(kind: ElementType, x: i64) -> i64 {
    match kind {
        ElementType::I8 => i64::from(x as i8),
        ElementType::I16 => i64::from(x as i16),
        ElementType::I32 => i64::from(x as i32),
        ElementType::U8 => i64::from(x as u8),
        ElementType::U16 => i64::from(x as u16),
        ElementType::U32 => i64::from(x as u32),
        _ => x,
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// ln(1 + exp(x)) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn gelu_by_tanh(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x)).tanh())
}
