//! Arithmetic of two or more tensors with broadcasting.

use crate::tensor::{ElementType, Elements, Tensor};

use super::broadcast::combine;
use super::call::{invalid, real, whole};
use super::index::{broadcast_shape, reshaped};
use super::unary::wrap;
use super::{ANY, Call, Fault, Operator, Signature, since};

const fn binary(name: &'static str, from: i64) -> Operator {
    Operator { name, opsets: since(from), inputs: 2..=2, infer, compute }
}

const fn variadic(name: &'static str) -> Operator {
    Operator { name, opsets: since(6), inputs: ANY, infer, compute }
}

pub(super) const OPERATORS: &[Operator] = &[
    binary("Add", 7),
    binary("Sub", 7),
    binary("Mul", 7),
    binary("Div", 7),
    binary("Pow", 7),
    binary("PRelu", 7),
    binary("Mod", 10),
    variadic("Min"),
    variadic("Max"),
    variadic("Sum"),
    variadic("Mean"),
];

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let fmod = is_fmod(call)?;
    let inputs = call.all_inputs()?;
    let kind = inputs[0].kind;
    let mut shape = inputs[0].shape.to_vec();
    for other in &inputs[1..] {
        // Only the exponent of a power may have another type.
        if other.kind != kind && call.op() != "Pow" {
            return invalid(format!("its inputs have the types {kind} and {}", other.kind));
        }
        shape = broadcast_shape(&shape, other.shape)?;
    }
    if call.op() == "PRelu" && shape != inputs[0].shape {
        return invalid(format!("slopes of shape {:?} do not fit input {:?}", inputs[1].shape, inputs[0].shape));
    }
    if call.op() == "Mod" && kind.is_float() && !fmod && call.opset < 28 {
        return invalid("real numbers need fmod=1 before operator set 28");
    }
    match kind.is_float() {
        true => drop(real_function(call.op(), fmod)?),
        false => drop(whole_function(call.op(), kind, fmod)?),
    }
    Ok(vec![Signature { kind, shape }])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let fmod = is_fmod(call)?;
    let first = call.tensor(0)?;
    let mut sum = match call.inputs.len() {
        1 => reshaped(first, first.shape())?,
        _ => pair(call.op(), fmod, first, call.tensor(1)?)?,
    };
    for index in 2..call.inputs.len() {
        sum = pair(call.op(), fmod, &sum, call.tensor(index)?)?;
    }
    if call.op() == "Mean"
        && let Elements::Real(elements) = sum.elements()
    {
        let count = call.inputs.len() as f64;
        sum = real(sum.element_type(), sum.shape(), elements.iter().map(|x| x / count).collect())?;
    }
    Ok(vec![sum])
}

fn pair(op: &str, fmod: bool, a: &Tensor, b: &Tensor) -> Result<Tensor, Fault> {
    let shape = broadcast_shape(a.shape(), b.shape())?;
    let kind = a.element_type();
    match (a.elements(), b.elements()) {
        (Elements::Real(x), Elements::Real(y)) => {
            let function = real_function(op, fmod)?;
            real(kind, &shape, combine((x, a.shape()), (y, b.shape()), &shape, function))
        }
        (Elements::Real(x), Elements::Whole(y)) => {
            let function = real_function(op, fmod)?;
            let function = |x, y: i64| function(x, y as f64);
            real(kind, &shape, combine((x, a.shape()), (y, b.shape()), &shape, function))
        }
        (Elements::Whole(x), Elements::Whole(y)) => {
            if matches!(op, "Div" | "Mod") && y.contains(&0) {
                return invalid("integers are divided by zero");
            }
            let function = whole_function(op, kind, fmod)?;
            whole(kind, &shape, combine((x, a.shape()), (y, b.shape()), &shape, function))
        }
        (Elements::Whole(x), Elements::Real(y)) => {
            let function = |x: i64, y: f64| wrap(kind, (x as f64).powf(y) as i64);
            whole(kind, &shape, combine((x, a.shape()), (y, b.shape()), &shape, function))
        }
    }
}

fn real_function(op: &str, fmod: bool) -> Result<fn(f64, f64) -> f64, Fault> {
    Ok(match op {
        "Add" | "Sum" | "Mean" => |a, b| a + b,
        "Sub" => |a, b| a - b,
        "Mul" => |a, b| a * b,
        "Div" => |a, b| a / b,
        "Pow" => f64::powf,
        "PRelu" => |x, slope| if x < 0.0 { slope * x } else { x },
        "Min" => |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) },
        "Max" => |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) },
        "Mod" if fmod => |a, b| a % b,
        "Mod" => |a, b| {
            let rest = a % b;
            if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
        },
        op => return invalid(format!("{op} is no arithmetic")),
    })
}

fn whole_function(op: &str, kind: ElementType, fmod: bool) -> Result<Box<dyn Fn(i64, i64) -> i64>, Fault> {
    if kind == ElementType::Bool {
        return invalid("truth values have no arithmetic");
    }
    let function: fn(i64, i64) -> i64 = match op {
        "Add" => i64::wrapping_add,
        "Sub" => i64::wrapping_sub,
        "Mul" => i64::wrapping_mul,
        "Div" => i64::wrapping_div,
        "Min" => i64::min,
        "Max" => i64::max,
        "Mod" if fmod => i64::wrapping_rem,
        "Mod" => |a, b| {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        },
        "Pow" => |base, exponent| match u32::try_from(exponent) {
            Ok(exponent) => base.wrapping_pow(exponent),
            Err(_) => (base as f64).powf(exponent as f64) as i64,
        },
        "PRelu" => |x, slope| if x < 0 { x.wrapping_mul(slope) } else { x },
        op => return invalid(format!("{op} takes real numbers, found {kind}")),
    };
    Ok(Box::new(move |a, b| wrap(kind, function(a, b))))
}

fn is_fmod(call: &Call<'_>) -> Result<bool, Fault> {
    let attributes = call.attributes();
    let fmod = call.op() == "Mod" && attributes.flag("fmod", false)?;
    attributes.finish()?;
    Ok(fmod)
}
