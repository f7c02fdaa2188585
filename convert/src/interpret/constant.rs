//! Constants, ranges and facts about shapes.

use crate::tensor::{ElementType, Elements, Tensor};

use super::call::{invalid, real, whole};
use super::index::reshaped;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Constant", opsets: since(1), inputs: 0..=0, infer: infer_by_computing, compute: constant },
    Operator { name: "ConstantOfShape", opsets: since(9), inputs: 1..=1, infer: infer_filled, compute: filled },
    Operator { name: "Range", opsets: since(11), inputs: 3..=3, infer: infer_range, compute: range },
    Operator { name: "Shape", opsets: since(1), inputs: 1..=1, infer: infer_by_computing, compute: shape },
    Operator { name: "Size", opsets: since(1), inputs: 1..=1, infer: infer_by_computing, compute: size },
];

fn infer_by_computing(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let compute = match call.op() {
        "Constant" => constant,
        "Shape" => shape,
        _ => size,
    };
    let outputs = compute(call)?;
    Ok(outputs.iter().map(|tensor| Signature::new(tensor.element_type(), tensor.shape())).collect())
}

fn constant(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let attributes = call.attributes();
    let mut found = Vec::new();
    if let Some(tensor) = attributes.tensor("value")? {
        found.push(reshaped(tensor, tensor.shape())?);
    }
    if call.opset >= 12 {
        if call.node.attributes.contains_key("value_float") {
            found.push(real(ElementType::F32, &[], vec![attributes.float("value_float", 0.0)?])?);
        }
        if let Some(int) = attributes.optional_int("value_int")? {
            found.push(whole(ElementType::I64, &[], vec![int])?);
        }
        if let Some(floats) = attributes.floats("value_floats")? {
            let elements: Vec<f64> = floats.iter().map(|&x| f64::from(x)).collect();
            found.push(real(ElementType::F32, &[elements.len()], elements)?);
        }
        if let Some(ints) = attributes.ints("value_ints")? {
            found.push(whole(ElementType::I64, &[ints.len()], ints.to_vec())?);
        }
    }
    attributes.finish()?;
    match found.len() {
        1 => Ok(found),
        count => invalid(format!("{count} values are given, expected one")),
    }
}

fn infer_filled(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let attributes = call.attributes();
    let kind = attributes.tensor("value")?.map_or(ElementType::F32, Tensor::element_type);
    attributes.finish()?;
    let extent =
        |&extent: &i64| usize::try_from(extent).or_else(|_| invalid(format!("its shape has an extent {extent}")));
    let shape = call.wholes(0)?.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![Signature { kind, shape }])
}

fn filled(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let Signature { kind, shape } = infer_filled(call)?.remove(0);
    let count = super::call::count(&shape)?;
    let tensor = match call.attributes().tensor("value")?.map(Tensor::elements) {
        None => real(kind, &shape, vec![0.0; count])?,
        Some(Elements::Real(value)) if value.len() == 1 => real(kind, &shape, vec![value[0]; count])?,
        Some(Elements::Whole(value)) if value.len() == 1 => whole(kind, &shape, vec![value[0]; count])?,
        Some(_) => return invalid("its value does not have exactly one element"),
    };
    Ok(vec![tensor])
}

fn infer_range(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let attributes = call.attributes();
    if call.opset >= 27 {
        attributes.ignore(&["stash_type"]);
    }
    attributes.finish()?;
    let ends = (call.tensor(0)?, call.tensor(1)?, call.tensor(2)?);
    let kind = ends.0.element_type();
    let count = match (ends.0.elements(), ends.1.elements(), ends.2.elements()) {
        (Elements::Real(a), Elements::Real(b), Elements::Real(d)) if [a.len(), b.len(), d.len()] == [1; 3] => {
            let count = ((b[0] - a[0]) / d[0]).ceil();
            if !count.is_finite() || count >= 1e15 {
                return invalid(format!("it counts from {} to {} by {}", a[0], b[0], d[0]));
            }
            count.max(0.0) as usize
        }
        (Elements::Whole(a), Elements::Whole(b), Elements::Whole(d)) if [a.len(), b.len(), d.len()] == [1; 3] => {
            let (a, b, d) = (i128::from(a[0]), i128::from(b[0]), i128::from(d[0]));
            if d == 0 {
                return invalid("it counts by 0");
            }
            let steps = (b - a) / d + i128::from((b - a) % d != 0 && ((b - a) < 0) == (d < 0));
            usize::try_from(steps.max(0)).or_else(|_| invalid("it counts too far"))?
        }
        _ => return invalid("its inputs are not three numbers of the same type"),
    };
    Ok(vec![Signature::new(kind, [count])])
}

fn range(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let Signature { kind, shape } = infer_range(call)?.remove(0);
    let count = shape[0];
    let tensor = match kind.is_float() {
        true => {
            let (start, delta) = (call.reals(0)?[0], call.reals(2)?[0]);
            real(kind, &shape, (0..count).map(|i| start + i as f64 * delta).collect())?
        }
        false => {
            let (start, delta) = (call.wholes(0)?[0], call.wholes(2)?[0]);
            let element = |i| start.wrapping_add(delta.wrapping_mul(i as i64));
            whole(kind, &shape, (0..count).map(element).collect())?
        }
    };
    Ok(vec![tensor])
}

/// The extents, or from operator set 15 on a range of them.
fn shape(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let attributes = call.attributes();
    let input = call.input(0)?.shape;
    let rank = input.len() as i64;
    let (mut start, mut end) = (0, rank);
    if call.opset >= 15 {
        let place = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank);
        start = place(attributes.int("start", 0)?);
        end = place(attributes.int("end", rank)?).max(start);
    }
    attributes.finish()?;
    let extents: Vec<i64> = input[start as usize..end as usize].iter().map(|&extent| extent as i64).collect();
    Ok(vec![whole(ElementType::I64, &[extents.len()], extents)?])
}

fn size(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    call.attributes().finish()?;
    let count: usize = call.input(0)?.shape.iter().product();
    Ok(vec![whole(ElementType::I64, &[], vec![count as i64])?])
}
