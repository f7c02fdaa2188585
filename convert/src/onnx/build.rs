//! From the messages of a file to a graph that keeps the rules of [`crate::graph`].

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use crate::error::Error;
use crate::graph::{Graph, Node, Value, ValueId};
use crate::onnx::attributes::read_attribute;
use crate::onnx::input_shapes::{Declared, resolve};
use crate::onnx::notes::Notes;
use crate::onnx::options::Options;
use crate::onnx::proto::{self, ValueType};
use crate::onnx::sort::sort_nodes;
use crate::onnx::tensor_data::{TensorReader, element_type};
use crate::refusal::Refusal;

/// A graph while its names are resolved.
struct Builder<'a> {
    graph: Graph,
    by_name: BTreeMap<&'a str, ValueId>,
}

/// The graph of a file, in execution order, with shapes for its inputs where they are known.
pub(crate) fn build(
    model: &proto::Graph<'_>,
    opset: i64,
    options: &Options,
    tensors: &mut TensorReader<'_, '_>,
    notes: &mut Notes,
    refusals: &mut Vec<Refusal>,
) -> Result<Graph, Error> {
    let graph = Graph { name: model.name.into(), opset, ..Graph::default() };
    let mut builder = Builder { graph, by_name: BTreeMap::new() };
    for data in &model.initializers {
        let tensor = tensors.read(data, data.name)?;
        builder.add(data.name, "initializer", |value| {
            value.element_type = Some(tensor.element_type());
            value.shape = Some(tensor.shape().to_vec());
            value.constant = Some(Arc::new(tensor));
        })?;
    }
    builder.add_inputs(&model.inputs, options, notes, refusals)?;
    for node in &model.nodes {
        for output in node.outputs.iter().filter(|name| !name.is_empty()) {
            builder.add(output, "output of a node", |_| {})?;
        }
    }
    for node in &model.nodes {
        let node = builder.node(node, tensors)?;
        builder.graph.nodes.push(node);
    }
    builder.choose_outputs(&model.outputs, options)?;
    sort_nodes(&mut builder.graph)?;
    Ok(builder.graph)
}

impl<'a> Builder<'a> {
    fn add(&mut self, name: &'a str, what: &str, fill: impl FnOnce(&mut Value)) -> Result<ValueId, Error> {
        if name.is_empty() {
            return Err(Error::Invalid(format!("an {what} has no name")));
        }
        match self.by_name.entry(name) {
            Entry::Occupied(_) => Err(Error::Invalid(format!("two values have the name \"{name}\" ({what})"))),
            Entry::Vacant(entry) => {
                let mut value = Value { name: name.into(), element_type: None, shape: None, constant: None };
                fill(&mut value);
                Ok(*entry.insert(self.graph.add_value(value)))
            }
        }
    }

    /// Inputs that are no initializers: old files list those too.
    fn add_inputs(
        &mut self,
        inputs: &'a [proto::ValueInfo<'a>],
        options: &Options,
        notes: &mut Notes,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), Error> {
        let mut declared = Vec::new();
        let before = refusals.len();
        for input in inputs.iter().filter(|input| !self.by_name.contains_key(input.name)) {
            match &input.kind {
                ValueType::Tensor(kind, dims) => match element_type(*kind) {
                    Ok(kind) => declared.push((kind, Declared { name: input.name, dims: dims.as_deref() })),
                    Err(kind) => refusals.push(input_refusal(input.name, &format!("elements of type {kind}"))),
                },
                ValueType::Absent => return Err(Error::Invalid(format!("input \"{}\" has no type", input.name))),
                ValueType::Other(kind) => refusals.push(input_refusal(input.name, &format!("a {kind}"))),
            }
        }
        if refusals.len() > before {
            return Err(Error::Unsupported(std::mem::take(refusals)));
        }
        let (kinds, declared): (Vec<_>, Vec<_>) = declared.into_iter().unzip();
        let shapes = resolve(&declared, options, &mut notes.assumptions, refusals)?;
        for ((kind, input), shape) in kinds.into_iter().zip(&declared).zip(shapes) {
            let id = self.add(input.name, "input", |value| {
                value.element_type = Some(kind);
                value.shape = shape;
            })?;
            self.graph.inputs.push(id);
        }
        Ok(())
    }

    fn node(&self, node: &proto::Node<'a>, tensors: &mut TensorReader<'_, '_>) -> Result<Node, Error> {
        let first_output = node.outputs.iter().find(|name| !name.is_empty()).copied().unwrap_or("?");
        let name = match node.name {
            "" => format!("{} {first_output}", node.op),
            name => name.into(),
        };
        if node.op.is_empty() {
            return Err(Error::Invalid(format!("node \"{name}\" has no operation")));
        }
        let mut inputs = Vec::new();
        for input in &node.inputs {
            inputs.push(match *input {
                "" => None,
                input => Some(*self.by_name.get(input).ok_or_else(|| {
                    Error::Invalid(format!("node \"{name}\" reads \"{input}\", which nothing in the graph provides"))
                })?),
            });
        }
        let mut outputs: Vec<_> = node.outputs.iter().map(|output| self.by_name.get(output).copied()).collect();
        for list in [&mut inputs, &mut outputs] {
            while list.last() == Some(&None) {
                list.pop();
            }
        }
        let mut attributes = BTreeMap::new();
        for slice in &node.attributes {
            let (key, attribute) = read_attribute(*slice, &name, tensors)?;
            if attributes.insert(key.clone(), attribute).is_some() {
                return Err(Error::Invalid(format!("node \"{name}\" has two attributes \"{key}\"")));
            }
        }
        let domain = if node.domain == "ai.onnx" { "" } else { node.domain };
        Ok(Node { name, op: node.op.into(), domain: domain.into(), inputs, outputs, attributes })
    }

    fn choose_outputs(&mut self, outputs: &[proto::ValueInfo<'_>], options: &Options) -> Result<(), Error> {
        let names: Vec<&str> = match options.outputs.is_empty() {
            true => outputs.iter().map(|output| output.name).collect(),
            false => options.outputs.iter().map(String::as_str).collect(),
        };
        for name in names {
            let id = self.by_name.get(name).copied().ok_or_else(|| match options.outputs.is_empty() {
                true => Error::Invalid(format!("nothing in the graph provides the output \"{name}\"")),
                false => {
                    let names = outputs.iter().map(|output| format!("\"{}\"", output.name)).collect::<Vec<_>>();
                    let names = names.join(", ");
                    Error::Usage(format!("--output: no value is named \"{name}\"; the outputs are {names}"))
                }
            })?;
            if self.graph.outputs.contains(&id) {
                return Err(Error::Invalid(format!("the output \"{name}\" is listed twice")));
            }
            self.graph.outputs.push(id);
        }
        match self.graph.outputs.is_empty() {
            true => Err(Error::Invalid("the graph has no output".into())),
            false => Ok(()),
        }
    }
}

fn input_refusal(name: &str, found: &str) -> Refusal {
    Refusal {
        node: name.into(),
        op: "input".into(),
        found: found.into(),
        reason: "inputs have to be tensors of real numbers or integers".into(),
        advice: None,
    }
}
