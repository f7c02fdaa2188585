//! What no layer computes by itself, written as layers that do.

use super::MAX_SQUARE;
use super::emit::geometry;
use super::ir::{Activation, Conv, Depthwise, Extent, Id, Ir, Kind, Op, Origin, PoolKind, Reduction, Window};
use super::view::Axis;

/// Expands everything that can be.
pub fn expand(ir: &mut Ir) {
    for id in ir.order() {
        let reads = ir.reads();
        match ir.ops[id].kind.clone() {
            Kind::PRelu(slopes) if slopes.len() <= MAX_SQUARE => prelu(ir, id, &slopes, &reads),
            Kind::Pool(kind, window) => pool(ir, id, kind, window),
            Kind::Crop { before, step } => crop(ir, id, before, step),
            Kind::Pad(top, left) => pad(ir, id, (top, left)),
            Kind::Reduce(Reduction::Mean, axes) => mean(ir, id, &axes),
            _ if ir.ops[id].extent.c == 2 => softmax_of_two(ir, id),
            _ => {}
        }
    }
}

/// Softmax over two channels is the logistic function of their differences.
fn softmax_of_two(ir: &mut Ir, id: Id) {
    let activation = match &mut ir.ops[id].kind {
        Kind::Conv(conv) => &mut conv.activation,
        Kind::Depthwise(conv) => &mut conv.activation,
        Kind::Affine(affine) => &mut affine.activation,
        _ => return,
    };
    if *activation != Activation::PixelSoftmax {
        return;
    }
    *activation = Activation::None;
    let origin = ir.ops[id].origin.clone().by("softmax over two channels as sigmoid of their differences");
    let logits = ir.push(ir.ops[id].clone());
    let weights = vec![1.0, -1.0, -1.0, 1.0];
    let differences = Conv { weights, activation: Activation::Sigmoid, ..identity(2, false) };
    ir.replace(id, Kind::Conv(differences), vec![logits], origin);
}

/// `relu(x) - s * relu(-x)`: twice the channels with ReLU, then a 1x1 convolution that joins them.
fn prelu(ir: &mut Ir, id: Id, slopes: &[f64], reads: &[usize]) {
    let (input, channels) = (ir.input(id), slopes.len());
    let rewrite = "slopes for each channel as ReLU of x and -x, and a 1x1 convolution";
    let origin = ir.ops[id].origin.clone().by(rewrite);
    let extent = Extent { c: 2 * channels, ..ir.ops[id].extent };
    let is_dense = is_dense(ir, input);
    let both = match &ir.ops[input].kind {
        Kind::Conv(conv) if conv.activation == Activation::None && reads[input] == 1 => {
            let conv = Conv { activation: Activation::Relu, ..with_negatives(conv) };
            let origin = origin.clone().and(&ir.ops[input].origin);
            Op { kind: Kind::Conv(conv), inputs: ir.ops[input].inputs.clone(), extent, origin }
        }
        _ => {
            let conv = Conv { activation: Activation::Relu, ..with_negatives(&identity(channels, is_dense)) };
            Op { kind: Kind::Conv(conv), inputs: vec![input], extent, origin: origin.clone() }
        }
    };
    let both = ir.push(both);
    let mut join = Conv { weights: vec![0.0; 2 * channels * channels], ..identity(channels, is_dense) };
    for (channel, slope) in slopes.iter().enumerate() {
        join.weights[channel * 2 * channels + channel] = 1.0;
        join.weights[channel * 2 * channels + channels + channel] = -slope;
    }
    ir.replace(id, Kind::Conv(join), vec![both], origin);
}

fn is_dense(ir: &Ir, id: Id) -> bool {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => conv.is_dense,
        _ => false,
    }
}

/// The 1x1 convolution that changes nothing.
pub fn identity(channels: usize, is_dense: bool) -> Conv {
    let mut weights = vec![0.0; channels * channels];
    weights.iter_mut().step_by(channels + 1).for_each(|weight| *weight = 1.0);
    Conv {
        window: Window::POINT,
        weights,
        bias: vec![0.0; channels],
        activation: Activation::None,
        is_dense,
        quant: None,
    }
}

/// The same filters, and behind them their negatives.
fn with_negatives(conv: &Conv) -> Conv {
    let twice = |values: &[f64]| values.iter().copied().chain(values.iter().map(|value| -value)).collect();
    Conv { weights: twice(&conv.weights), bias: twice(&conv.bias), ..conv.clone() }
}

/// A pool whose record would give further rows or columns: they are cut off again by a depthwise convolution.
fn pool(ir: &mut Ir, id: Id, kind: PoolKind, window: Window) {
    let (input, extent) = (ir.input_extent(id), ir.ops[id].extent);
    if geometry::pool(window, input, extent).is_some() {
        return;
    }
    let Some(larger) = geometry::larger_pool(window, input, extent) else { return };
    let origin = ir.ops[id].origin.clone().by("rows and columns of a pool cut off by a depthwise convolution");
    let (kind, inputs) = (Kind::Pool(kind, window), ir.ops[id].inputs.clone());
    let pooled = ir.push(Op { kind, inputs, extent: larger, origin: origin.clone() });
    let (weights, bias) = (vec![1.0; extent.c], vec![0.0; extent.c]);
    let cut = Depthwise { window: Window::POINT, weights, bias, activation: Activation::None, quant: None };
    ir.replace(id, Kind::Depthwise(cut), vec![pooled], origin);
}

/// Rows and columns in equal steps: a depthwise convolution whose only tap that is not zero sees the first one.
fn crop(ir: &mut Ir, id: Id, before: (usize, usize), step: (usize, usize)) {
    let extent = ir.ops[id].extent;
    let stride = match (extent.h, extent.w) {
        (1, _) => step.1,
        (_, 1) => step.0,
        _ if step.0 == step.1 => step.0,
        _ => return,
    };
    let window = Window { kernel: (before.0 + 1, before.1 + 1), stride, before: (0, 0) };
    let mut kernel = vec![0.0; window.area()];
    kernel[window.area() - 1] = 1.0;
    let (weights, bias) = (kernel.repeat(extent.c), vec![0.0; extent.c]);
    let conv = Depthwise { window, weights, bias, activation: Activation::None, quant: None };
    let (inputs, origin) = (ir.ops[id].inputs.clone(), ir.ops[id].origin.clone());
    ir.replace(id, Kind::Depthwise(conv), inputs, origin.by("rows and columns chosen by a depthwise convolution"));
}

/// Zeros around a map: a depthwise convolution of single pixels with padding.
fn pad(ir: &mut Ir, id: Id, before: (usize, usize)) {
    let channels = ir.ops[id].extent.c;
    let window = Window { before, ..Window::POINT };
    let conv = Depthwise {
        window,
        weights: vec![1.0; channels],
        bias: vec![0.0; channels],
        activation: Activation::None,
        quant: None,
    };
    let (inputs, origin) = (ir.ops[id].inputs.clone(), ir.ops[id].origin.clone());
    ir.replace(id, Kind::Depthwise(conv), inputs, origin.by("zeros as padding of a depthwise convolution"));
}

/// A mean over channels: a 1x1 convolution with one filter.
fn mean(ir: &mut Ir, id: Id, axes: &[Axis]) {
    let (mut input, origin) = (ir.input(id), ir.ops[id].origin.clone().by("mean of channels as a convolution"));
    let before = ir.ops[input].extent;
    if axes.contains(&Axis::H) {
        let window = Window { kernel: (before.h, before.w), stride: 1, before: (0, 0) };
        let extent = Extent { h: 1, w: 1, ..before };
        input = push_pool(ir, input, window, extent, origin.clone());
    }
    let conv = Conv { weights: vec![1.0 / before.c as f64; before.c], bias: vec![0.0], ..identity(1, false) };
    ir.replace(id, Kind::Conv(conv), vec![input], origin);
}

fn push_pool(ir: &mut Ir, input: Id, window: Window, extent: Extent, origin: Origin) -> Id {
    ir.push(Op { kind: Kind::Pool(PoolKind::Average, window), inputs: vec![input], extent, origin })
}
