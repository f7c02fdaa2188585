//! Graphs written by hand.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::sync::Arc;

use netkit_convert::graph::{Attribute, Graph, Node, Value, ValueId};
use netkit_convert::tensor::{ElementType, Tensor};

/// A graph that grows.
pub struct Builder {
    graph: Graph,
}

impl Builder {
    /// A graph with one input.
    pub fn new(shape: &[usize]) -> (Self, ValueId) {
        let mut builder = Self { graph: Graph { name: "graph".into(), opset: 17, ..Graph::default() } };
        let input = builder.value(shape, None);
        builder.graph.inputs.push(input);
        (builder, input)
    }

    fn value(&mut self, shape: &[usize], constant: Option<Tensor>) -> ValueId {
        let name = format!("v{}", self.graph.values.len());
        let (element_type, shape) = (Some(ElementType::F32), Some(shape.to_vec()));
        self.graph.add_value(Value { name, element_type, shape, constant: constant.map(Arc::new) })
    }

    /// A constant with the given elements.
    pub fn constant(&mut self, shape: &[usize], elements: &[f64]) -> ValueId {
        let tensor = Tensor::real(ElementType::F32, shape.to_vec(), elements.to_vec());
        self.value(shape, Some(tensor.expect("elements fill the shape")))
    }

    /// A constant with the elements 0.5, 1, 1.5, ...
    pub fn counting(&mut self, shape: &[usize]) -> ValueId {
        let elements: Vec<f64> = (1..=shape.iter().product::<usize>()).map(|index| index as f64 / 2.0).collect();
        self.constant(shape, &elements)
    }

    /// A constant of whole numbers.
    pub fn whole(&mut self, elements: &[i64]) -> ValueId {
        let tensor = Tensor::whole(ElementType::I64, vec![elements.len()], elements.to_vec());
        self.value(&[elements.len()], tensor)
    }

    /// An operation whose result has the given shape.
    pub fn op(&mut self, op: &str, inputs: &[ValueId], attributes: &[(&str, Attribute)], shape: &[usize]) -> ValueId {
        let output = self.value(shape, None);
        let attributes = attributes.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        self.graph.nodes.push(Node {
            name: format!("{op}{}", self.graph.nodes.len()),
            op: op.into(),
            domain: String::new(),
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: vec![Some(output)],
            attributes,
        });
        output
    }

    /// A convolution with counting weights and no bias.
    pub fn conv(
        &mut self,
        x: ValueId,
        weights: &[usize],
        attributes: &[(&str, Attribute)],
        shape: &[usize],
    ) -> ValueId {
        let weights = self.counting(weights);
        self.op("Conv", &[x, weights], attributes, shape)
    }

    /// The graph, with its output.
    pub fn finish(mut self, output: ValueId) -> Graph {
        self.graph.outputs.push(output);
        self.graph
    }
}

/// Integers as an attribute.
pub fn ints(values: &[i64]) -> Attribute {
    Attribute::Ints(values.to_vec())
}

/// A 3x3 window that keeps the size.
pub fn same3() -> (&'static str, Attribute) {
    ("pads", ints(&[1, 1, 1, 1]))
}
