//! Conv: dense, grouped and depthwise, over images and series.

use super::call::Call;
use super::window::{Frame, require_map};
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Conv, Depthwise, Kind};
use crate::lower::view::Axis;

/// `Conv(x, w, b)`.
pub fn conv(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    let (weights, shape) = call.needed_weights(1)?;
    let (rank, channels) = (x.view.rank(), x.extent.c);
    let group = call.int("group", 1)?;
    let found = || format!("weights of shape {shape:?} with group = {group} for {channels} channels");
    let group = usize::try_from(group).ok().filter(|&group| group > 0);
    let Some(group) =
        group.filter(|group| shape.len() == rank && shape[0] % group == 0 && shape[1] * group == channels)
    else {
        return Err(Trouble::refuse(found(), "they do not fit together"));
    };
    let filters = shape[0];
    let bias = match call.weights(2)? {
        None => vec![0.0; filters],
        Some((bias, _)) if bias.len() == filters => bias.to_vec(),
        Some((_, shape)) => {
            return Err(Trouble::refuse(
                format!("a bias of shape {shape:?} for {filters} filters"),
                "they do not fit together",
            ));
        }
    };
    let frame = Frame::read(call, &x, Some(&shape[2..]))?;
    let (window, extent) = frame.window(x.extent, filters)?;
    let taps = Taps::new(&frame);
    let order = x.view.offsets(1..2, &[Axis::C], x.extent);
    let spatial = spatial_axes(&x);
    if group == channels && filters == channels && channels > 1 {
        let mut depthwise = vec![0.0; channels * window.area()];
        let mut permuted_bias = vec![0.0; channels];
        for (filter, &channel) in order.iter().enumerate() {
            permuted_bias[channel] = bias[filter];
            for (tap, at) in taps.each() {
                depthwise[channel * window.area() + at] = weights[filter * taps.count() + tap];
            }
        }
        let kind = Depthwise { window, weights: depthwise, bias: permuted_bias, activation: Activation::None };
        let view = spatial.iter().fold(x.view.clone(), |view, &(dim, axis)| view.with_axis(dim, axis, extent));
        return Ok(push(call, Kind::Depthwise(kind), &x, extent, view, &taps));
    }
    let per_group = (filters / group, channels / group);
    let mut full = vec![0.0; filters * window.area() * channels];
    for filter in 0..filters {
        let first = filter / per_group.0 * per_group.1;
        for input in 0..per_group.1 {
            for (tap, at) in taps.each() {
                let weight = weights[(filter * per_group.1 + input) * taps.count() + tap];
                full[(filter * window.area() + at) * channels + order[first + input]] = weight;
            }
        }
    }
    let kind = Conv { window, weights: full, bias, activation: Activation::None, is_dense: false };
    let view = spatial
        .iter()
        .fold(x.view.with_axis(1, Axis::C, extent), |view, &(dim, axis)| view.with_axis(dim, axis, extent));
    Ok(push(call, Kind::Conv(kind), &x, extent, view, &taps))
}

fn push(
    call: &mut Call<'_, '_>,
    kind: Kind,
    x: &Operand,
    extent: crate::lower::ir::Extent,
    view: crate::lower::view::View,
    taps: &Taps,
) -> Operand {
    if taps.is_dilated() {
        return call.push_rewritten(kind, &[x], (extent, view), "zeros put between the taps of a dilated kernel");
    }
    call.push(kind, &[x], extent, view)
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
