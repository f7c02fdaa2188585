//! From the operators of a TensorFlow Lite model to operations over memory, one file per family.
//!
//! Maps are `[n, h, w, c]` there as well as in memory, so that reshaping never moves an element. Every operator, option and
//! shape is either understood here or refused; operators behind a refused one are still looked at, so that one run tells all
//! reasons.

mod activation;
mod add;
mod conv;
mod ends;
mod exact;
mod labels;
mod layout;
mod pool;

use std::collections::{BTreeMap, BTreeSet};

pub use ends::Ends;
pub use labels::label;

use netkit::format::quant::QuantParams;

use super::model::{Model, Operation, Operator, Tensor};
use crate::graph::{Graph, Node, Value, ValueId};
use crate::lower::import::{Imported, Operand, Trouble};
use crate::lower::ir::{Extent, Id, Ir, Kind, Op, Origin};
use crate::lower::view::{Axis, View};
use crate::refusal::Refusal;
use crate::tensor::ElementType;

/// A translated tensor.
#[derive(Clone, Copy, Debug)]
pub struct Translated {
    /// The operation that computes it.
    pub id: Id,
    /// Least and largest code that it can have.
    pub range: (i32, i32),
}

/// What has been translated so far.
pub struct Importer<'m, 'f> {
    model: &'m Model<'f>,
    ir: Ir,
    translated: Vec<Option<Translated>>,
    readers: Vec<usize>,
}

/// Translates the operators between the ends of a model.
pub fn import(model: &Model<'_>, ends: Ends) -> Result<Imported, Vec<Refusal>> {
    let extent =
        layout::input_extent(model, ends).map_err(|trouble| refusals(refusal_of_input(model, ends, trouble)))?;
    let mut importer =
        Importer { model, ir: Ir::default(), translated: vec![None; model.tensors.len()], readers: readers(model) };
    let id = importer.ir.push(Op { kind: Kind::Input, inputs: Vec::new(), extent, origin: Origin::default() });
    importer.note_params(id, ends.input);
    importer.translated[ends.input] = Some(Translated { id, range: (-128, 127) });
    let (mut found, mut layout_only) = (Vec::new(), BTreeSet::new());
    for (index, operator) in model.operators.iter().enumerate() {
        if ends.skips(model, operator) {
            layout_only.insert(index);
            continue;
        }
        let count = importer.ir.ops.len();
        match importer.translate(index) {
            Ok(result) => importer.translated[operator.outputs[0]] = Some(result),
            Err(Trouble::Unknown) => {}
            Err(Trouble::Refused { found: what, reason, advice, .. }) => {
                found.push(Refusal {
                    node: node_name(model, index),
                    op: operator.name.into(),
                    found: what,
                    reason,
                    advice,
                });
            }
        }
        if importer.ir.ops.len() == count {
            layout_only.insert(index);
        }
    }
    match importer.translated[ends.output] {
        Some(output) if found.is_empty() => {
            importer.ir.output = output.id;
            let extent_of = |id: Id| importer.ir.ops[id].extent;
            let input = operand(id, extent, &model.tensors[ends.input].shape);
            let output = operand(output.id, extent_of(output.id), &model.tensors[ends.output].shape);
            let takes_rows = model.tensors[ends.input].shape.len() <= 2 && extent.is_pixel();
            Ok(Imported { ir: importer.ir, input, takes_rows, output, layout_only })
        }
        _ => {
            if found.is_empty() {
                found.push(unreachable_output(model, ends));
            }
            Err(found)
        }
    }
}

fn refusals(refusal: Refusal) -> Vec<Refusal> {
    vec![refusal]
}

fn refusal_of_input(model: &Model<'_>, ends: Ends, trouble: Trouble) -> Refusal {
    let (found, reason, advice) = match trouble {
        Trouble::Refused { found, reason, advice, .. } => (found, reason, advice),
        Trouble::Unknown => ("an unknown shape".into(), "an input has a shape of known numbers".into(), None),
    };
    Refusal { node: model.tensors[ends.input].name.into(), op: "input".into(), found, reason, advice }
}

fn unreachable_output(model: &Model<'_>, ends: Ends) -> Refusal {
    Refusal {
        node: model.tensors[ends.output].name.into(),
        op: "output".into(),
        found: "a constant".into(),
        reason: "the output does not depend on the input".into(),
        advice: None,
    }
}

fn operand(id: Id, extent: Extent, shape: &[usize]) -> Operand {
    let axes = View::of_axes(&[Axis::N, Axis::H, Axis::W, Axis::C], extent);
    // Elements never move, so that any shape of as many elements views them in order.
    let view = axes.reshaped(shape).unwrap_or(axes);
    Operand { id, extent, view }
}

/// How many operators read each tensor; the outputs of the model count.
fn readers(model: &Model<'_>) -> Vec<usize> {
    let mut readers = vec![0; model.tensors.len()];
    model
        .operators
        .iter()
        .flat_map(|operator| operator.inputs.iter().flatten())
        .for_each(|&tensor| readers[tensor] += 1);
    readers[model.output] += 1;
    readers
}

/// Index of an operator with the tensors between which it stands.
fn node_name(model: &Model<'_>, index: usize) -> String {
    let operator = &model.operators[index];
    let name = |tensor: usize| model.tensors[tensor].name;
    let from = operator.input(0).map_or("", name);
    format!("{index}: {from} -> {}", name(operator.outputs[0]))
}

/// The names of a model's operators and tensors, for reports.
pub fn outline(model: &Model<'_>, ends: Ends) -> Graph {
    let value = |tensor: &Tensor<'_>| Value {
        name: tensor.name.into(),
        element_type: tensor.kind,
        shape: Some(tensor.shape.clone()),
        constant: None,
    };
    let id = |tensor: usize| ValueId(tensor as u32);
    let node = |(index, operator): (usize, &Operator<'_>)| Node {
        name: node_name(model, index),
        op: operator.name.into(),
        domain: String::new(),
        inputs: operator.inputs.iter().map(|input| input.map(id)).collect(),
        outputs: operator.outputs.iter().map(|&output| Some(id(output))).collect(),
        attributes: BTreeMap::new(),
    };
    Graph {
        name: model.description.into(),
        opset: 0,
        values: model.tensors.iter().map(value).collect(),
        nodes: model.operators.iter().enumerate().map(node).collect(),
        inputs: vec![id(ends.input)],
        outputs: vec![id(ends.output)],
    }
}

impl<'m, 'f> Importer<'m, 'f> {
    fn translate(&mut self, index: usize) -> Result<Translated, Trouble> {
        let operator = &self.model.operators[index];
        let output = &self.model.tensors[operator.outputs[0]];
        if operator.outputs.len() != 1 {
            let found = format!("{} results", operator.outputs.len());
            return Err(Trouble::refuse(found, "only operators with one result have a form in a .nk model"));
        }
        let mut call = Call { importer: self, index };
        let result = match operator.operation {
            Operation::Conv2d(sliding) => conv::conv_2d(&mut call, sliding),
            Operation::DepthwiseConv2d(sliding) => conv::depthwise_conv_2d(&mut call, sliding),
            Operation::FullyConnected(activation) => conv::fully_connected(&mut call, activation),
            Operation::AveragePool2d(sliding) => pool::average(&mut call, sliding),
            Operation::MaxPool2d(sliding) => pool::largest(&mut call, sliding),
            Operation::Mean => pool::mean(&mut call),
            Operation::Reshape => layout::reshape(&mut call),
            Operation::Softmax(beta) => activation::softmax(&mut call, beta),
            Operation::Logistic => activation::logistic(&mut call),
            Operation::Tanh => activation::tanh(&mut call),
            Operation::Relu(activation) => activation::relu(&mut call, activation),
            Operation::LeakyRelu(alpha) => activation::leaky_relu(&mut call, alpha),
            Operation::Pad => layout::pad(&mut call),
            Operation::Add(activation) => add::add(&mut call, activation),
            Operation::Quantize | Operation::Dequantize => Err(ends::in_the_middle()),
            Operation::Unknown => Err(unknown(operator.name)),
        }?;
        let extent = self.ir.ops[result.id].extent;
        if extent.n * extent.elements() != output.elements() {
            let found = format!("a result of shape {:?} where {extent:?} is computed", output.shape);
            return Err(Trouble::refuse(found, "the shapes of the file contradict this operator"));
        }
        Ok(result)
    }

    /// Remembers scale and zero point of what an operation computes.
    fn note_params(&mut self, id: Id, tensor: usize) {
        let tensor = &self.model.tensors[tensor];
        if let Some(params) = tensor.params().filter(|_| tensor.kind == Some(ElementType::I8)) {
            self.ir.params.insert(id, params.into());
        }
    }
}

fn unknown(name: &str) -> Trouble {
    let advice = match name {
        "HARD_SWISH" | "ELU" | "PRELU" | "RELU_N1_TO_1" | "RELU_0_TO_1" | "GELU" => {
            "use RELU, RELU6, LEAKY_RELU, LOGISTIC or TANH"
        }
        "TRANSPOSE_CONV" | "RESIZE_BILINEAR" | "RESIZE_NEAREST_NEIGHBOR" => {
            "leave the enlarging part to the program that uses the model"
        }
        "MUL" | "SUB" | "DIV" | "BATCH_TO_SPACE_ND" | "SPACE_TO_BATCH_ND" => {
            "let the TensorFlow Lite converter fold it into the convolution in front of it"
        }
        "SVDF" | "LSTM" | "UNIDIRECTIONAL_SEQUENCE_LSTM" | "WHILE" | "IF" => "convert the feed-forward part alone",
        _ => return Trouble::refuse(format!("operation {name}"), "it has no form in a .nk model"),
    };
    Trouble::advise(format!("operation {name}"), "it has no form in a .nk model", advice)
}

/// An operator that is being translated.
struct Call<'i, 'm, 'f> {
    importer: &'i mut Importer<'m, 'f>,
    index: usize,
}

impl<'m, 'f> Call<'_, 'm, 'f> {
    fn model(&self) -> &'m Model<'f> {
        self.importer.model
    }

    fn operator(&self) -> &'m Operator<'f> {
        &self.model().operators[self.index]
    }

    /// The tensor at a position.
    fn tensor(&self, position: usize) -> Option<&'m Tensor<'f>> {
        Some(&self.model().tensors[self.operator().input(position)?])
    }

    /// The result.
    fn output(&self) -> &'m Tensor<'f> {
        &self.model().tensors[self.operator().outputs[0]]
    }

    /// The translation of the tensor at a position, which must have the type of the result.
    fn operand(&self, position: usize) -> Result<Translated, Trouble> {
        let tensor = self.operator().input(position).ok_or_else(|| missing(position))?;
        let (own, result) = (self.model().tensors[tensor].kind, self.output().kind);
        if own != result || !matches!(own, Some(ElementType::F32 | ElementType::I8)) {
            let name = |kind: Option<ElementType>| kind.map_or("another type".into(), |kind| kind.to_string());
            let found = format!("{} in and {} out", name(own), name(result));
            return Err(Trouble::advise(
                found,
                "operators work on float32 or on int8",
                "quantise the whole model to int8, or leave it in float32",
            ));
        }
        if self.model().tensors[tensor].data.is_some() {
            return Err(Trouble::refuse("a constant".into(), "it must be computed from the input"));
        }
        self.importer.translated[tensor].ok_or(Trouble::Unknown)
    }

    fn is_int8(&self) -> bool {
        self.output().kind == Some(ElementType::I8)
    }

    fn extent(&self, of: Translated) -> Extent {
        self.importer.ir.ops[of.id].extent
    }

    /// The extent of an operand that must be a map `[n, h, w, c]` as it was computed.
    fn map_extent(&self, of: Translated) -> Result<Extent, Trouble> {
        let (extent, shape) = (self.extent(of), &self.tensor(0).map_or(Vec::new(), |tensor| tensor.shape.clone()));
        if *shape == [extent.n, extent.h, extent.w, extent.c] {
            return Ok(extent);
        }
        let computed = [extent.n, extent.h, extent.w, extent.c];
        Err(Trouble::advise(
            format!("a map of shape {shape:?} made of {computed:?}"),
            "a .nk model reshapes a map to a row, and its input, but nothing else",
            "keep the shape of maps between convolutions",
        ))
    }

    /// Scale and zero point of a tensor of codes.
    fn params(&self, tensor: Option<&Tensor<'_>>) -> Result<QuantParams, Trouble> {
        let params = tensor.and_then(Tensor::params).filter(|params| (-128..=127).contains(&params.zero_point));
        params.map(QuantParams::from).ok_or_else(|| {
            let name = tensor.map_or("", |tensor| tensor.name);
            let found = format!("int8 tensor \"{name}\" without one scale and a zero point of -128 to 127");
            Trouble::refuse(found, "codes mean nothing without them")
        })
    }

    /// Adds an operation.
    fn push(&mut self, kind: Kind, inputs: &[Translated], extent: Extent, range: (i32, i32)) -> Translated {
        let inputs = inputs.iter().map(|operand| operand.id).collect();
        let origin = Origin { nodes: [self.index].into(), ..Origin::default() };
        let id = self.importer.ir.push(Op { kind, inputs, extent, origin });
        let tensor = self.operator().outputs[0];
        self.importer.note_params(id, tensor);
        Translated { id, range }
    }

    /// Names what was done to the operation.
    fn rewritten(&mut self, of: Translated, rewrite: &'static str) -> Translated {
        self.importer.ir.ops[of.id].origin.rewrites.insert(rewrite);
        of
    }

    /// The operation that computes an operand, if this operator may change it because nobody else reads its result.
    fn only_reader_of(&mut self, position: usize) -> Option<&mut Op> {
        let tensor = self.operator().input(position)?;
        let translated = self.importer.translated[tensor]?;
        (self.importer.readers[tensor] == 1).then(|| &mut self.importer.ir.ops[translated.id])
    }
}

fn missing(position: usize) -> Trouble {
    Trouble::refuse(format!("no input {position}"), "the operator needs it")
}
