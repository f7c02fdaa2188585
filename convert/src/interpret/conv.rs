//! Convolution over any number of spatial axes.

use crate::tensor::Tensor;

use super::call::{invalid, real};
use super::matrix::{Panels, in_parallel};
use super::window::{Axis, PADDING, WindowAttributes, kernel_extents, sources, tap_count, window_count};
use super::{Call, Fault, Operator, Signature, since};

pub(super) const OPERATORS: &[Operator] = &[Operator { name: "Conv", opsets: since(1), inputs: 2..=3, infer, compute }];

struct Geometry {
    axes: Vec<Axis>,
    groups: usize,
    /// Channels that each output channel reads.
    channels_read: usize,
    images: usize,
    channels_out: usize,
}

impl Geometry {
    fn read(call: &Call<'_>) -> Result<Self, Fault> {
        let attributes = call.attributes();
        let windows = WindowAttributes::read(&attributes, true)?;
        let group = attributes.int("group", 1)?;
        attributes.finish()?;
        let (input, weights) = (call.real_input(0)?, call.real_input(1)?);
        let (x, w) = (input.shape, weights.shape);
        if x.len() < 3 || w.len() != x.len() {
            return invalid(format!("an input of shape {x:?} and weights of shape {w:?}"));
        }
        if let Some(kernel) = windows.kernel
            && kernel_extents(kernel)? != w[2..]
        {
            return invalid(format!("kernel_shape={kernel:?}, but weights of shape {w:?}"));
        }
        let groups = usize::try_from(group).unwrap_or(0);
        if groups == 0 || w[0] % groups != 0 || w[1].checked_mul(groups) != Some(x[1]) || w.contains(&0) {
            return invalid(format!("weights of shape {w:?} in {group} groups for an input of shape {x:?}"));
        }
        if let Some(bias) = call.optional(2)
            && (bias.shape != [w[0]] || !bias.kind.is_float())
        {
            return invalid(format!("a bias of type {} and shape {:?} for {} channels", bias.kind, bias.shape, w[0]));
        }
        let axes = windows.axes(&x[2..], &w[2..])?;
        Ok(Self { axes, groups, channels_read: w[1], images: x[0], channels_out: w[0] })
    }

    fn shape(&self) -> Vec<usize> {
        [self.images, self.channels_out].into_iter().chain(self.axes.iter().map(|axis| axis.output)).collect()
    }
}

fn infer(call: &Call<'_>) -> Result<Vec<Signature>, Fault> {
    Ok(vec![Signature::new(call.input(0)?.kind, Geometry::read(call)?.shape())])
}

fn compute(call: &Call<'_>) -> Result<Vec<Tensor>, Fault> {
    let geometry = Geometry::read(call)?;
    let (input, weights) = (call.reals(0)?, call.reals(1)?);
    let bias = call.optional(2).map(|_| call.reals(2)).transpose()?;
    let windows = window_count(&geometry.axes);
    let plane: usize = geometry.axes.iter().map(|axis| axis.input).product();
    let depth = geometry.channels_read * tap_count(&geometry.axes);
    let shape = geometry.shape();
    let mut output = vec![0.0; shape.iter().product()];
    if output.is_empty() {
        return Ok(vec![real(call.input(0)?.kind, &shape, output)?]);
    }
    let image_in = plane * geometry.channels_read * geometry.groups;
    for (image, output) in output.chunks_exact_mut(windows * geometry.channels_out).enumerate() {
        let input = &input[image * image_in..][..image_in];
        in_parallel(output, windows, windows * geometry.channels_out * depth, |first, output| {
            convolve(&geometry, input, weights, first, output);
        });
        if let Some(bias) = bias {
            for (plane, bias) in output.chunks_exact_mut(windows).zip(bias) {
                plane.iter_mut().for_each(|element| *element += bias);
            }
        }
    }
    Ok(vec![real(call.input(0)?.kind, &shape, output)?])
}

/// Output channels of one image from `first` on, as many as `output` holds.
fn convolve(geometry: &Geometry, input: &[f64], weights: &[f64], first: usize, output: &mut [f64]) {
    let windows = window_count(&geometry.axes);
    let taps = tap_count(&geometry.axes);
    let plane: usize = geometry.axes.iter().map(|axis| axis.input).product();
    let depth = geometry.channels_read * taps;
    let group_size = geometry.channels_out / geometry.groups;
    let last = first + output.len() / windows;
    let mut panels = Panels::new(depth);
    let mut places = Vec::new();
    let strip = Panels::strip(depth);
    for group in first / group_size..last.div_ceil(group_size) {
        let channels = (group * group_size).max(first)..((group + 1) * group_size).min(last);
        let input = &input[group * geometry.channels_read * plane..][..geometry.channels_read * plane];
        let weights = &weights[channels.start * depth..channels.end * depth];
        let output = &mut output[(channels.start - first) * windows..(channels.end - first) * windows];
        for start in (0..windows).step_by(strip) {
            panels.pack(strip.min(windows - start), |column, write| {
                sources(&geometry.axes, start + column, &mut places);
                for (channel, plane) in input.chunks_exact(plane).enumerate() {
                    for (tap, &place) in places.iter().enumerate().filter(|(_, place)| **place != PADDING) {
                        write(channel * taps + tap, plane[place]);
                    }
                }
            });
            panels.multiply(weights, |row, column, value| output[row * windows + start + column] = value);
        }
    }
}
