//! From the model's graph to operations over memory: one file per family of ONNX operations.
//!
//! Every operation, attribute and shape is either understood here or refused; nothing is skipped. Operations behind a refused
//! one are still looked at as far as possible, so that one run tells all reasons.

mod activation;
mod arithmetic;
mod call;
mod concat;
mod conv;
mod dense;
mod layout;
mod norm;
mod pad;
mod phases;
mod pool;
mod reduce;
mod window;

use std::collections::BTreeSet;

use call::Call;

use super::ir::{Extent, Id, Ir, Kind, Op, Origin};
use super::view::{Axis, View};
use crate::graph::{Graph, Value, ValueId};
use crate::refusal::Refusal;

/// A translated value.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The operation that computes it.
    pub id: Id,
    /// Its extent in memory.
    pub extent: Extent,
    /// How the model's tensor lies there.
    pub view: View,
}

/// Why a node has no translation.
#[derive(Debug)]
pub enum Trouble {
    /// An operand was refused before.
    Unknown,
    /// The node itself is to blame.
    Refused {
        /// What was found.
        found: String,
        /// Why that has no exact form.
        reason: String,
        /// What would work.
        advice: Option<String>,
    },
}

impl Trouble {
    /// A refusal without advice.
    pub fn refuse(found: String, reason: &str) -> Self {
        Self::Refused { found, reason: reason.into(), advice: None }
    }

    /// A refusal that says what would work.
    pub fn advise(found: String, reason: &str, advice: &str) -> Self {
        Self::Refused { found, reason: reason.into(), advice: Some(advice.into()) }
    }
}

/// A translated graph.
#[derive(Debug)]
pub struct Imported {
    /// The operations.
    pub ir: Ir,
    /// How the model's input lies in memory.
    pub input: Operand,
    /// Whether the model works on rows of features from its input on.
    pub takes_rows: bool,
    /// How the model's output lies in memory.
    pub output: Operand,
    /// Nodes that only change the layout, or nothing.
    pub layout_only: BTreeSet<usize>,
}

/// What has been translated so far.
pub struct Importer<'g> {
    graph: &'g Graph,
    ir: Ir,
    operands: Vec<Option<Operand>>,
    refusals: Vec<Refusal>,
    /// Whether convolutions may be split into phases; what reads the result may not be able to.
    allows_phases: bool,
    uses_phases: bool,
}

/// Translates a graph with one input and one output.
pub fn import(graph: &Graph) -> Result<Imported, Vec<Refusal>> {
    let (Ok(input), Ok(output)) = (only(graph, &graph.inputs, "input"), only(graph, &graph.outputs, "output")) else {
        let both = [only(graph, &graph.inputs, "input"), only(graph, &graph.outputs, "output")];
        return Err(both.into_iter().filter_map(Result::err).collect());
    };
    if let Some(empty) = graph.values.iter().find(|value| is_empty_tensor(value)) {
        return Err(vec![Refusal {
            node: empty.name.clone(),
            op: "tensor".into(),
            found: format!("shape {:?}", empty.shape.as_deref().unwrap_or(&[])),
            reason: "a tensor without elements has no place in a .nk model".into(),
            advice: None,
        }]);
    }
    let (inner, skipped) = layout::past_reshapes(graph, input);
    let mut best: Option<Failure> = None;
    for start in [Start { input, value: inner, skipped: &skipped }, Start { input, value: input, skipped: &[] }] {
        let shape = graph.value(start.value).shape.as_deref().unwrap_or(&[]);
        for axes in input_layouts(shape) {
            let attempt = |allows_phases| import_with(graph, &start, (shape, axes), output, allows_phases);
            // Where phases do not help, the reasons are those without.
            let result =
                attempt(true).or_else(|failure| if failure.uses_phases { attempt(false) } else { Err(failure) });
            match result {
                Ok(imported) => return Ok(imported),
                Err(failure) if best.as_ref().is_none_or(|best| failure.translated > best.translated) => {
                    best = Some(failure);
                }
                Err(_) => {}
            }
        }
    }
    Err(best.map_or_else(|| vec![input_refusal(graph, input)], |failure| failure.refusals))
}

/// Whether a tensor that takes part in the computation has no element; lists of axes may be empty.
fn is_empty_tensor(value: &Value) -> bool {
    let is_list = value.constant.as_ref().is_some_and(|tensor| tensor.as_whole().is_some());
    !is_list && value.shape.as_ref().is_some_and(|shape| shape.contains(&0))
}

/// Why a graph cannot be translated with some layout of its input. The right layout is that with which most succeeded.
struct Failure {
    translated: usize,
    uses_phases: bool,
    refusals: Vec<Refusal>,
}

/// Where the translation of a graph starts.
struct Start<'s> {
    /// The input of the model.
    input: ValueId,
    /// The input, or the same elements behind reshapes.
    value: ValueId,
    /// Those reshapes.
    skipped: &'s [usize],
}

fn input_refusal(graph: &Graph, input: ValueId) -> Refusal {
    Refusal {
        node: graph.value(input).name.clone(),
        op: "input".into(),
        found: match &graph.value(input).shape {
            Some(shape) => format!("shape {shape:?}"),
            None => "an unknown shape".into(),
        },
        reason: "an input is a row of features [batch, features], a series [1, channels, length] or an image".into(),
        advice: Some("give a shape of known numbers with one of these ranks".into()),
    }
}

fn only(graph: &Graph, values: &[ValueId], what: &str) -> Result<ValueId, Refusal> {
    if let [value] = *values {
        return Ok(value);
    }
    let names: Vec<&str> = values.iter().map(|&value| graph.value(value).name.as_str()).collect();
    Err(Refusal {
        node: graph.name.clone(),
        op: what.into(),
        found: format!("{} {what}s: {}", values.len(), names.join(", ")),
        reason: format!("a .nk model has one {what}"),
        advice: (what == "output").then(|| "name the output that you need; nodes behind it are left out".into()),
    })
}

/// Layouts that an input of this shape may have, the most common first. The nodes that read it tell which.
fn input_layouts(shape: &[usize]) -> &'static [&'static [Axis]] {
    use Axis::{C, H, N, W};
    match shape.len() {
        1 => &[&[C]],
        2 => &[&[N, C]],
        3 => &[&[N, C, W], &[N, W, C]],
        4 => &[&[N, C, H, W], &[N, H, W, C]],
        _ => &[],
    }
}

fn import_with(
    graph: &Graph,
    start: &Start<'_>,
    (shape, axes): (&[usize], &[Axis]),
    output: ValueId,
    allows_phases: bool,
) -> Result<Imported, Failure> {
    let mut importer = Importer {
        graph,
        ir: Ir::default(),
        operands: vec![None; graph.values.len()],
        refusals: Vec::new(),
        allows_phases,
        uses_phases: false,
    };
    let along = |axis| axes.iter().position(|&of| of == axis).map_or(1, |dim| shape[dim]);
    let extent = Extent { n: along(Axis::N), h: along(Axis::H), w: along(Axis::W), c: along(Axis::C) };
    let view = View::of_axes(axes, extent);
    let outer = graph.value(start.input).shape.as_deref().and_then(|shape| view.reshaped(shape));
    let Some(outer) = outer else {
        return Err(Failure { translated: 0, uses_phases: false, refusals: vec![input_refusal(graph, start.input)] });
    };
    let id = importer.ir.push(Op { kind: Kind::Input, inputs: Vec::new(), extent, origin: Origin::default() });
    importer.operands[start.value.0 as usize] = Some(Operand { id, extent, view });
    let mut layout_only: BTreeSet<usize> = start.skipped.iter().copied().collect();
    for index in (0..graph.nodes.len()).filter(|index| !start.skipped.contains(index)) {
        let count = importer.ir.ops.len();
        importer.node(index);
        if importer.ir.ops.len() == count {
            layout_only.insert(index);
        }
    }
    match importer.operand(output) {
        Some(output) if importer.refusals.is_empty() => {
            importer.ir.output = output.id;
            Ok(Imported {
                ir: importer.ir,
                input: Operand { id, extent, view: outer },
                takes_rows: axes.len() <= 2,
                output,
                layout_only,
            })
        }
        result => {
            if result.is_none() && importer.refusals.is_empty() {
                importer.refusals.push(constant_output(graph, output));
            }
            let Importer { ir, refusals, uses_phases, .. } = importer;
            Err(Failure { translated: ir.ops.len(), uses_phases, refusals })
        }
    }
}

fn constant_output(graph: &Graph, output: ValueId) -> Refusal {
    Refusal {
        node: graph.value(output).name.clone(),
        op: "output".into(),
        found: "a constant".into(),
        reason: "the output does not depend on the input".into(),
        advice: None,
    }
}

impl Importer<'_> {
    fn operand(&self, value: ValueId) -> Option<Operand> {
        self.operands[value.0 as usize].clone()
    }

    fn node(&mut self, index: usize) {
        let node = &self.graph.nodes[index];
        match self.translate(index) {
            Ok(operand) => {
                if let Some(output) = node.outputs.first().copied().flatten() {
                    self.operands[output.0 as usize] = Some(operand);
                }
            }
            Err(Trouble::Unknown) => {}
            Err(Trouble::Refused { found, reason, advice }) => {
                self.refusals.push(Refusal { node: node.name.clone(), op: node.op.clone(), found, reason, advice })
            }
        }
    }

    fn translate(&mut self, index: usize) -> Result<Operand, Trouble> {
        let node = &self.graph.nodes[index];
        let mut call = Call::new(self, index);
        let translate = translator(&node.domain, &node.op)?;
        let operand = translate(&mut call)?;
        call.finish()?;
        self.check_outputs(index, &operand)?;
        Ok(operand)
    }

    /// Only first outputs are translated, and they must have the shape that the graph states.
    fn check_outputs(&self, index: usize, operand: &Operand) -> Result<(), Trouble> {
        let node = &self.graph.nodes[index];
        for &output in node.outputs.iter().skip(1).flatten() {
            let is_read = self.graph.nodes.iter().any(|node| node.inputs.contains(&Some(output)));
            if is_read || self.graph.outputs.contains(&output) {
                let found = format!("output \"{}\" is used", self.graph.value(output).name);
                return Err(Trouble::refuse(found, "only the first output has a form in a .nk model"));
            }
        }
        let stated = node.outputs.first().copied().flatten().and_then(|output| self.graph.value(output).shape.as_ref());
        match stated {
            Some(stated) if *stated != operand.view.shape() => {
                let found = format!("a result of shape {stated:?} where {:?} is expected", operand.view.shape());
                Err(Trouble::refuse(found, "the shapes of the graph contradict this node"))
            }
            _ => Ok(()),
        }
    }
}

type Translator = fn(&mut Call<'_, '_>) -> Result<Operand, Trouble>;

/// What translates an operation of the standard set.
fn translator(domain: &str, op: &str) -> Result<Translator, Trouble> {
    if !domain.is_empty() && domain != "ai.onnx" {
        return Err(Trouble::refuse(format!("domain \"{domain}\""), "only standard ONNX operations are known"));
    }
    Ok(match op {
        "Conv" => conv::conv,
        "Gemm" => dense::gemm,
        "MatMul" => dense::mat_mul,
        "MaxPool" => pool::max_pool,
        "AveragePool" => pool::average_pool,
        "GlobalMaxPool" => pool::global_max_pool,
        "GlobalAveragePool" => pool::global_average_pool,
        "ReduceMean" | "ReduceMax" | "ReduceSum" | "ReduceL2" => reduce::reduce,
        "BatchNormalization" => norm::batch_normalization,
        "LayerNormalization" => norm::layer_normalization,
        "Relu" | "Sigmoid" | "Tanh" => activation::plain,
        "LeakyRelu" => activation::leaky_relu,
        "PRelu" => activation::prelu,
        "Clip" => activation::clip,
        "HardSigmoid" => activation::hard_sigmoid,
        "Softmax" => activation::softmax,
        "Gelu" => activation::gelu,
        "Erf" | "Sqrt" | "Reciprocal" => arithmetic::unary,
        "Pow" => arithmetic::power,
        "Neg" => arithmetic::negate,
        "Add" | "Sub" | "Mul" | "Div" => arithmetic::binary,
        "Sum" => arithmetic::sum,
        "Max" | "Min" => arithmetic::extremum,
        "Concat" => concat::concat,
        "Pad" => pad::pad,
        "Flatten" | "Reshape" | "Squeeze" | "Unsqueeze" => layout::reshape,
        "Transpose" => layout::transpose,
        "Identity" | "Dropout" | "Cast" => layout::identity,
        _ => return Err(unknown(op)),
    })
}

fn unknown(op: &str) -> Trouble {
    let advice = match op {
        "Elu" | "Selu" | "Celu" | "HardSwish" | "Mish" | "Softplus" | "Softsign" | "Swish" => {
            "use Relu, Relu6, LeakyRelu, Sigmoid or Tanh"
        }
        "QuantizeLinear"
        | "DequantizeLinear"
        | "QLinearConv"
        | "QLinearMatMul"
        | "ConvInteger"
        | "MatMulInteger"
        | "DynamicQuantizeLinear" => "convert the float model and quantize the .nk model",
        "LSTM" | "GRU" | "RNN" | "Loop" | "Scan" | "If" => "convert the feed-forward part alone",
        "ConvTranspose" | "Resize" | "Upsample" => "leave the enlarging part to the program that uses the model",
        _ => return Trouble::refuse(format!("operation {op}"), "it has no form in a .nk model"),
    };
    Trouble::advise(format!("operation {op}"), "it has no form in a .nk model", advice)
}
