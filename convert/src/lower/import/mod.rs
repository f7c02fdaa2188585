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
mod slice;
mod start;
mod trouble;
mod whole;
mod window;

use std::cmp::Reverse;
use std::collections::BTreeSet;

use call::Call;

use super::ir::{Extent, Id, Ir, Kind, Op, Origin};
use super::view::View;
use crate::graph::{Graph, ValueId};
use crate::refusal::Refusal;

pub use start::{Start, refusal as input_refusal, starts};
pub use trouble::Trouble;
pub use whole::{ports, unfit_tensor};

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
    /// Number of nodes that succeeded.
    translated: usize,
    /// Number of nodes whose operand has the wrong layout.
    misplaced: usize,
    /// Whether convolutions may be split into phases; what reads the result may not be able to.
    allows_phases: bool,
    uses_phases: bool,
}

/// How far a translation came: the right start is that with the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Progress {
    translated: usize,
    misplaced: Reverse<usize>,
}

impl Progress {
    /// Nothing was translated.
    pub const NONE: Self = Self { translated: 0, misplaced: Reverse(usize::MAX) };
    /// Everything was.
    pub const ALL: Self = Self { translated: usize::MAX, misplaced: Reverse(0) };
}

/// Why a graph cannot be translated from some start.
pub struct Failure {
    /// How many nodes were translated, and how many found their operand in the wrong layout.
    pub progress: Progress,
    /// The reasons.
    pub refusals: Vec<Refusal>,
    /// What was translated, with one operation that reads all results.
    pub ir: Ir,
}

/// Translates a graph with one input and one output.
pub fn import(graph: &Graph, start: &Start, output: ValueId) -> Result<Imported, Failure> {
    import_with(graph, start, output, true).or_else(|(failure, uses_phases)| match uses_phases {
        // Where phases do not help, the reasons are those without.
        true => import_with(graph, start, output, false).map_err(|(failure, _)| failure),
        false => Err(failure),
    })
}

/// With or without convolutions in phases; a failure tells whether there were any.
fn import_with(
    graph: &Graph,
    start: &Start,
    output: ValueId,
    allows_phases: bool,
) -> Result<Imported, (Failure, bool)> {
    let mut importer = Importer {
        graph,
        ir: Ir::default(),
        operands: vec![None; graph.values.len()],
        refusals: Vec::new(),
        translated: 0,
        misplaced: 0,
        allows_phases,
        uses_phases: false,
    };
    let outer = graph.value(start.input).shape.as_deref().and_then(|shape| start.view.reshaped(shape));
    let Some(outer) = outer else {
        let refusals = vec![start::refusal(graph, start.input)];
        return Err((Failure { progress: Progress::NONE, refusals, ir: importer.ir }, false));
    };
    let extent = start.extent;
    let id = importer.ir.push(Op { kind: Kind::Input, inputs: Vec::new(), extent, origin: Origin::default() });
    importer.operands[start.value.0 as usize] = Some(Operand { id, extent, view: start.view.clone() });
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
                takes_rows: start.takes_rows,
                output,
                layout_only,
            })
        }
        result => {
            if result.is_none() && importer.refusals.is_empty() && graph.constant(output).is_some() {
                importer.refusals.push(whole::constant_output(graph, output));
            }
            importer.gather();
            let Importer { ir, refusals, translated, misplaced, uses_phases, .. } = importer;
            Err((
                Failure { progress: Progress { translated, misplaced: Reverse(misplaced) }, refusals, ir },
                uses_phases,
            ))
        }
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
                self.translated += 1;
                self.write(index, operand);
            }
            Err(Trouble::Unknown) => {}
            Err(Trouble::Refused { found, reason, advice, is_layout }) => {
                self.misplaced += usize::from(is_layout);
                self.refusals.push(Refusal { node: node.name.clone(), op: node.op.clone(), found, reason, advice });
                if let Some(operand) = self.stand_in(index) {
                    self.write(index, operand);
                }
            }
        }
    }

    /// Takes down the result of a node.
    fn write(&mut self, index: usize, operand: Operand) {
        if let Some(output) = self.graph.nodes[index].outputs.first().copied().flatten() {
            self.operands[output.0 as usize] = Some(operand);
        }
    }

    /// Something in the place of a refused node's result, if that lies in memory like its operand.
    fn stand_in(&mut self, index: usize) -> Option<Operand> {
        let node = &self.graph.nodes[index];
        let known = |value: &Option<ValueId>| self.operand((*value)?);
        let inputs: Vec<Operand> = node.inputs.iter().filter_map(known).collect();
        let x = inputs.first()?;
        let shape = self.graph.value(node.outputs.first().copied().flatten()?).shape.as_deref()?;
        let (extent, view) = x.view.resized(x.extent, shape)?;
        let origin = Origin { nodes: [index].into(), ..Origin::default() };
        let inputs = inputs.iter().map(|operand| operand.id).collect();
        let id = self.ir.push(Op { kind: Kind::Opaque, inputs, extent, origin });
        Some(Operand { id, extent, view })
    }

    /// One operation that reads all results that nobody reads.
    fn gather(&mut self) {
        let mut is_read = vec![false; self.ir.ops.len()];
        self.ir.ops.iter().flat_map(|op| &op.inputs).for_each(|&input| is_read[input] = true);
        let inputs: Vec<Id> = (0..is_read.len()).filter(|&id| !is_read[id]).collect();
        let extent = Extent { n: 1, h: 1, w: 1, c: 1 };
        self.ir.output = self.ir.push(Op { kind: Kind::Opaque, inputs, extent, origin: Origin::default() });
    }

    fn translate(&mut self, index: usize) -> Result<Operand, Trouble> {
        let node = &self.graph.nodes[index];
        let mut read = node.inputs.iter().flatten().filter(|&&value| self.graph.constant(value).is_none()).peekable();
        let is_blocked = read.peek().is_some() && read.all(|&value| self.operand(value).is_none());
        let result = node.outputs.first().copied().flatten();
        if is_blocked || result.is_some_and(|result| self.graph.value(result).shape.is_none()) {
            return Err(Trouble::Unknown);
        }
        let translate = translator(&node.domain, &node.op)?;
        self.check_type(index)?;
        let mut call = Call::new(self, index);
        let operand = translate(&mut call)?;
        call.finish()?;
        self.check_outputs(index, &operand)?;
        Ok(operand)
    }

    /// Whole numbers may only be moved and turned into real ones: operations on them round and saturate.
    fn check_type(&self, index: usize) -> Result<(), Trouble> {
        let node = &self.graph.nodes[index];
        let moves = ["Cast", "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"];
        let operand = node.inputs.iter().flatten().find(|&&value| self.graph.constant(value).is_none());
        match operand.and_then(|&value| self.graph.value(value).element_type) {
            Some(kind) if !kind.is_float() && !moves.contains(&node.op.as_str()) => {
                let advice = "turn them into float with a Cast first";
                Err(Trouble::advise(
                    format!("operands of type {kind}"),
                    "a .nk model computes with real numbers",
                    advice,
                ))
            }
            _ => Ok(()),
        }
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
        "Relu" | "Sigmoid" | "Tanh" | "Abs" => activation::plain,
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
        "Slice" => slice::slice,
        "Gather" => slice::gather,
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
