//! A model as a graph of operations, whatever file it came from.
//!
//! Values are written once, nodes stand in an order in which every value is written before it is read, and names are
//! those of the file, for reports. Readers establish these rules; everything behind them relies on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::tensor::{ElementType, Tensor};

/// Index of a value in [`Graph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// A tensor that nodes read or write.
#[derive(Clone, Debug)]
pub struct Value {
    /// Name in the file; unique in a graph.
    pub name: String,
    /// Type of the elements, once it is known.
    pub element_type: Option<ElementType>,
    /// Extents, once all are known. Symbolic dimensions have been replaced by numbers before.
    pub shape: Option<Vec<usize>>,
    /// The elements, if they do not depend on the input: initializers, and what is computed from them.
    pub constant: Option<Arc<Tensor>>,
}

/// An attribute of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    /// One integer.
    Int(i64),
    /// One real number.
    Float(f32),
    /// One text.
    Text(String),
    /// Integers.
    Ints(Vec<i64>),
    /// Real numbers.
    Floats(Vec<f32>),
    /// Texts.
    Texts(Vec<String>),
    /// A constant.
    Tensor(Arc<Tensor>),
    /// A graph, a sparse tensor or anything else that no convertible operation has.
    Other(&'static str),
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name in the file; if it has none, the operation and the name of the first output.
    pub name: String,
    /// Operation, such as `Conv`.
    pub op: String,
    /// Domain of the operation; empty for standard ONNX.
    pub domain: String,
    /// What is read; `None` for an optional input that is left out.
    pub inputs: Vec<Option<ValueId>>,
    /// What is written; `None` for an optional output that nobody reads.
    pub outputs: Vec<Option<ValueId>>,
    /// Attributes by name, as in the file: absent ones have the default of the operator set.
    pub attributes: BTreeMap<String, Attribute>,
}

/// A model.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Name in the file.
    pub name: String,
    /// Version of the standard operator set (domain "").
    pub opset: i64,
    /// All values, by [`ValueId`].
    pub values: Vec<Value>,
    /// Operations in execution order.
    pub nodes: Vec<Node>,
    /// What has to be fed: the inputs of the file that are no initializers.
    pub inputs: Vec<ValueId>,
    /// What is asked for.
    pub outputs: Vec<ValueId>,
}

impl Graph {
    /// The value of an id of this graph.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// The constant that an id stands for, if it is one.
    pub fn constant(&self, id: ValueId) -> Option<&Arc<Tensor>> {
        self.value(id).constant.as_ref()
    }

    /// Adds a value.
    pub fn add_value(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(value);
        id
    }

    /// Index of the node that writes each value; `None` for inputs and initializers.
    pub fn producers(&self) -> Vec<Option<usize>> {
        let mut producers = vec![None; self.values.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for output in node.outputs.iter().flatten() {
                producers[output.0 as usize] = Some(index);
            }
        }
        producers
    }

    /// Indices of the nodes that read each value, one entry for each read. The graph's outputs do not count.
    pub fn readers(&self) -> Vec<Vec<usize>> {
        let mut readers = vec![Vec::new(); self.values.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for input in node.inputs.iter().flatten() {
                readers[input.0 as usize].push(index);
            }
        }
        readers
    }
}
