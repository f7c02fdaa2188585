//! Conv: dense, grouped and depthwise, over images and series.

use super::call::Call;
use super::window::{Frame, require_map};
use super::{Operand, Trouble, phases};
use crate::lower::ir::{Activation, Conv, Depthwise, Kind, Window};
use crate::lower::view::Axis;

/// Most weights that a convolution may have with the zeros of its groups and dilations.
const MAX_WEIGHTS: usize = 1 << 27;

/// Weights of a convolution as the model states them: `[filter][channel of the group][taps]`.
pub struct Filters<'g> {
    weights: &'g [f64],
    /// Numbers that are added to the filters.
    pub bias: Vec<f64>,
    group: usize,
    /// Channels of the input.
    pub channels: usize,
    /// For each channel of the model, its place in memory.
    order: Vec<usize>,
    taps: Taps,
}

/// `Conv(x, w, b)`.
pub fn conv(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    let (weights, shape) = call.needed_weights(1)?;
    let group = call.int("group", 1)?;
    let channels = x.extent.c;
    let found = || format!("weights of shape {shape:?} with group = {group} for {channels} channels");
    let fits = |&group: &usize| {
        group > 0 && shape.len() == x.view.rank() && shape[0] % group == 0 && shape[1] * group == channels
    };
    let Some(group) = usize::try_from(group).ok().filter(fits) else {
        return Err(Trouble::refuse(found(), "they do not fit together"));
    };
    let bias = match call.weights(2)? {
        None => vec![0.0; shape[0]],
        Some((bias, _)) if bias.len() == shape[0] => bias.to_vec(),
        Some((_, shape)) => {
            let found = format!("a bias of shape {shape:?} for weights of shape {:?}", call.needed_weights(1)?.1);
            return Err(Trouble::refuse(found, "they do not fit together"));
        }
    };
    let frame = Frame::read(call, &x, Some(&shape[2..]))?;
    let order = x.view.offsets(1..2, &[Axis::C], x.extent);
    let filters = Filters { weights, bias, group, channels, order, taps: Taps::new(&frame) };
    let (window, extent) = match frame.window(x.extent, shape[0]) {
        Ok(geometry) => geometry,
        Err(trouble) => return phases::conv(call, &x, &frame, &filters).unwrap_or(Err(trouble)),
    };
    let is_depthwise = group == channels && shape[0] == channels && channels > 1;
    let grown =
        if is_depthwise { 1 } else { channels }.checked_mul(shape[0]).and_then(|n| n.checked_mul(window.area()));
    if grown.is_none_or(|elements| elements > MAX_WEIGHTS) {
        let found = format!("weights of shape {shape:?} with group = {group} and a kernel of {:?}", window.kernel);
        return Err(Trouble::refuse(found, "with the zeros that a .nk layer needs they would be too large"));
    }
    let (kind, view) = if is_depthwise {
        (Kind::Depthwise(filters.depthwise(window)), x.view.clone())
    } else {
        (Kind::Conv(filters.full(window)), x.view.with_axis(1, Axis::C, extent))
    };
    let view = spatial_axes(&x).into_iter().fold(view, |view, (dim, axis)| view.with_axis(dim, axis, extent));
    if filters.taps.is_dilated() {
        let rewrite = "zeros put between the taps of a dilated kernel";
        return Ok(call.push_rewritten(kind, &[&x], (extent, view), rewrite));
    }
    Ok(call.push(kind, &[&x], extent, view))
}

impl Filters<'_> {
    /// One filter for each channel, in the order of memory.
    fn depthwise(&self, window: Window) -> Depthwise {
        let mut weights = vec![0.0; self.channels * window.area()];
        let mut bias = vec![0.0; self.channels];
        for (filter, &channel) in self.order.iter().enumerate() {
            bias[channel] = self.bias[filter];
            for (tap, at) in self.taps.each() {
                weights[channel * window.area() + at] = self.weights[filter * self.taps.count() + tap];
            }
        }
        Depthwise { window, weights, bias, activation: Activation::None, quant: None }
    }

    /// Filters over all channels, with zeros for those outside of the filter's group.
    pub fn full(&self, window: Window) -> Conv {
        let (filters, channels) = (self.bias.len(), self.channels);
        let (filters_of_group, channels_of_group) = (filters / self.group, channels / self.group);
        let mut weights = vec![0.0; filters * window.area() * channels];
        for filter in 0..filters {
            let first = filter / filters_of_group * channels_of_group;
            for input in 0..channels_of_group {
                let source = (filter * channels_of_group + input) * self.taps.count();
                for (tap, at) in self.taps.each() {
                    let target = (filter * window.area() + at) * channels + self.order[first + input];
                    weights[target] = self.weights[source + tap];
                }
            }
        }
        Conv { window, weights, bias: self.bias.clone(), activation: Activation::None, is_dense: false, quant: None }
    }
}

/// The spatial dimensions of a map and their axes.
pub fn spatial_axes(x: &Operand) -> Vec<(usize, Axis)> {
    match x.view.rank() {
        3 => vec![(2, Axis::W)],
        _ => vec![(2, Axis::H), (3, Axis::W)],
    }
}

/// Places of a kernel's taps in the dilated kernel.
pub struct Taps {
    kernel: (usize, usize),
    dilations: (usize, usize),
}

impl Taps {
    /// Of a window.
    pub fn new(frame: &Frame) -> Self {
        Self { kernel: frame.kernel(), dilations: frame.dilations() }
    }

    /// Number of taps.
    pub fn count(&self) -> usize {
        self.kernel.0 * self.kernel.1
    }

    /// Whether there are gaps between taps.
    pub fn is_dilated(&self) -> bool {
        self.dilations.0 > 1 && self.kernel.0 > 1 || self.dilations.1 > 1 && self.kernel.1 > 1
    }

    /// Index of each tap, and its index in the dilated kernel.
    pub fn each(&self) -> impl Iterator<Item = (usize, usize)> {
        let ((rows, columns), (down, right)) = (self.kernel, self.dilations);
        let span = right * (columns - 1) + 1;
        (0..rows).flat_map(move |y| (0..columns).map(move |x| (y * columns + x, y * down * span + x * right)))
    }
}
