//! Quantised models: graphs with `QuantizeLinear` and `DequantizeLinear` around their operations, as quantisers write them,
//! become int8 models with the scales of the file.
//!
//! ```text
//! Graph --without_quantization--> float Graph --lower--> Network --int8--> Network of codes
//!    |                                  what was taken out --------^
//!    +--- the proof compares with the graph as it stood in the file
//! ```

use std::collections::BTreeMap;

use netkit::format::Layer;
use netkit::format::quant::QuantParams;
use netkit::format::records::{ActivationCode, DepthwiseConv2d};
use netkit_quantize::assemble::QuantizedLayer;
use netkit_quantize::error::{Error, Refusal as LayerRefusal};
use netkit_quantize::form::{activation, form};
use netkit_quantize::given::{self, Given, GivenLinear};

use crate::graph::{Graph, Node, ValueId};
use crate::lower::{Lowered, Options, lower};
use crate::network::{Array, Network, NetworkLayer, TensorQuant};
use crate::onnx::Notes;
use crate::proof::{InputKind, ProofError, Reference};
use crate::refusal::Refusal;
use crate::tensor::ElementType;

/// An output may be so many steps from that of the source, which rounds real numbers where int8 rounds integers,
const STEPS_APART: f64 = 2.0;
/// or so many for the square root of the number of roundings, which add up like steps of a random walk;
const STEPS_OF_ROUNDINGS: f64 = 1.2;
/// and a bit for the comparison in floats.
const STEPS_IN_FLOATS: f64 = 0.01;
/// The largest code of a weight.
const LARGEST_CODE: f32 = 127.0;

/// What is done to a pool whose result has another scale than its input.
const RESCALED: &str = "a layer that multiplies by 1 gives it its scale";

/// What a graph states about its tensors.
#[derive(Clone, Debug, Default, PartialEq)]
struct Scales {
    /// Scale and zero point of values that are quantised.
    activations: BTreeMap<ValueId, QuantParams>,
    /// Scales of dequantised constants by their names.
    constants: BTreeMap<String, Vec<f32>>,
}

/// Scales of everything that is dequantised, by name: folding computes constants, and leaves only their names.
pub(crate) fn dequantized(graph: &Graph) -> BTreeMap<String, Vec<f32>> {
    let scales = |node: &Node| {
        let scale = graph.constant((*node.inputs.get(1)?)?)?.as_real()?;
        let name = graph.value((*node.outputs.first()?)?).name.clone();
        Some((name, scale.iter().map(|&scale| scale as f32).collect()))
    };
    graph.nodes.iter().filter(|node| node.op == "DequantizeLinear").filter_map(scales).collect()
}

/// Whether a graph quantises what depends on its input.
pub fn is_quantized(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| node.op == "QuantizeLinear")
}

/// A quantised graph.
#[derive(Clone, Debug)]
pub struct Source {
    /// The graph as it stands in the file.
    pub graph: Graph,
    /// What reading it decided.
    pub notes: Notes,
    /// The graph without quantisation.
    float: Graph,
    /// The same with a ReLU wherever the least code is that of 0, which quantisers leave out in front of it.
    bent: Graph,
    scales: Scales,
    /// Scale and zero point of the input and of the output.
    ends: [QuantParams; 2],
}

impl Source {
    /// A graph that [`is_quantized`].
    pub fn of(graph: Graph, notes: Notes) -> Result<Self, Vec<Refusal>> {
        let (float, bent, scales) = without_quantization(&graph, &notes.dequantized)?;
        let (Some(input), Some(output)) = (float.inputs.first(), float.outputs.first()) else {
            return Err(vec![refusal(&graph, "a graph without an input or an output".into())]);
        };
        // What is handed on has the scale of what it was.
        let producers = float.producers();
        let mut origin = *output;
        while let Some(node) = producers[origin.0 as usize].map(|index| &float.nodes[index])
            && !scales.activations.contains_key(&origin)
            && let ("Identity", Some(&Some(input))) = (node.op.as_str(), node.inputs.first())
        {
            origin = input;
        }
        let params = |id, end: &str| {
            let params = scales.activations.get(&id).copied();
            params.ok_or_else(|| vec![refusal(&graph, format!("an {end} that is not quantised"))])
        };
        let ends = [params(*input, "input")?, params(origin, "output")?];
        Ok(Self { graph, notes, float, bent, scales, ends })
    }

    /// Lowers the graph to an int8 network, or tells everything that stands in the way.
    pub fn lower(&self, options: Options) -> Result<Lowered, Vec<Refusal>> {
        // Blocks need their ReLUs; layers of their own may have no place for one.
        let mut told = None;
        for float in [&self.bent, &self.float] {
            // A product of two layers has no scales.
            match lower(float, Options { keeps_linear_layers: true, ..options }) {
                Ok(lowered) => match self.with_codes(lowered) {
                    Ok(lowered) => return Ok(lowered),
                    // Of a graph that has layers it tells more than what has none.
                    Err(refusals) => told = Some(refusals),
                },
                Err(refusals) => {
                    told.get_or_insert(refusals);
                }
            }
        }
        Err(told.unwrap_or_default())
    }

    fn with_codes(&self, mut lowered: Lowered) -> Result<Lowered, Vec<Refusal>> {
        lowered.fates.iter_mut().zip(&self.graph.nodes).for_each(|(fate, node)| fate.op.clone_from(&node.op));
        lowered.network = self.int8(&lowered.network)?;
        Ok(lowered)
    }
}

/// The source in the proof: it takes and gives codes.
impl Reference for Source {
    fn elements(&self) -> Result<(usize, usize), ProofError> {
        self.graph.elements()
    }

    fn input(&self, kind: InputKind, seed: u64) -> Result<Vec<f32>, ProofError> {
        Ok(self.graph.input(kind, seed)?.into_iter().map(|number| self.fed(number)).collect())
    }

    fn run(&self, input: &[f32]) -> Result<Vec<f64>, ProofError> {
        let reals: Vec<f32> = input.iter().map(|&code| self.ends[0].dequantize(code as i8)).collect();
        let [_, output] = self.ends;
        let code = |real: f64| real / f64::from(output.scale) + f64::from(output.zero_point);
        Ok(self.graph.run(&reals)?.into_iter().map(code).collect())
    }

    fn real(&self, output: f64) -> f64 {
        f64::from(self.ends[1].scale) * (output - f64::from(self.ends[1].zero_point))
    }

    fn fed(&self, number: f32) -> f32 {
        f32::from(self.ends[0].quantize(number))
    }

    fn slack(&self) -> f64 {
        let roundings = self.graph.nodes.iter().filter(|node| node.op == "QuantizeLinear").count();
        STEPS_APART.max(STEPS_OF_ROUNDINGS * (roundings as f64).sqrt()) + STEPS_IN_FLOATS
    }
}

/// Something about the whole graph.
fn refusal(graph: &Graph, found: String) -> Refusal {
    let node = graph.outputs.first().map_or_else(|| graph.name.clone(), |id| graph.value(*id).name.clone());
    Refusal { node, op: "model".into(), found, reason: "it has no int8 form".into(), advice: None }
}

/// The graph without quantisation, the same with the ReLUs that it implies, and what it said. Nodes keep their places.
fn without_quantization(
    graph: &Graph,
    constants: &BTreeMap<String, Vec<f32>>,
) -> Result<(Graph, Graph, Scales), Vec<Refusal>> {
    let mut float = graph.clone();
    let mut bends = Vec::new();
    let mut scales = Scales { constants: constants.clone(), ..Scales::default() };
    let mut refusals = Vec::new();
    let producers = graph.producers();
    for (index, node) in graph.nodes.iter().enumerate() {
        let source = node.inputs.first().copied().flatten();
        let replaced = match (node.op.as_str(), source) {
            ("QuantizeLinear", Some(source)) => params(graph, node).map(|params| {
                let producer = producers[source.0 as usize].map(|index| graph.nodes[index].op.as_str());
                if params.zero_point == i32::from(i8::MIN) && matches!(producer, Some("Conv" | "Add")) {
                    bends.push(index);
                }
                // The last word counts where a value is quantised twice; the proof tells whether that is right.
                scales.activations.insert(source, params);
                true
            }),
            ("DequantizeLinear", Some(source)) => {
                let producer = producers[source.0 as usize].map(|index| graph.nodes[index].op.as_str());
                Ok(producer == Some("QuantizeLinear"))
            }
            _ => Ok(false),
        };
        match replaced {
            Ok(false) => {}
            Ok(true) => pass_through(&mut float, index),
            Err(found) => refusals.push(Refusal {
                node: node.name.clone(),
                op: node.op.clone(),
                found,
                reason: "int8 models have one scale above 0 for each tensor between layers, and codes of 8 bits".into(),
                advice: Some("quantise with 8 bits and one scale for each activation".into()),
            }),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let mut bent = float.clone();
    bends.into_iter().for_each(|index| bent.nodes[index].op = "Relu".into());
    Ok((float, bent, scales))
}

/// Makes a node hand on its first input.
fn pass_through(graph: &mut Graph, index: usize) {
    let node = &mut graph.nodes[index];
    node.op = "Identity".into();
    node.inputs.truncate(1);
    node.attributes.clear();
    for output in node.outputs.clone().into_iter().flatten() {
        graph.values[output.0 as usize].element_type = Some(ElementType::F32);
    }
}

/// Scale and zero point of a `QuantizeLinear`, with codes from -128 to 127; the error says what was found.
fn params(graph: &Graph, node: &Node) -> Result<QuantParams, String> {
    let constant = |index: usize| node.inputs.get(index).copied().flatten().and_then(|id| graph.constant(id));
    let scale = match constant(1).and_then(|scale| scale.as_real()) {
        Some(&[scale]) if scale > 0.0 => scale as f32,
        Some(scales) => return Err(format!("{} scales", scales.len())),
        None => return Err("a scale that is computed".into()),
    };
    let kind = node.outputs.first().copied().flatten().and_then(|id| graph.value(id).element_type);
    let zero_point = constant(2).and_then(|zero| zero.as_whole()).and_then(|zero| zero.first()).copied().unwrap_or(0);
    match kind {
        Some(ElementType::I8) => Ok(QuantParams { scale, zero_point: zero_point as i32 }),
        Some(ElementType::U8) => Ok(QuantParams { scale, zero_point: zero_point as i32 - 128 }),
        kind => Err(format!("codes of type {}", kind.map_or_else(|| "unknown".to_owned(), |kind| kind.to_string()))),
    }
}

impl Source {
    /// The int8 form of a network that was lowered from the graph without quantisation.
    fn int8(&self, network: &Network) -> Result<Network, Vec<Refusal>> {
        let (network, given) = self.rescaled(network);
        let bytes = network.write(None).map_err(|error| vec![refusal(&self.graph, error.to_string())])?;
        let form = form(&bytes).map_err(|error| self.refusals(error, &network))?;
        // Several layers of the network can be one of the form.
        let members =
            |index: usize| index.checked_sub(1).map_or(0, |before| form[before].source + 1)..=form[index].source;
        let given: Vec<Option<Given>> =
            (0..form.len()).map(|index| given[members(index)].iter().flatten().last().cloned()).collect();
        let quantized = given::quantize(&form, self.ends[0], &given)
            .map_err(|refusals| self.refusals(Error::Unsupported(refusals), &network))?;
        let layers = quantized.layers.into_iter().enumerate();
        let layers = layers.map(|(index, layer)| int8_layer(layer, &network.layers[members(index)])).collect();
        Ok(Network { layers, ..network })
    }

    /// The network with what the graph says about the weights and the result of each layer. Where the result of a pool has
    /// another scale than its input, a layer that multiplies by 1 follows.
    fn rescaled(&self, network: &Network) -> (Network, Vec<Option<Given>>) {
        let (mut layers, mut given) = (Vec::new(), Vec::new());
        let mut running = self.ends[0];
        for layer in &network.layers {
            let output = self.output(layer);
            layers.push(layer.clone());
            given.push(self.given(layer, output));
            if let (Layer::AvgPool2d(_) | Layer::MaxPool2d(_), Some(output)) = (layer.record, output)
                && output != running
            {
                let channels = self.channels(layer);
                layers.push(rescaling(layer, channels));
                given.push(Some(GivenLinear { output, weights: vec![1.0 / LARGEST_CODE] }.into()));
            }
            running = output.unwrap_or(running);
        }
        (Network { layers, ..network.clone() }, given)
    }

    /// Scale and zero point of the result; of what goes into a softmax.
    fn output(&self, layer: &NetworkLayer) -> Option<QuantParams> {
        let results = |node: &usize| self.float.nodes[*node].outputs.iter().flatten();
        let mut stated = layer.nodes.iter().flat_map(results).filter_map(|id| self.scales.activations.get(id));
        let is_softmax = activation(&layer.record) == ActivationCode::SOFTMAX;
        if is_softmax { stated.next().copied() } else { stated.next_back().copied() }
    }

    /// What the graph says about a layer whose result has these parameters.
    fn given(&self, layer: &NetworkLayer, output: Option<QuantParams>) -> Option<Given> {
        match layer.record {
            Layer::MobilenetV4Uib(_) => self.block(layer, self.products(layer)),
            Layer::ResnetBasicBlock(_) => {
                // The two 3x3 convolutions follow each other; the projection may stand anywhere.
                let mut products = self.products(layer);
                products.sort_by_key(|&node| self.is_pointwise(node));
                self.block(layer, products)
            }
            _ => {
                let weights = layer.nodes.iter().find_map(|&node| self.weights(node))?;
                Some(GivenLinear { output: output?, weights }.into())
            }
        }
    }

    /// What it says about a block with these products.
    fn block(&self, layer: &NetworkLayer, products: Vec<usize>) -> Option<Given> {
        let linear = |node| Some(GivenLinear { output: self.result(node)?, weights: self.weights(node)? });
        let linears = products.into_iter().map(linear).collect::<Option<_>>()?;
        let sum = layer.nodes.iter().find(|&&node| self.float.nodes[node].op == "Add");
        let sum = match sum {
            Some(&node) => Some(self.result(node)?),
            None => None,
        };
        Some(Given { linears, sum })
    }

    /// The nodes of a layer that have weights, in the order of the graph.
    fn products(&self, layer: &NetworkLayer) -> Vec<usize> {
        layer.nodes.iter().copied().filter(|&node| self.weights(node).is_some()).collect()
    }

    /// Whether the kernel of a convolution is a single tap.
    fn is_pointwise(&self, node: usize) -> bool {
        let weights = self.float.nodes[node].inputs.get(1).copied().flatten();
        let shape = weights.and_then(|id| self.float.value(id).shape.as_ref());
        shape.is_some_and(|shape| shape[2..].iter().all(|&extent| extent == 1))
    }

    /// Scale and zero point of the result of a node, behind the activation that follows it.
    fn result(&self, node: usize) -> Option<QuantParams> {
        let mut stated = None;
        let mut next = Some(node);
        while let Some(node) = next {
            let result = self.float.nodes[node].outputs.first().copied().flatten()?;
            stated = self.scales.activations.get(&result).copied().or(stated);
            let follows = |node: &Node| {
                matches!(node.op.as_str(), "Identity" | "Relu" | "Clip") && node.inputs.first() == Some(&Some(result))
            };
            next = self.float.nodes.iter().position(follows);
        }
        stated
    }

    /// Scales of the weights of a node.
    fn weights(&self, node: usize) -> Option<Vec<f32>> {
        let node = &self.float.nodes[node];
        let weights = (*node.inputs.get(1)?)?;
        let is_product = matches!(node.op.as_str(), "Conv" | "Gemm" | "MatMul");
        is_product.then(|| self.scales.constants.get(&self.float.value(weights).name))?.cloned()
    }

    /// Channels of a pool's result, which is [N, C, H, W] in the graph.
    fn channels(&self, layer: &NetworkLayer) -> usize {
        let results = layer.nodes.iter().flat_map(|&node| self.float.nodes[node].outputs.iter().flatten());
        let shape = results.filter_map(|id| self.float.value(*id).shape.as_ref()).next_back();
        shape.and_then(|shape| shape.get(1)).copied().unwrap_or(0)
    }

    /// What stands in the way, told about the nodes of the graph.
    fn refusals(&self, error: Error, network: &Network) -> Vec<Refusal> {
        match error {
            Error::Unsupported(refusals) => {
                refusals.iter().map(|refusal| of_layer(refusal, network, &self.float)).collect()
            }
            error => vec![refusal(&self.graph, error.to_string())],
        }
    }
}

/// A layer with its integers, and what the layers that it was made from tell.
fn int8_layer(layer: QuantizedLayer, members: &[NetworkLayer]) -> NetworkLayer {
    let whole = |dims: Vec<usize>, codes: Vec<f64>| Array { dims, elements: codes };
    let tensors = layer.linears.iter().map(|(_, codes, dims)| {
        let dims = dims.iter().map(|&dim| dim as usize).collect();
        let weights = whole(dims, codes.weights.iter().map(|&code| f64::from(code)).collect());
        (weights, whole(vec![codes.bias.len()], codes.bias.iter().map(|&code| f64::from(code)).collect()))
    });
    let quant = layer.linears.iter().map(|(entry, codes, _)| TensorQuant {
        entry: *entry,
        channel_scales: if codes.scales.len() > 1 { codes.scales.clone() } else { Vec::new() },
    });
    NetworkLayer {
        record: layer.record,
        tensors: tensors.collect(),
        quant: quant.collect(),
        nodes: members.iter().flat_map(|member| member.nodes.iter().copied()).collect(),
        rewrites: members.iter().flat_map(|member| member.rewrites.iter().copied()).collect(),
    }
}

/// A layer over maps that gives its input another scale.
fn rescaling(behind: &NetworkLayer, channels: usize) -> NetworkLayer {
    let record = DepthwiseConv2d {
        kernel_h: 1,
        stride: 1,
        channels: channels as u32,
        activation: ActivationCode::NONE,
        pad_h: 0,
        pad_w: 0,
        kernel_w: 1,
        alpha: 0.0,
    };
    let weights = Array { dims: vec![channels, 1, 1], elements: vec![1.0; channels] };
    let bias = Array { dims: vec![channels], elements: vec![0.0; channels] };
    NetworkLayer {
        record: Layer::DepthwiseConv2d(record),
        tensors: vec![(weights, bias)],
        quant: Vec::new(),
        nodes: behind.nodes.clone(),
        rewrites: [RESCALED].into(),
    }
}

/// What stands in the way of a layer, told about the node that it computes.
fn of_layer(refusal: &LayerRefusal, network: &Network, float: &Graph) -> Refusal {
    let layer = refusal.layer.and_then(|index| network.layers.get(index));
    let nodes = layer.iter().flat_map(|layer| &layer.nodes).map(|&index| &float.nodes[index]);
    // Of a block, the sum.
    let node = nodes.clone().find(|node| node.op == "Add").or_else(|| nodes.clone().next());
    Refusal {
        node: node.map_or_else(|| network.output.name.clone(), |node| node.name.clone()),
        op: node.map_or_else(|| "model".into(), |node| node.op.clone()),
        found: format!("a layer {}", refusal.kind),
        reason: refusal.reason.clone(),
        advice: None,
    }
}
