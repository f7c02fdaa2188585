//! The order of the output's elements.
//!
//! A map stays as it lies in memory, and the report says so. A row whose order differs from memory, such as that of a `Flatten`
//! at the end of a model, is put in order by a matrix: programs index it.

use super::Unfit;
use crate::lower::MAX_SQUARE;
use crate::lower::import::{Imported, Operand};
use crate::lower::ir::{Activation, Affine, Conv, Extent, Kind, Op, Window};
use crate::lower::view::{Axis, View};

const MEMORY: [Axis; 4] = [Axis::N, Axis::H, Axis::W, Axis::C];

/// Place in memory of each element of the model's tensor, if they differ.
pub fn places(operand: &Operand) -> Option<Vec<usize>> {
    let places = operand.view.offsets(0..operand.view.rank(), &MEMORY, operand.extent);
    let is_same = places.iter().enumerate().all(|(index, &place)| index == place);
    (!is_same).then_some(places)
}

/// Appends what the output needs: an operation if there is none, and the matrix that restores the order of a row.
pub fn restore(imported: &mut Imported) -> Result<(), Unfit> {
    let ir = &mut imported.ir;
    let extent = ir.ops[ir.output].extent;
    if ir.ops[ir.output].kind == Kind::Input {
        let (scale, shift) = (vec![1.0; extent.c], vec![0.0; extent.c]);
        let kind = Kind::Affine(Affine { scale, shift, activation: Activation::None });
        let origin = Default::default();
        ir.output = ir.push(Op { kind, inputs: vec![ir.output], extent, origin });
    }
    imported.output.id = ir.output;
    let (view, elements) = (&imported.output.view, extent.elements());
    let is_map = (0..view.rank()).all(|dim| MEMORY.iter().any(|&axis| view.is_axis(dim, axis, extent)));
    if is_map || places(&imported.output).is_none() {
        return Ok(());
    }
    if elements > MAX_SQUARE || extent.n != 1 {
        return Err(Unfit {
            found: format!("an output of {elements} elements in another order than that of memory"),
            reason: "a matrix that puts them in order would be too large",
            advice: "end the model before the Flatten or Reshape: a map as output keeps the order of memory, and the report says which",
        });
    }
    let order = view.offsets(0..view.rank(), &[Axis::H, Axis::W, Axis::C], extent);
    let mut weights = vec![0.0; elements * elements];
    order.into_iter().enumerate().for_each(|(row, column)| weights[row * elements + column] = 1.0);
    let window = Window { kernel: (extent.h, extent.w), stride: 1, before: (0, 0) };
    let conv =
        Conv { window, weights, bias: vec![0.0; elements], activation: Activation::None, is_dense: true, quant: None };
    let origin = ir.ops[ir.output].origin.clone().by("a matrix puts the output in the model's order");
    let row = Extent { h: 1, w: 1, c: elements, ..extent };
    let output = ir.push(Op { kind: Kind::Conv(conv), inputs: vec![ir.output], extent: row, origin });
    ir.output = output;
    let shape = view.shape();
    let view = View::of_axes(&[Axis::C], row).reshaped(&shape).unwrap_or_else(|| View::of_axes(&[Axis::C], row));
    imported.output = Operand { id: output, extent: row, view };
    Ok(())
}
