//! Larger and smaller images by the nearest element.

use crate::tensor::Tensor;

use super::call::{axes, invalid};
use super::index::{pick, strides};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[
    Operator { name: "Resize", opsets: since(10), inputs: 1..=4, infer, compute },
    Operator { name: "Upsample", opsets: 7..=9, inputs: 1..=2, infer, compute },
];

struct Resize {
    shape: Vec<usize>,
    /// Output extent divided by input extent, as given.
    scales: Vec<f32>,
    coordinates: &'static str,
    rounding: &'static str,
}

fn resize(call: &Call<'_>) -> Result<Resize, Fault> {
    let attributes = call.attributes();
    let mode = attributes.choice("mode", "nearest", &["nearest", "linear", "cubic"])?;
    let (mut coordinates, mut rounding) = ("asymmetric", "floor");
    let mut policy = "stretch";
    let mut listed = None;
    if call.op() == "Resize" && call.opset >= 11 {
        let known = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"];
        let unhandled = ["tf_crop_and_resize", "half_pixel_symmetric"];
        let choices = [&known[..], &unhandled].concat();
        coordinates = attributes.choice("coordinate_transformation_mode", "half_pixel", &choices)?;
        let roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
        rounding = attributes.choice("nearest_mode", "round_prefer_floor", &roundings)?;
        if unhandled.contains(&coordinates) {
            let found = format!("coordinate_transformation_mode=\"{coordinates}\"");
            return Err(Fault::unsupported(found, "these coordinates are not handled"));
        }
        // They matter for other modes only.
        attributes.ignore(&["cubic_coeff_a", "exclude_outside", "extrapolation_value"]);
        if call.opset >= 18 {
            attributes.ignore(&["antialias"]);
            policy =
                attributes.choice("keep_aspect_ratio_policy", "stretch", &["stretch", "not_larger", "not_smaller"])?;
            listed = attributes.ints("axes")?;
        }
    }
    let (scales, sizes) = given(call, &attributes)?;
    attributes.finish()?;
    if mode != "nearest" {
        return Err(Fault::unsupported(format!("mode=\"{mode}\""), "only the nearest element is handled"));
    }
    let input = call.input(0)?.shape;
    let listed = match listed {
        Some(list) => axes(list, input.len())?,
        None => (0..input.len()).collect(),
    };
    let mut resize = Resize { shape: input.to_vec(), scales: vec![1.0; input.len()], coordinates, rounding };
    match (scales, sizes) {
        (Some(scales), None) => resize.scale(&listed, &scales, call.opset >= 11)?,
        (None, Some(_)) if policy != "stretch" => {
            let found = format!("keep_aspect_ratio_policy=\"{policy}\"");
            return Err(Fault::unsupported(found, "only \"stretch\" is handled"));
        }
        (None, Some(sizes)) => resize.set_sizes(&listed, &sizes)?,
        _ => return invalid("either scales or sizes have to be given"),
    }
    Ok(resize)
}

/// Scales or sizes, wherever the operator set keeps them. An empty list is no list.
type Given = (Option<Vec<f64>>, Option<Vec<i64>>);

fn given(call: &Call<'_>, attributes: &super::attributes::Attributes<'_>) -> Result<Given, Fault> {
    let list = |index| match call.optional(index) {
        Some(_) => Ok(Some(call.reals(index)?.to_vec()).filter(|list| !list.is_empty())),
        None => Ok(None),
    };
    if call.op() == "Upsample" && call.opset < 9 {
        let scales = attributes.floats("scales")?;
        return Ok((scales.map(|list| list.iter().map(|&scale| f64::from(scale)).collect()), None));
    }
    if call.op() == "Upsample" || call.opset == 10 {
        return Ok((list(1)?, None));
    }
    let sizes = call.optional_wholes(3)?.filter(|list| !list.is_empty());
    Ok((list(2)?, sizes.map(<[i64]>::to_vec)))
}

impl Resize {
    fn scale(&mut self, listed: &[usize], scales: &[f64], may_shrink: bool) -> Result<(), Fault> {
        if scales.len() != listed.len() {
            return invalid(format!("{} scales for {} axes", scales.len(), listed.len()));
        }
        for (&axis, &scale) in listed.iter().zip(scales) {
            let extent = (self.shape[axis] as f64 * scale).floor();
            if !(scale > 0.0 && extent < 1e15) {
                return invalid(format!("a scale {scale}"));
            }
            if scale < 1.0 && !may_shrink {
                return Err(Fault::unsupported(
                    format!("a scale {scale}"),
                    "this operator set does not define shrinking",
                ));
            }
            self.shape[axis] = extent as usize;
            self.scales[axis] = scale as f32;
        }
        Ok(())
    }

    fn set_sizes(&mut self, listed: &[usize], sizes: &[i64]) -> Result<(), Fault> {
        if sizes.len() != listed.len() {
            return invalid(format!("{} sizes for {} axes", sizes.len(), listed.len()));
        }
        for (&axis, &size) in listed.iter().zip(sizes) {
            let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0 && self.shape[axis] > 0) else {
                return invalid(format!("a size {size} for an axis of {}", self.shape[axis]));
            };
            self.scales[axis] = size as f32 / self.shape[axis] as f32;
            self.shape[axis] = size;
        }
        Ok(())
    }

    /// Index in the input for an index in the output. In single precision, as runtimes compute it: places that lie
    /// exactly between two elements would otherwise be rounded to the other one.
    fn source(&self, axis: usize, at: usize, input: usize) -> usize {
        let (x, scale, output) = (at as f32, self.scales[axis], self.shape[axis]);
        if input == output && scale == 1.0 {
            return at;
        }
        let place = match self.coordinates {
            "half_pixel" => (x + 0.5) / scale - 0.5,
            "pytorch_half_pixel" if output > 1 => (x + 0.5) / scale - 0.5,
            "pytorch_half_pixel" => 0.0,
            "align_corners" if output > 1 => x * (input as f32 - 1.0) / (output as f32 - 1.0),
            "align_corners" => 0.0,
            "tf_half_pixel_for_nn" => (x + 0.5) / scale,
            _ => x / scale,
        };
        let rounded = match self.rounding {
            "floor" => place.floor(),
            "ceil" => place.ceil(),
            "round_prefer_ceil" => (place + 0.5).floor(),
            _ => (place - 0.5).ceil(),
        };
        (rounded.max(0.0) as usize).min(input - 1)
    }
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, resize(call)?.shape)])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let resize = resize(call)?;
    let input = call.tensor(0)?;
    let own = strides(input.shape());
    let mut places = vec![0];
    for (axis, &extent) in input.shape().iter().enumerate() {
        let offsets: Vec<usize> =
            (0..resize.shape[axis]).map(|at| resize.source(axis, at, extent) * own[axis]).collect();
        places = places.iter().flat_map(|place| offsets.iter().map(move |offset| place + offset)).collect();
    }
    Ok(vec![pick(input, &resize.shape, places.into_iter())?])
}
