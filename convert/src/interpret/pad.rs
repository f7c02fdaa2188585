//! Borders around a tensor.

use crate::tensor::{Elements, Tensor};

use super::call::{axes, invalid, real, whole};
use super::index::strides;
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[Operator { name: "Pad", opsets: since(2), inputs: 1..=4, infer, compute }];

/// What is added (or, if negative, cut off) before and behind each axis, and how.
struct Padding {
    begin: Vec<i64>,
    shape: Vec<usize>,
    mode: &'static str,
    /// The attribute of operator sets below 11.
    value: f64,
}

fn padding(call: &Call<'_>) -> Result<Padding, Fault> {
    let attributes = call.attributes();
    let mut modes = vec!["constant", "reflect", "edge"];
    if call.opset >= 19 {
        modes.push("wrap");
    }
    let mode = attributes.choice("mode", "constant", &modes)?;
    let input = call.input(0)?.shape;
    let rank = input.len();
    let (pads, value) = match call.opset {
        11.. => (call.wholes(1)?, 0.0),
        _ if call.inputs.len() > 1 => return invalid("pads are an attribute before operator set 11"),
        _ => (attributes.required_ints("pads")?, attributes.float("value", 0.0)?),
    };
    attributes.finish()?;
    let listed = match call.optional_wholes(3)? {
        Some(_) if call.opset < 18 => return invalid("axes exist from operator set 18 on"),
        Some(list) => axes(list, rank)?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * listed.len() {
        return invalid(format!("{} pads for {} axes", pads.len(), listed.len()));
    }
    let mut begin = vec![0; rank];
    let mut shape = input.to_vec();
    for (index, &axis) in listed.iter().enumerate() {
        let (before, behind) = (pads[index], pads[index + listed.len()]);
        let total = i128::from(before) + i128::from(behind) + shape[axis] as i128;
        let lacks_elements = mode != "constant" && (before > 0 || behind > 0) && shape[axis] == 0;
        let longest = shape[axis] as i64 - i64::from(mode == "reflect");
        let too_long = matches!(mode, "reflect" | "wrap") && before.max(behind) > longest;
        shape[axis] = match usize::try_from(total) {
            Ok(total) if !lacks_elements && !too_long => total,
            _ => return invalid(format!("pads {before} and {behind} in mode {mode} on an axis of {}", shape[axis])),
        };
        begin[axis] = before;
    }
    Ok(Padding { begin, shape, mode, value })
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, padding(call)?.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let padding = padding(call)?;
    let input = call.tensor(0)?;
    let kind = input.element_type();
    let places = padding.places(input.shape());
    let value = call.optional(2).is_some();
    let tensor = match input.elements() {
        Elements::Real(from) => {
            let value = if value { single(call.reals(2)?)? } else { padding.value };
            real(kind, &padding.shape, places.map(|place| place.map_or(value, |place| from[place])).collect())?
        }
        Elements::Whole(from) => {
            let value = if value { single(call.wholes(2)?)? } else { padding.value as i64 };
            whole(kind, &padding.shape, places.map(|place| place.map_or(value, |place| from[place])).collect())?
        }
    };
    Ok(vec![tensor])
}

fn single<T: Copy>(elements: &[T]) -> Result<T, Fault> {
    match elements {
        [element] => Ok(*element),
        _ => invalid(format!("the constant has {} elements, expected one", elements.len())),
    }
}

impl Padding {
    /// For each element of the result the flat index in the input; `None` is the constant.
    fn places<'p>(&'p self, input: &'p [usize]) -> impl Iterator<Item = Option<usize>> + use<'p> {
        let own = strides(input);
        let sources: Vec<Vec<Option<usize>>> = (0..input.len())
            .map(|axis| {
                let source = |at: usize| self.source(at as i64 - self.begin[axis], input[axis] as i64);
                (0..self.shape[axis]).map(|at| source(at).map(|place| place * own[axis])).collect()
            })
            .collect();
        let total: usize = self.shape.iter().product();
        (0..total).map(move |mut index| {
            let mut sum = Some(0);
            for axis in (0..sources.len()).rev() {
                let place = sources[axis][index % self.shape[axis]];
                index /= self.shape[axis];
                sum = sum.zip(place).map(|(sum, place)| sum + place);
            }
            sum
        })
    }

    /// Where an element at `at`, relative to the input, comes from.
    fn source(&self, at: i64, extent: i64) -> Option<usize> {
        if (0..extent).contains(&at) {
            return Some(at as usize);
        }
        let place = match self.mode {
            "constant" => return None,
            "edge" => at.clamp(0, extent - 1),
            "wrap" => at.rem_euclid(extent),
            _ => {
                let period = (2 * (extent - 1)).max(1);
                let at = at.rem_euclid(period);
                at.min(period - at)
            }
        };
        Some(place as usize)
    }
}
