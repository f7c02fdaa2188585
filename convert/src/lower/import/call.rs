//! One node while it is translated: its operands, constants and attributes, each checked when it is asked for.

use std::collections::BTreeSet;

use super::{Importer, Operand, Trouble};
use crate::graph::{Attribute, Node, ValueId};
use crate::lower::ir::{Activation, Affine, Extent, Kind, Op, Origin};
use crate::lower::view::{Axis, View};
use crate::tensor::Tensor;

/// Elements and shape of a constant.
pub type Numbers<'g> = (&'g [f64], &'g [usize]);

/// A node that is being translated.
pub struct Call<'i, 'g> {
    /// What has been translated before.
    pub importer: &'i mut Importer<'g>,
    /// The node.
    pub node: &'g Node,
    /// Its index in the graph.
    pub index: usize,
    asked: BTreeSet<&'static str>,
}

impl<'i, 'g> Call<'i, 'g> {
    /// Starts with a node.
    pub fn new(importer: &'i mut Importer<'g>, index: usize) -> Self {
        let node = &importer.graph.nodes[index];
        Self { importer, node, index, asked: BTreeSet::new() }
    }

    /// Version of the operator set.
    pub fn opset(&self) -> i64 {
        self.importer.graph.opset
    }

    fn value(&self, position: usize) -> Option<ValueId> {
        self.node.inputs.get(position).copied().flatten()
    }

    /// The input at `position`, which depends on the model's input.
    pub fn operand(&self, position: usize) -> Result<Operand, Trouble> {
        let value = self
            .value(position)
            .ok_or_else(|| Trouble::refuse(format!("input {position} is missing"), "it is needed"))?;
        if self.importer.graph.constant(value).is_some() {
            return Err(Trouble::refuse(
                format!("input {position} is a constant"),
                "a .nk layer takes what the layer before it computes, and has its constants as weights",
            ));
        }
        self.importer.operand(value).ok_or(Trouble::Unknown)
    }

    /// The constant at `position`, if that input is given; refused when it depends on the model's input.
    pub fn constant(&self, position: usize) -> Result<Option<&'g Tensor>, Trouble> {
        let Some(value) = self.value(position) else { return Ok(None) };
        match self.importer.graph.constant(value) {
            Some(tensor) => Ok(Some(tensor)),
            None => {
                let name = &self.importer.graph.value(value).name;
                Err(Trouble::refuse(
                    format!("input {position} (\"{name}\") is computed from the model's input"),
                    "a .nk layer has constant weights",
                ))
            }
        }
    }

    /// Elements and shape of the constant of real numbers at `position`.
    pub fn weights(&self, position: usize) -> Result<Option<Numbers<'g>>, Trouble> {
        let Some(tensor) = self.constant(position)? else { return Ok(None) };
        let Some(elements) = tensor.as_real() else {
            return Err(Trouble::refuse(
                format!("input {position} has type {}", tensor.element_type()),
                "weights must be real numbers",
            ));
        };
        if elements.iter().any(|element| !element.is_finite()) {
            return Err(Trouble::refuse(
                format!("input {position} holds an infinite number or NaN"),
                "weights must be finite",
            ));
        }
        Ok(Some((elements, tensor.shape())))
    }

    /// The constant of real numbers at `position`, which must be there.
    pub fn needed_weights(&self, position: usize) -> Result<Numbers<'g>, Trouble> {
        self.weights(position)?.ok_or_else(|| Trouble::refuse(format!("input {position} is missing"), "it is needed"))
    }

    /// Whether the input at `position` is a constant.
    pub fn is_constant(&self, position: usize) -> bool {
        self.value(position).is_some_and(|value| self.importer.graph.constant(value).is_some())
    }

    fn attribute(&mut self, name: &'static str) -> Option<&'g Attribute> {
        self.asked.insert(name);
        self.node.attributes.get(name)
    }

    /// An integer attribute.
    pub fn int(&mut self, name: &'static str, default: i64) -> Result<i64, Trouble> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Int(value)) => Ok(*value),
            Some(other) => Err(wrong_type(name, other, "an integer")),
        }
    }

    /// A real attribute.
    pub fn float(&mut self, name: &'static str, default: f64) -> Result<f64, Trouble> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Float(value)) => Ok(f64::from(*value)),
            Some(other) => Err(wrong_type(name, other, "a real number")),
        }
    }

    /// An attribute of several integers.
    pub fn ints(&mut self, name: &'static str) -> Result<Option<&'g [i64]>, Trouble> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Ints(values)) => Ok(Some(values)),
            Some(other) => Err(wrong_type(name, other, "a list of integers")),
        }
    }

    /// A text attribute.
    pub fn text(&mut self, name: &'static str, default: &'static str) -> Result<&'g str, Trouble> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Text(value)) => Ok(value),
            Some(other) => Err(wrong_type(name, other, "a text")),
        }
    }

    /// Refuses an integer attribute with another value than `only`.
    pub fn require_int(&mut self, name: &'static str, only: i64, reason: &str) -> Result<(), Trouble> {
        match self.int(name, only)? {
            value if value == only => Ok(()),
            value => Err(Trouble::refuse(format!("{name} = {value}"), reason)),
        }
    }

    /// Declares attributes that do not matter for what is computed.
    pub fn ignore(&mut self, names: &[&'static str]) {
        self.asked.extend(names);
    }

    /// Refuses attributes that nobody asked for: their meaning is unknown.
    pub fn finish(&self) -> Result<(), Trouble> {
        match self.node.attributes.keys().find(|name| !self.asked.contains(name.as_str())) {
            None => Ok(()),
            Some(name) => Err(Trouble::refuse(format!("attribute {name}"), "its meaning is not known here")),
        }
    }

    /// Axes that an input or an attribute lists, as indices of dimensions.
    pub fn axes(&mut self, position: usize, rank: usize) -> Result<Option<Vec<usize>>, Trouble> {
        let listed = match self.ints("axes")? {
            Some(axes) => Some(axes),
            None => match self.constant(position)? {
                Some(tensor) => Some(tensor.as_whole().unwrap_or(&[])),
                None => None,
            },
        };
        listed.map(|axes| axes.iter().map(|&axis| dimension(axis, rank)).collect()).transpose()
    }

    /// Shape of the first output.
    pub fn output_shape(&self) -> Result<&'g [usize], Trouble> {
        let output = self.node.outputs.first().copied().flatten();
        let shape = output.and_then(|output| self.importer.graph.value(output).shape.as_deref());
        shape.ok_or_else(|| Trouble::refuse("an output of unknown shape".into(), "shapes must be known"))
    }

    /// Adds the operation that this node becomes.
    pub fn push(&mut self, kind: Kind, inputs: &[&Operand], extent: Extent, view: View) -> Operand {
        let origin = Origin { nodes: [self.index].into(), ..Origin::default() };
        self.push_from(kind, inputs, extent, view, origin)
    }

    /// Adds an operation that rewriting this node gives.
    pub fn push_rewritten(
        &mut self,
        kind: Kind,
        inputs: &[&Operand],
        (extent, view): (Extent, View),
        rewrite: &'static str,
    ) -> Operand {
        let origin = Origin { nodes: [self.index].into(), rewrites: [rewrite].into() };
        self.push_from(kind, inputs, extent, view, origin)
    }

    fn push_from(&mut self, kind: Kind, inputs: &[&Operand], extent: Extent, view: View, origin: Origin) -> Operand {
        let inputs = inputs.iter().map(|operand| operand.id).collect();
        let id = self.importer.ir.push(Op { kind, inputs, extent, origin });
        Operand { id, extent, view }
    }

    /// Adds `activation(x * scale + shift)` with the same numbers for all elements.
    pub fn push_affine(&mut self, x: &Operand, scale: f64, shift: f64, activation: Activation) -> Operand {
        let affine = Affine { scale: vec![scale; x.extent.c], shift: vec![shift; x.extent.c], activation };
        self.push(Kind::Affine(affine), &[x], x.extent, x.view.clone())
    }

    /// A constant, broadcast to the elements of `x`: one number for each channel where it does not depend on the pixel, else
    /// one for each element of a row in memory order.
    pub fn spread(&self, x: &Operand, (elements, shape): Numbers<'_>) -> Result<Vec<f64>, Trouble> {
        let found = || format!("a constant of shape {shape:?} for a tensor of shape {:?}", x.view.shape());
        let (own, rank) = (x.view.shape(), x.view.rank());
        let extra = shape.len().saturating_sub(rank);
        let (outer, shape) = shape.split_at(extra);
        let aligned = &own[rank - shape.len()..];
        let fits = shape.iter().zip(aligned).all(|(&extent, &own)| extent == 1 || extent == own);
        if !fits || outer.iter().any(|&extent| extent != 1) {
            return Err(Trouble::refuse(found(), "the constant would enlarge the tensor"));
        }
        let first = rank - shape.len();
        let is_per_row =
            (0..shape.len()).any(|dim| shape[dim] > 1 && x.view.axes(first + dim).any(|axis| axis == Axis::N));
        if is_per_row {
            return Err(Trouble::refuse(found(), "a .nk layer treats all rows of a batch alike"));
        }
        let offsets = x.view.offsets(0..rank, &[Axis::H, Axis::W, Axis::C], x.extent);
        let mut spread = vec![0.0; x.extent.elements()];
        for (index, offset) in offsets.into_iter().enumerate() {
            spread[offset] = elements[broadcast_index(index, aligned, shape)];
        }
        let channels = &spread[..x.extent.c];
        let is_per_channel = spread.chunks_exact(x.extent.c).all(|pixel| pixel == channels);
        Ok(if is_per_channel { channels.to_vec() } else { spread })
    }
}

/// Index into a constant of shape `shape` for the element `index` of a tensor whose last dimensions are `own`.
fn broadcast_index(mut index: usize, own: &[usize], shape: &[usize]) -> usize {
    let (mut at, mut step) = (0, 1);
    for (&own, &extent) in own.iter().zip(shape).rev() {
        if extent > 1 {
            at += index % own * step;
        }
        step *= extent;
        index /= own;
    }
    at
}

/// An axis attribute as the index of a dimension.
pub fn dimension(axis: i64, rank: usize) -> Result<usize, Trouble> {
    let index = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(index).ok().filter(|&index| index < rank).ok_or_else(|| {
        Trouble::refuse(format!("axis = {axis} of a tensor of rank {rank}"), "there is no such dimension")
    })
}

fn wrong_type(name: &str, found: &Attribute, expected: &str) -> Trouble {
    Trouble::refuse(format!("{name} = {found:?}"), &format!("it must be {expected}"))
}
