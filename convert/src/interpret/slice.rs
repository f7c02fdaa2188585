//! Parts of a tensor with steps.

use crate::tensor::Tensor;

use super::call::{axes, invalid};
use super::index::{Walk, pick, strides};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] =
    &[Operator { name: "Slice", opsets: since(1), inputs: 1..=5, infer, compute }];

/// For each axis the first index, the step and the number of indices.
type Ranges = Vec<(usize, i64, usize)>;

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let shape: Vec<usize> = ranges(call)?.iter().map(|&(_, _, count)| count).collect();
    Ok(vec![Signature::new(call.input(0)?.kind, shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let ranges = ranges(call)?;
    let input = call.tensor(0)?;
    let own = strides(input.shape());
    let shape: Vec<usize> = ranges.iter().map(|&(_, _, count)| count).collect();
    let steps = ranges.iter().zip(&own).map(|(&(_, step, _), &stride)| (step as isize).wrapping_mul(stride as isize));
    let start = ranges.iter().zip(&own).map(|(&(start, ..), &stride)| start * stride).sum();
    Ok(vec![pick(input, &shape, Walk::new(&shape, steps.collect(), start))?])
}

fn ranges(call: &Call<'_>) -> Result<Ranges, Fault> {
    let attributes = call.attributes();
    let (starts, ends, listed, steps) = match call.opset {
        10.. => (call.wholes(1)?, call.wholes(2)?, call.optional_wholes(3)?, call.optional_wholes(4)?),
        _ if call.inputs.len() > 1 => return invalid("ranges are attributes before operator set 10"),
        _ => (attributes.required_ints("starts")?, attributes.required_ints("ends")?, attributes.ints("axes")?, None),
    };
    attributes.finish()?;
    let input = call.input(0)?.shape;
    let in_order: Vec<i64> = (0..starts.len() as i64).collect();
    let listed = axes(listed.unwrap_or(&in_order), input.len())?;
    let ones = vec![1; starts.len()];
    let steps = steps.unwrap_or(&ones);
    if [ends.len(), listed.len(), steps.len()] != [starts.len(); 3] {
        return invalid(format!(
            "{} starts, {} ends, {} axes and {} steps",
            starts.len(),
            ends.len(),
            listed.len(),
            steps.len()
        ));
    }
    let mut ranges: Ranges = input.iter().map(|&extent| (0, 1, extent)).collect();
    for (index, &axis) in listed.iter().enumerate() {
        ranges[axis] = range(starts[index], ends[index], steps[index], input[axis] as i64)?;
    }
    Ok(ranges)
}

/// Start, step and count of one axis under numpy's rules.
fn range(start: i64, end: i64, step: i64, extent: i64) -> Result<(usize, i64, usize), Fault> {
    let from_start = |at: i64| if at < 0 { at.saturating_add(extent) } else { at };
    let (low, high) = match step {
        0 => return invalid("its step is 0"),
        1.. => (0, extent),
        _ => (-1, extent - 1),
    };
    let start = from_start(start).clamp(low.max(0), high.max(0));
    let end = from_start(end).clamp(low, high);
    let distance = if step > 0 { end - start } else { start - end };
    let count = if extent == 0 || distance <= 0 { 0 } else { (distance as u64).div_ceil(step.unsigned_abs()) };
    // A step that is never taken must not overflow indices.
    let step = if count <= 1 { 1 } else { step };
    Ok((start as usize, step, count as usize))
}
