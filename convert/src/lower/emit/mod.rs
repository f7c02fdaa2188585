//! From a chain of operations to layers.
//!
//! Up to the last operation that needs a map, everything is a layer over maps. Behind it, from the first matrix product on,
//! the network works on rows: a flatten layer and dense layers. A network of nothing but rows is an MLP.

mod blocks;
pub mod geometry;
mod maps;
mod order;
mod quant;
mod rows;

use netkit::format::records::{ActivationCode, Layer};

use super::MAX_SQUARE;
use super::import::{Imported, Operand};
use super::ir::{Activation, Extent, Id, Ir, Kind, Op, Window};
use crate::graph::Graph;
use crate::network::{Array, Header, Network, NetworkLayer, Port};
use crate::refusal::Refusal;

/// Why an operation has no record.
pub struct Unfit {
    found: String,
    reason: &'static str,
    advice: &'static str,
}

/// A record, its tensors, and what was done to make them fit.
type Fitted = Result<(Layer, Vec<(Array, Array)>, Option<&'static str>), Unfit>;

/// Lays out a chain as a network.
pub fn emit(imported: &mut Imported, graph: &Graph) -> Result<Network, Vec<Refusal>> {
    let refuse = |op: &Op, unfit: Unfit| {
        let node = op.origin.nodes.first().map(|&index| &graph.nodes[index]);
        vec![Refusal {
            node: node.map_or_else(|| graph.name.clone(), |node| node.name.clone()),
            op: node.map_or_else(|| "model".into(), |node| node.op.clone()),
            found: unfit.found,
            reason: unfit.reason.into(),
            advice: Some(unfit.advice.into()),
        }]
    };
    order::restore(imported).map_err(|unfit| refuse(&imported.ir.ops[imported.output.id], unfit))?;
    let mut chain: Vec<Id> = imported.ir.order();
    chain.retain(|&id| imported.ir.ops[id].kind != Kind::Input);
    let mut is_mlp = imported.takes_rows && chain.iter().all(|&id| is_row_operation(&imported.ir, id));
    let is_pixelwise = !is_mlp && chain.iter().all(|&id| is_pixelwise(&imported.ir, id));
    if let Some(&softmax) = chain.iter().find(|&&id| activation(&imported.ir, id) == Activation::PixelSoftmax) {
        if !is_pixelwise || !chain.iter().all(|&id| can_be_dense(&imported.ir, id)) {
            return Err(refuse(&imported.ir.ops[softmax], pixel_softmax(imported.ir.ops[softmax].extent)));
        }
        make_rows_of_pixels(imported);
        is_mlp = true;
    } else if is_pixelwise && imported.input.extent.n > 1 {
        stack_rows(imported);
    }
    let (ir, input) = (&imported.ir, imported.input.extent);
    let split = if is_mlp { 0 } else { first_row(ir, &chain) };
    let rows = chain.split_off(split);
    if !is_mlp && input.n != 1 {
        let unfit = Unfit {
            found: format!("a batch of {}", input.n),
            reason: "a .nk network with layers over maps computes one at a time",
            advice: "set the batch to 1",
        };
        return Err(refuse(&ir.ops[ir.output], unfit));
    }
    let (mut layers, mut refusals) = (Vec::new(), Vec::new());
    let mut take = |id: Id, fitted: Fitted| match fitted {
        Ok((record, tensors, rewrite)) => layers.push(layer(ir, id, record, tensors, rewrite)),
        Err(unfit) => refusals.extend(refuse(&ir.ops[id], unfit)),
    };
    chain.iter().for_each(|&id| take(id, maps::fit(ir, id)));
    if !is_mlp && !rows.is_empty() {
        take(rows[0], Ok((Layer::Flatten, Vec::new(), None)));
    }
    rows.iter().for_each(|&id| take(id, rows::fit(ir, id)));
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let header = if is_mlp {
        Header::Mlp { batch: input.n, features: input.c }
    } else {
        Header::Cnn { height: input.h, width: input.w, channels: input.c }
    };
    let port = |value: &[crate::graph::ValueId], operand: &Operand| Port {
        name: value.first().map(|&value| graph.value(value).name.clone()).unwrap_or_default(),
        shape: operand.view.shape(),
        places: order::places(operand),
    };
    let (input, output) = (port(&graph.inputs, &imported.input), port(&graph.outputs, &imported.output));
    Ok(Network { header, layers, input, output })
}

fn layer(ir: &Ir, id: Id, record: Layer, tensors: Vec<(Array, Array)>, rewrite: Option<&'static str>) -> NetworkLayer {
    let origin = &ir.ops[id].origin;
    let rewrites = origin.rewrites.iter().copied().chain(rewrite).collect();
    let quant = if tensors.is_empty() { Vec::new() } else { quant::of(ir, id) };
    NetworkLayer { record, tensors, quant, nodes: origin.nodes.clone(), rewrites }
}

/// Whether a dense layer can compute it: rows in, rows out.
fn is_row_operation(ir: &Ir, id: Id) -> bool {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => {
            let input = ir.input_extent(id);
            ir.ops[id].extent.is_pixel() && conv.window.before == (0, 0) && conv.window.kernel == (input.h, input.w)
        }
        Kind::Affine(_) => true,
        _ => false,
    }
}

/// Function behind an operation.
fn activation(ir: &Ir, id: Id) -> Activation {
    match &ir.ops[id].kind {
        Kind::Conv(conv) => conv.activation,
        Kind::Depthwise(conv) => conv.activation,
        Kind::Affine(affine) => affine.activation,
        _ => Activation::None,
    }
}

/// Whether a dense layer can compute what a pixelwise operation does with one pixel.
fn can_be_dense(ir: &Ir, id: Id) -> bool {
    match ir.ops[id].kind {
        Kind::Conv(_) => true,
        Kind::Affine(_) => ir.ops[id].extent.c <= MAX_SQUARE,
        _ => false,
    }
}

fn pixel_softmax(extent: Extent) -> Unfit {
    Unfit {
        found: format!("softmax over {} channels of each of {}x{} pixels", extent.c, extent.h, extent.w),
        reason: "a .nk softmax runs over all elements of a row",
        advice: "normalise all elements of a row, or leave softmax to the program that uses the model",
    }
}

/// Whether an operation treats each pixel by itself.
fn is_pixelwise(ir: &Ir, id: Id) -> bool {
    let (input, output) = extents(ir, id);
    let keeps_size = (input.h, input.w) == (output.h, output.w);
    keeps_size
        && match &ir.ops[id].kind {
            Kind::Conv(conv) => conv.window == Window::POINT && conv.activation != Activation::Softmax,
            Kind::Affine(affine) => affine.activation != Activation::Softmax && affine.scale.len() == output.c,
            Kind::LayerNorm(_) => true,
            _ => false,
        }
}

/// Makes each pixel a row of features of its own: they lie in memory alike.
fn make_rows_of_pixels(imported: &mut Imported) {
    let rows = |extent: Extent| Extent { n: extent.n * extent.h * extent.w, h: 1, w: 1, c: extent.c };
    for operand in [&mut imported.input, &mut imported.output] {
        operand.view = operand.view.with_pixels_as_rows(operand.extent);
        operand.extent = rows(operand.extent);
    }
    for op in &mut imported.ir.ops {
        op.extent = rows(op.extent);
        let activation = match &mut op.kind {
            Kind::Conv(conv) => {
                conv.is_dense = true;
                &mut conv.activation
            }
            Kind::Affine(affine) => &mut affine.activation,
            _ => continue,
        };
        if *activation == Activation::PixelSoftmax {
            *activation = Activation::Softmax;
        }
    }
}

/// Makes the rows of a batch further rows of a map: they lie in memory alike.
fn stack_rows(imported: &mut Imported) {
    for operand in [&mut imported.input, &mut imported.output] {
        operand.view = operand.view.with_rows_stacked(operand.extent);
        operand.extent = operand.extent.with_rows_stacked();
    }
    for op in &mut imported.ir.ops {
        op.extent = op.extent.with_rows_stacked();
        if let Kind::Conv(conv) = &mut op.kind {
            conv.is_dense = false;
        }
    }
}

/// Index of the first operation of the chain from which on there are rows.
fn first_row(ir: &Ir, chain: &[Id]) -> usize {
    let needs_map = |id: Id| match &ir.ops[id].kind {
        Kind::Conv(conv) => !conv.is_dense || !is_row_operation(ir, id),
        Kind::Affine(affine) => affine.scale.len() == ir.ops[id].extent.c && !ir.ops[id].extent.is_pixel(),
        _ => true,
    };
    let tail = chain.iter().rposition(|&id| needs_map(id)).map_or(0, |last| last + 1);
    let starts_rows = |&id: &Id| match &ir.ops[id].kind {
        Kind::Affine(affine) => affine.scale.len() != ir.ops[id].extent.c,
        _ => true,
    };
    chain[tail..].iter().position(starts_rows).map_or(chain.len(), |first| tail + first)
}

/// Code of an activation and slope of a leaky one.
fn code(activation: Activation) -> (ActivationCode, f32) {
    match activation {
        Activation::None => (ActivationCode::NONE, 0.0),
        Activation::Relu => (ActivationCode::RELU, 0.0),
        Activation::Relu6 => (ActivationCode::RELU6, 0.0),
        Activation::Leaky(slope) => (ActivationCode::LEAKY_RELU, slope as f32),
        Activation::Sigmoid => (ActivationCode::SIGMOID, 0.0),
        Activation::Tanh => (ActivationCode::TANH, 0.0),
        Activation::Softmax | Activation::PixelSoftmax => (ActivationCode::SOFTMAX, 0.0),
    }
}

/// A tensor.
fn array(dims: &[usize], elements: &[f64]) -> Array {
    debug_assert_eq!(dims.iter().product::<usize>(), elements.len());
    Array { dims: dims.to_vec(), elements: elements.to_vec() }
}

/// A vector.
fn vector(elements: &[f64]) -> Array {
    array(&[elements.len()], elements)
}

/// Input and output extents of an operation.
fn extents(ir: &Ir, id: Id) -> (Extent, Extent) {
    (ir.input_extent(id), ir.ops[id].extent)
}
