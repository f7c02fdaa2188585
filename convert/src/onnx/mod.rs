//! ONNX files: from bytes to a [`Graph`] that keeps the rules of [`crate::graph`].
//!
//! ```text
//! bytes --wire--> fields --proto--> messages --build--> Graph --simplify--> Graph with all shapes, only live nodes
//! ```

mod attributes;
mod build;
mod external;
pub(crate) mod half;
mod input_shapes;
mod notes;
mod options;
mod proto;
mod sort;
mod tensor_data;
pub(crate) mod upgrade;
mod wire;

use std::path::Path;

use crate::budget::Budget;
use crate::error::Error;
use crate::fold::simplify;
use crate::graph::Graph;
use crate::qdq::dequantized;
use crate::refusal::Refusal;

pub(crate) use tensor_data::{element_type, whole_range};

pub use notes::Notes;
pub use options::Options;

/// Operator sets whose operations are known. Graphs of the oldest are translated to the next.
pub const OPSETS: std::ops::RangeInclusive<i64> = upgrade::OLD_OPSET..=28;

/// Reads a model. All shapes and types of the result are known, and all its nodes contribute to an output.
///
/// `folder` is where files with weights are looked for: that of the model.
pub fn load(bytes: &[u8], folder: Option<&Path>, options: &Options) -> Result<(Graph, Notes), Error> {
    let (graph, notes, refusals) = survey(bytes, folder, options)?;
    if refusals.is_empty() { Ok((graph, notes)) } else { Err(Error::Unsupported(refusals)) }
}

/// Reads a model as far as possible. Where there are refusals, shapes behind what was refused are unknown.
pub fn survey(bytes: &[u8], folder: Option<&Path>, options: &Options) -> Result<(Graph, Notes, Vec<Refusal>), Error> {
    let mut budget = Budget::for_file(bytes.len());
    let mut refusals = Vec::new();
    let (mut graph, mut notes) = read(bytes, folder, options, &mut budget, &mut refusals)?;
    notes.dequantized = dequantized(&graph);
    simplify(&mut graph, &mut budget, &mut notes, &mut refusals)?;
    Ok((graph, notes, refusals))
}

/// The graph as it stands in the file, with shapes for its inputs only.
fn read(
    bytes: &[u8],
    folder: Option<&Path>,
    options: &Options,
    budget: &mut Budget,
    refusals: &mut Vec<Refusal>,
) -> Result<(Graph, Notes), Error> {
    let model = proto::Model::read(bytes, budget)?;
    let mut notes = Notes { ir_version: model.ir_version, producer: model.producer.to_string(), ..Notes::default() };
    let opset = standard_opset(&model)?;
    if let Some(function) = model.functions.first() {
        let found = format!("a function \"{function}\"");
        let advice = "let the exporter inline functions";
        return Err(Error::unsupported_model(found, "functions are not expanded", Some(advice)));
    }
    let Some(graph) = &model.graph else {
        return Err(Error::Malformed { offset: bytes.len(), found: "the file ends without a graph".into() });
    };
    if graph.sparse_initializers > 0 {
        let advice = "store the weights as dense tensors";
        return Err(Error::unsupported_model("sparse initializers", "they are not read", Some(advice)));
    }
    notes.nodes_in_file = graph.nodes.len();
    let mut files = external::ExternalFiles::new(folder);
    let mut tensors = tensor_data::TensorReader { budget, files: &mut files };
    let graph = build::build(graph, opset, options, &mut tensors, &mut notes, refusals)?;
    Ok((graph, notes))
}

fn standard_opset(model: &proto::Model<'_>) -> Result<i64, Error> {
    let mut standard = model.opsets.iter().filter(|(domain, _)| matches!(*domain, "" | "ai.onnx"));
    let Some(&(_, opset)) = standard.next() else {
        return Err(Error::Invalid("the file does not tell the version of the operator set".into()));
    };
    if standard.any(|(_, other)| *other != opset) {
        return Err(Error::Invalid("the file tells two versions of the operator set".into()));
    }
    if !OPSETS.contains(&opset) {
        let reason = format!("versions {} to {} are known", OPSETS.start(), OPSETS.end());
        let advice = "export with one of these, or use onnx.version_converter";
        return Err(Error::unsupported_model(format!("operator set {opset}"), &reason, Some(advice)));
    }
    Ok(opset)
}
