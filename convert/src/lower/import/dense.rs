//! Gemm and MatMul: matrix products with a constant matrix.

use super::call::Call;
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Conv, Extent, Kind, Window};
use crate::lower::view::{Axis, View};

/// `alpha * x * w + beta * c`.
pub fn gemm(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    let trans_a = call.int("transA", 0)?;
    if trans_a != 0 {
        let found = format!("transA = {trans_a} with an input of shape {:?}", x.view.shape());
        return Err(Trouble::advise(found, "it exchanges batch and features", "transpose the weights instead"));
    }
    let (alpha, beta) = (call.float("alpha", 1.0)?, call.float("beta", 1.0)?);
    let is_transposed = call.int("transB", 0)? != 0;
    let product = product(call, &x, 1, is_transposed, alpha)?;
    let Some(bias) = call.weights(2)? else { return Ok(product) };
    let summand: Vec<f64> = call.spread(&product, bias)?;
    let Kind::Conv(conv) = &mut call.importer.ir.ops[product.id].kind else { return Err(Trouble::Unknown) };
    if summand.len() != conv.bias.len() {
        let found = format!("a bias of shape {:?} for a product of shape {:?}", bias.1, product.view.shape());
        return Err(Trouble::refuse(found, "there must be one number for each column"));
    }
    conv.bias = summand.iter().map(|summand| beta * summand).collect();
    Ok(product)
}

/// `x * w`.
pub fn mat_mul(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    if call.is_constant(0) {
        let found = "a constant as the left factor".to_string();
        return Err(Trouble::advise(
            found,
            "it mixes the rows of a batch",
            "write x * W with the weights on the right",
        ));
    }
    let x = call.operand(0)?;
    product(call, &x, 1, false, 1.0)
}

/// The product of the last dimension of `x` with a matrix of weights.
fn product(
    call: &mut Call<'_, '_>,
    x: &Operand,
    position: usize,
    is_transposed: bool,
    alpha: f64,
) -> Result<Operand, Trouble> {
    let (weights, shape) = call.needed_weights(position)?;
    let inner = shape.len().saturating_sub(2);
    let shape = if shape.iter().take(inner).all(|&extent| extent == 1) { &shape[inner..] } else { shape };
    // A vector is a matrix of one column, which the product then does not have as a dimension.
    let is_vector = shape.len() == 1;
    let shape = if is_vector { &[shape[0], 1][..] } else { shape };
    let own = x.view.shape();
    let features = own.last().copied().unwrap_or(0);
    let (rows, columns) = match *shape {
        [units, features] if is_transposed => (features, units),
        [features, units] => (features, units),
        _ => return Err(Trouble::refuse(format!("weights of shape {shape:?}"), "they must be a matrix")),
    };
    if rows != features {
        let found = format!("an input of shape {own:?} and weights of shape {shape:?}");
        return Err(Trouble::refuse(found, "the inner extents differ"));
    }
    let (extent, mut view, window, axes) = geometry(x, columns)?;
    if is_vector {
        view = view.without(&[x.view.rank() - 1], false);
    }
    let memory = if window.area() == 1 { vec![Axis::C] } else { vec![Axis::H, Axis::W, Axis::C] };
    debug_assert_eq!(axes, memory.len());
    let offsets = x.view.offsets(x.view.rank() - 1..x.view.rank(), &memory, x.extent);
    let mut permuted = vec![0.0; weights.len()];
    for (feature, offset) in offsets.into_iter().enumerate() {
        for unit in 0..columns {
            let at = if is_transposed { unit * rows + feature } else { feature * columns + unit };
            permuted[unit * rows + offset] = alpha * weights[at];
        }
    }
    let is_permuted = window.area() > 1 && x.extent.c > 1;
    let kind = Kind::Conv(Conv {
        window,
        weights: permuted,
        bias: vec![0.0; columns],
        activation: Activation::None,
        is_dense: true,
        quant: None,
    });
    if is_permuted {
        return Ok(call.push_rewritten(kind, &[x], (extent, view), "columns put in the order of memory"));
    }
    Ok(call.push(kind, &[x], extent, view))
}

/// Extent and view of the product, its window, and the number of axes that a row of weights walks along: the whole map if
/// the last dimension holds all of it, else the channels of each pixel.
fn geometry(x: &Operand, units: usize) -> Result<(Extent, View, Window, usize), Trouble> {
    let Some(last) = x.view.rank().checked_sub(1) else {
        return Err(Trouble::refuse("an input without dimensions".into(), "a product needs at least one"));
    };
    let outer_axes = |allowed: &[Axis]| (0..last).all(|dim| x.view.axes(dim).all(|axis| allowed.contains(&axis)));
    if outer_axes(&[Axis::N]) && x.view.shape()[last] == x.extent.elements() {
        let extent = Extent { h: 1, w: 1, c: units, ..x.extent };
        let window = Window { kernel: (x.extent.h, x.extent.w), stride: 1, before: (0, 0) };
        let axes = if window.area() == 1 { 1 } else { 3 };
        return Ok((extent, x.view.with_axis(last, Axis::C, extent), window, axes));
    }
    if x.view.covers(last, Axis::C, x.extent) && outer_axes(&[Axis::N, Axis::H, Axis::W]) {
        let extent = Extent { c: units, ..x.extent };
        return Ok((extent, x.view.with_axis(last, Axis::C, extent), Window::POINT, 1));
    }
    let found = format!("an input of shape {:?}", x.view.shape());
    Err(Trouble::refuse(found, "its last dimension is neither the channels of a pixel nor a whole row"))
}
