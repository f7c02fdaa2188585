//! Pooling.

use crate::tensor::Tensor;

use super::call::{count, invalid, real};
use super::window::{Axis, PADDING, WindowAttributes, kernel_extents, sources, window_count};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "MaxPool", opsets: since(1), inputs: 1..=1, infer, compute },
    Operator { name: "AveragePool", opsets: since(1), inputs: 1..=1, infer, compute },
    Operator { name: "GlobalMaxPool", opsets: since(1), inputs: 1..=1, infer: infer_global, compute: compute_global },
    Operator {
        name: "GlobalAveragePool",
        opsets: since(1),
        inputs: 1..=1,
        infer: infer_global,
        compute: compute_global,
    },
];

struct Pool {
    axes: Vec<Axis>,
    counts_padding: bool,
}

impl Pool {
    fn read(call: &Call<'_>) -> Result<Self, Fault> {
        let attributes = call.attributes();
        let is_max = call.op() == "MaxPool";
        let mut windows = WindowAttributes::read(&attributes, call.opset >= if is_max { 10 } else { 19 })?;
        windows.rounds_up = call.opset >= 10 && attributes.flag("ceil_mode", false)?;
        if is_max && call.opset >= 8 {
            // Only the indices depend on it, which are refused.
            attributes.ignore(&["storage_order"]);
        }
        let counts_padding = !is_max && attributes.flag("count_include_pad", false)?;
        let Some(kernel) = windows.kernel else {
            return invalid("attribute kernel_shape is missing");
        };
        attributes.finish()?;
        call.only_first_output("indices of the maxima")?;
        let input = spatial(call)?;
        Ok(Self { axes: windows.axes(input, &kernel_extents(kernel)?)?, counts_padding })
    }

    /// What the sum of a window is divided by.
    fn divisor(&self, window: usize, places: &[usize]) -> f64 {
        if !self.counts_padding {
            return places.iter().filter(|place| **place != PADDING).count() as f64;
        }
        let mut window = window;
        let mut product = 1;
        for axis in self.axes.iter().rev() {
            let place = window % axis.output;
            window /= axis.output;
            product *= (0..axis.kernel).filter(|&tap| axis.is_padded_source(place, tap)).count();
        }
        product as f64
    }
}

/// Spatial extents of an input.
fn spatial<'a>(call: &Call<'a>) -> Result<&'a [usize], Fault> {
    let input = call.input(0)?;
    if !input.kind.is_float() {
        return Err(Fault::unsupported(
            format!("an input of type {}", input.kind),
            "pools of integers are not handled",
        ));
    }
    match input.shape {
        [_, _, spatial @ ..] if !spatial.is_empty() && !spatial.contains(&0) => Ok(spatial),
        shape => invalid(format!("an input of shape {shape:?}, which has no spatial axes")),
    }
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    let pool = Pool::read(call)?;
    let input = call.input(0)?;
    let shape: Vec<usize> = input.shape[..2].iter().copied().chain(pool.axes.iter().map(|axis| axis.output)).collect();
    Ok(vec![Signature::new(input.kind, shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let pool = Pool::read(call)?;
    let Signature { kind, shape } = infer(call)?.remove(0);
    let input = call.reals(0)?;
    let plane = count(spatial(call)?)?;
    let windows = window_count(&pool.axes);
    let is_max = call.op() == "MaxPool";
    let mut output = vec![0.0; count(&shape)?];
    let mut places = Vec::new();
    for window in 0..windows {
        sources(&pool.axes, window, &mut places);
        let divisor = pool.divisor(window, &places);
        places.retain(|place| *place != PADDING);
        for (index, plane) in input.chunks_exact(plane).enumerate() {
            let elements = places.iter().map(|&place| plane[place]);
            output[index * windows + window] = if is_max { largest(elements) } else { elements.sum::<f64>() / divisor };
        }
    }
    Ok(vec![real(kind, &shape, output)?])
}

/// The largest element; not a number if one of them is not.
fn largest(elements: impl Iterator<Item = f64>) -> f64 {
    elements.fold(f64::NEG_INFINITY, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) })
}

fn infer_global(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    call.attributes().finish()?;
    let ones = vec![1; spatial(call)?.len()];
    let input = call.input(0)?;
    Ok(vec![Signature::new(input.kind, [&input.shape[..2], &ones].concat())])
}

fn compute_global(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let Signature { kind, shape } = infer_global(call)?.remove(0);
    let plane = count(spatial(call)?)?;
    let planes = call.reals(0)?.chunks_exact(plane);
    let output = match call.op() {
        "GlobalMaxPool" => planes.map(|plane| largest(plane.iter().copied())).collect(),
        _ => planes.map(|elements| elements.iter().sum::<f64>() / plane as f64).collect(),
    };
    Ok(vec![real(kind, &shape, output)?])
}
