//! Shapes: reshaping, which costs nothing, and zeros around a map.

use super::{Call, Ends, Translated};
use crate::lower::import::Trouble;
use crate::lower::ir::{Extent, Kind};
use crate::tflite::model::{Model, Operation};

/// Extent of the input in memory: as the first operator reads it that does not only reshape it.
pub fn input_extent(model: &Model<'_>, ends: Ends) -> Result<Extent, Trouble> {
    let mut at = ends.input;
    let reshape = |at: usize| {
        let mut readers = model.operators.iter().filter(|operator| operator.inputs.contains(&Some(at)));
        let (reader, others) = (readers.next()?, readers.next());
        let is_reshape = others.is_none() && reader.operation == Operation::Reshape && reader.input(0) == Some(at);
        is_reshape.then_some(reader.outputs[0])
    };
    while let Some(next) = reshape(at).filter(|_| at != ends.output) {
        at = next;
    }
    let shape = &model.tensors[at].shape;
    let extent = match shape[..] {
        [c] => Extent { n: 1, h: 1, w: 1, c },
        [n, c] => Extent { n, h: 1, w: 1, c },
        [n, w, c] => Extent { n, h: 1, w, c },
        [n, h, w, c] => Extent { n, h, w, c },
        _ => {
            let found = format!("shape {shape:?}");
            return Err(Trouble::refuse(
                found,
                "an input is a row [batch, features] or a map [1, height, width, channels]",
            ));
        }
    };
    match extent.n * extent.elements() {
        0 => Err(Trouble::refuse(format!("shape {shape:?}"), "a tensor without elements has no place in a .nk model")),
        _ => Ok(extent),
    }
}

/// The same elements in the same order.
pub fn reshape(call: &mut Call<'_, '_, '_>) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let counts = (call.tensor(0).map(|tensor| tensor.elements()), call.output().elements());
    if counts.0 != Some(counts.1) {
        let found = format!("{} elements become {}", counts.0.unwrap_or(0), counts.1);
        return Err(Trouble::refuse(found, "reshaping keeps the number of elements"));
    }
    let (from, to) = (call.tensor(0).and_then(|tensor| tensor.params()), call.output().params());
    if call.is_int8() && from != to {
        let found = "another scale or zero point behind it".to_owned();
        return Err(Trouble::refuse(found, "reshaping does not change codes, so their meaning must stay"));
    }
    Ok(input)
}

/// Zeros around a map; what reads it takes them as its padding.
pub fn pad(call: &mut Call<'_, '_, '_>) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.map_extent(input)?;
    let amounts = call.tensor(1).and_then(|tensor| tensor.int32()).unwrap_or_default();
    let whole: Option<Vec<usize>> = amounts.iter().map(|&amount| usize::try_from(amount).ok()).collect();
    let Some([0, 0, top, bottom, left, right, 0, 0]) = whole.as_deref() else {
        let found = format!("amounts {amounts:?}");
        return Err(Trouble::refuse(found, "zeros are added above, below and beside a map, by constant int32 amounts"));
    };
    if call.is_int8() && call.params(call.tensor(0))? != call.params(Some(call.output()))? {
        let found = "another scale or zero point behind it".to_owned();
        return Err(Trouble::refuse(found, "padding does not change codes, so their meaning must stay"));
    }
    let grown = |size: usize, before: &usize, after: &usize| size.checked_add(*before)?.checked_add(*after);
    let sizes = grown(extent.h, top, bottom).zip(grown(extent.w, left, right));
    let Some((h, w)) = sizes else {
        return Err(Trouble::refuse(format!("amounts {amounts:?}"), "they are too large"));
    };
    let range = (input.range.0.min(0), input.range.1.max(0));
    Ok(call.push(
        Kind::Pad(*top, *left),
        &[input],
        Extent { h, w, ..extent },
        if call.is_int8() { (-128, 127) } else { range },
    ))
}
