//! Sums, means and extremes over axes.

use crate::tensor::{Elements, Tensor};

use super::call::{axes, count, invalid, real, whole};
use super::index::{Walk, strides};
use super::unary::wrap;
use super::{Call, Fault, Operator, Signature, since};

const fn operator(name: &'static str) -> Operator {
    Operator { name, opsets: since(1), inputs: 1..=2, infer, compute }
}

pub(super) const OPERATORS: &[Operator] = &[
    operator("ReduceMean"),
    operator("ReduceSum"),
    operator("ReduceMax"),
    operator("ReduceMin"),
    operator("ReduceProd"),
    operator("ReduceL1"),
    operator("ReduceL2"),
    operator("ReduceSumSquare"),
];

struct Reduction {
    /// Whether each axis is reduced.
    is_reduced: Vec<bool>,
    shape: Vec<usize>,
}

fn reduction(call: &Call<'_>) -> Result<Reduction, Fault> {
    let attributes = call.attributes();
    let input = call.input(0)?;
    let input_axes_since = if call.op() == "ReduceSum" { 13 } else { 18 };
    let (listed, keeps_all) = match call.opset >= input_axes_since {
        true => (call.optional_wholes(1)?, attributes.flag("noop_with_empty_axes", false)?),
        false if call.inputs.len() > 1 => {
            return invalid(format!("axes are an attribute before operator set {input_axes_since}"));
        }
        false => (attributes.ints("axes")?, false),
    };
    let keeps_dims = attributes.flag("keepdims", true)?;
    attributes.finish()?;
    let rank = input.shape.len();
    let reduced = match listed {
        Some(list) if !list.is_empty() => axes(list, rank)?,
        _ if keeps_all => Vec::new(),
        _ => (0..rank).collect(),
    };
    if keeps_all && reduced.is_empty() && matches!(call.op(), "ReduceL1" | "ReduceL2" | "ReduceSumSquare") {
        return Err(Fault::unsupported("noop_with_empty_axes=1 without axes", "runtimes disagree about what it means"));
    }
    if !input.kind.is_float() && !matches!(call.op(), "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd") {
        return Err(Fault::unsupported(format!("an input of type {}", input.kind), "only real numbers are handled"));
    }
    let is_reduced: Vec<bool> = (0..rank).map(|axis| reduced.contains(&axis)).collect();
    if reduced.iter().any(|&axis| input.shape[axis] == 0) {
        return Err(Fault::unsupported("an axis without elements is reduced", "there is nothing to compute"));
    }
    let extents = input.shape.iter().zip(&is_reduced);
    let shape = extents
        .filter(|(_, reduced)| keeps_dims || !**reduced)
        .map(|(extent, reduced)| if *reduced { 1 } else { *extent });
    Ok(Reduction { shape: shape.collect(), is_reduced })
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, reduction(call)?.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let reduction = reduction(call)?;
    let input = call.tensor(0)?;
    let kind = input.element_type();
    let tensor = match input.elements() {
        Elements::Real(elements) => {
            let (start, step) = real_step(call.op())?;
            let mut output = reduction.fold(input.shape(), elements, start, step)?;
            let divisor = (elements.len() / output.len().max(1)) as f64;
            match call.op() {
                "ReduceMean" => output.iter_mut().for_each(|x| *x /= divisor),
                "ReduceL2" => output.iter_mut().for_each(|x| *x = x.sqrt()),
                _ => {}
            }
            real(kind, &reduction.shape, output)?
        }
        Elements::Whole(elements) => {
            let (start, step): (i64, fn(i64, i64) -> i64) = match call.op() {
                "ReduceMax" => (i64::MIN, i64::max),
                "ReduceMin" => (i64::MAX, i64::min),
                "ReduceProd" => (1, i64::wrapping_mul),
                _ => (0, i64::wrapping_add),
            };
            let output = reduction.fold(input.shape(), elements, start, step)?;
            whole(kind, &reduction.shape, output.into_iter().map(|x| wrap(kind, x)).collect())?
        }
    };
    Ok(vec![tensor])
}

/// Where a reduction starts and how it takes in an element.
type Step = (f64, fn(f64, f64) -> f64);

fn real_step(op: &str) -> Result<Step, Fault> {
    Ok(match op {
        "ReduceMean" | "ReduceSum" => (0.0, |sum, x| sum + x),
        "ReduceMax" => (f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
        "ReduceMin" => (f64::INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }),
        "ReduceProd" => (1.0, |product, x| product * x),
        "ReduceL1" => (0.0, |sum, x| sum + x.abs()),
        "ReduceL2" | "ReduceSumSquare" => (0.0, |sum, x| sum + x * x),
        op => return invalid(format!("{op} is no reduction")),
    })
}

impl Reduction {
    fn fold<T: Copy>(&self, input: &[usize], elements: &[T], start: T, step: fn(T, T) -> T) -> Result<Vec<T>, Fault> {
        let kept: Vec<usize> =
            input.iter().zip(&self.is_reduced).map(|(&extent, reduced)| if *reduced { 1 } else { extent }).collect();
        let mut output = vec![start; count(&kept)?];
        let own = strides(&kept).into_iter().zip(&self.is_reduced);
        let steps = own.map(|(stride, reduced)| if *reduced { 0 } else { stride as isize }).collect();
        for (element, place) in elements.iter().zip(Walk::new(input, steps, 0)) {
            output[place] = step(output[place], *element);
        }
        Ok(output)
    }
}
