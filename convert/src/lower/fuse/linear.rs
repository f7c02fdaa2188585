//! Linear operations of one operand as convolutions, so that two of them can become one.

use crate::lower::ir::{Activation, Affine, Conv, Depthwise, Id, Ir, Kind, Window};

/// A convolution, depthwise convolution, scale and shift, or nothing at all, of one operand.
#[derive(Clone, Debug)]
pub enum Linear {
    /// Channels stay apart.
    PerChannel(Depthwise),
    /// Channels mix.
    Full(Conv),
}

impl Linear {
    /// The operand itself.
    pub fn identity(channels: usize) -> Self {
        Self::scaled(&Affine { scale: vec![1.0; channels], shift: vec![0.0; channels], activation: Activation::None })
    }

    fn scaled(affine: &Affine) -> Self {
        Self::PerChannel(Depthwise {
            window: Window::POINT,
            weights: affine.scale.clone(),
            bias: affine.shift.clone(),
            activation: affine.activation,
            quant: None,
        })
    }

    /// What `id` computes of `root`, if it is linear up to its activation and nobody else needs it.
    pub fn of(ir: &Ir, id: Id, root: Id, reads: &[usize]) -> Option<Self> {
        let op = &ir.ops[id];
        if id == root {
            return Some(Self::identity(op.extent.c));
        }
        if op.inputs != [root] || reads[id] != 1 {
            return None;
        }
        match &op.kind {
            Kind::Conv(conv) => Some(Self::Full(conv.clone())),
            Kind::Depthwise(conv) => Some(Self::PerChannel(conv.clone())),
            Kind::Affine(affine) if affine.scale.len() == op.extent.c => Some(Self::scaled(affine)),
            _ => None,
        }
    }

    /// Geometry.
    pub fn window(&self) -> Window {
        match self {
            Self::PerChannel(conv) => conv.window,
            Self::Full(conv) => conv.window,
        }
    }

    /// Function of the result.
    pub fn activation(&self) -> Activation {
        match self {
            Self::PerChannel(conv) => conv.activation,
            Self::Full(conv) => conv.activation,
        }
    }

    /// Changes the function of the result.
    pub fn set_activation(&mut self, activation: Activation) {
        match self {
            Self::PerChannel(conv) => conv.activation = activation,
            Self::Full(conv) => conv.activation = activation,
        }
    }

    /// Whether it can be a dense layer.
    pub fn is_dense(&self) -> bool {
        matches!(self, Self::Full(conv) if conv.is_dense)
    }

    /// The same function with a larger window, as a full convolution of `channels` channels.
    pub fn widened(&self, window: Window, channels: usize) -> Conv {
        match self {
            Self::Full(conv) => {
                let filters = conv.bias.len();
                let mut weights = vec![0.0; filters * window.area() * channels];
                for filter in 0..filters {
                    for (from, to) in moved(conv.window, window) {
                        let (from, to) = (filter * conv.window.area() + from, filter * window.area() + to);
                        let source = &conv.weights[from * channels..][..channels];
                        weights[to * channels..][..channels].copy_from_slice(source);
                    }
                }
                Conv { window, weights, ..conv.clone() }
            }
            Self::PerChannel(conv) => {
                let mut weights = vec![0.0; channels * window.area() * channels];
                for channel in 0..channels {
                    for (from, to) in moved(conv.window, window) {
                        let weight = conv.weights[channel * conv.window.area() + from];
                        weights[(channel * window.area() + to) * channels + channel] = weight;
                    }
                }
                let (bias, activation) = (conv.bias.clone(), conv.activation);
                Conv { window, weights, bias, activation, is_dense: false, quant: None }
            }
        }
    }

    /// The same function with a larger window, channel by channel; `None` if channels mix.
    pub fn widened_per_channel(&self, window: Window) -> Option<Depthwise> {
        let Self::PerChannel(conv) = self else { return None };
        let channels = conv.bias.len();
        let mut weights = vec![0.0; channels * window.area()];
        for channel in 0..channels {
            for (from, to) in moved(conv.window, window) {
                weights[channel * window.area() + to] = conv.weights[channel * conv.window.area() + from];
            }
        }
        Some(Depthwise { window, weights, bias: conv.bias.clone(), activation: conv.activation, quant: None })
    }
}

/// The smallest window that covers two of the same stride.
pub fn common_window(a: Window, b: Window) -> Option<Window> {
    if a.stride != b.stride {
        return None;
    }
    let span = |before: usize, other: usize, kernel: usize, other_kernel: usize| {
        let start = before.max(other);
        (start, start + kernel.saturating_sub(before).max(other_kernel.saturating_sub(other)))
    };
    let (top, rows) = span(a.before.0, b.before.0, a.kernel.0, b.kernel.0);
    let (left, columns) = span(a.before.1, b.before.1, a.kernel.1, b.kernel.1);
    Some(Window { kernel: (rows, columns), stride: a.stride, before: (top, left) })
}

/// Index of each tap of a window, and its index in a larger one around the same place.
fn moved(from: Window, to: Window) -> impl Iterator<Item = (usize, usize)> {
    let (down, right) = (to.before.0 - from.before.0, to.before.1 - from.before.1);
    let (rows, columns) = from.kernel;
    (0..rows).flat_map(move |y| (0..columns).map(move |x| (y * columns + x, (y + down) * to.kernel.1 + x + right)))
}

/// The operation that several linear operations have in common as their operand.
pub fn common_root(ir: &Ir, parts: &[Id]) -> Option<Id> {
    let candidates = parts.iter().flat_map(|&part| std::iter::once(part).chain(ir.ops[part].inputs.first().copied()));
    let reaches = |part: Id, root: Id| part == root || ir.ops[part].inputs == [root];
    candidates.into_iter().find(|&root| parts.iter().all(|&part| reaches(part, root)))
}
