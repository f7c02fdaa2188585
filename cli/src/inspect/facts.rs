//! Gathers what is known about a model into the document that `--json` prints.

use netkit::format::{Cases, FLAG_INT8_TESTS, FLAG_QUANT, FLAG_TESTS, NETWORK_CNN, NETWORK_MLP};
use netkit::tensor::Shape;
use netkit::{Error, Model};
use serde::Serialize;

use super::chain;
use super::cost;
use super::fields::{self, Fields};
use super::memory::{self, Memory, Step};
use super::quant::{self, Quantization};
use super::tensors::{self, Contents};
use crate::failure::display;
use crate::model_file::ModelFile;

/// The document; numbers that cannot be known are null.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    pub(crate) schema: &'static str,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) file_bytes: usize,
    pub(crate) format_version: u32,
    pub(crate) network: &'static str,
    pub(crate) quantized: bool,
    #[serde(skip)]
    pub(crate) flag_bits: u16,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) input_shape: Vec<u32>,
    pub(crate) output_shape: Option<Vec<u32>>,
    pub(crate) input_elements: Option<u32>,
    pub(crate) output_elements: Option<u32>,
    /// Elements of all weights and biases.
    pub(crate) parameter_count: u64,
    pub(crate) layers: Vec<Layer>,
    #[serde(flatten)]
    pub(crate) memory: Memory,
    /// With `--full` or `--tensors`; null for a float model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quantization: Option<Option<Quantization>>,
    /// The steps of the plan, with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) plan: Option<Vec<Step>>,
    /// With `--tensors`.
    #[serde(flatten)]
    pub(crate) contents: Option<Contents>,
    pub(crate) warnings: Vec<String>,
    /// What keeps the model from loading, other than being beyond this version.
    pub(crate) error: Option<String>,
}

/// A layer record.
#[derive(Debug, Serialize)]
pub(crate) struct Layer {
    pub(crate) index: usize,
    pub(crate) kind: &'static str,
    pub(crate) offset: usize,
    pub(crate) input_shape: Option<Vec<u32>>,
    pub(crate) output_shape: Option<Vec<u32>>,
    pub(crate) parameters: Fields,
    /// Weight and bias pairs that the layer owns.
    pub(crate) tensor_pairs: Option<u32>,
    /// Elements of its weights and biases.
    pub(crate) parameter_count: Option<u64>,
    /// Bytes of its weights and biases.
    pub(crate) weight_bytes: Option<u64>,
    /// Multiply-accumulates of one run; null for a model that cannot run.
    pub(crate) macs: Option<u64>,
    /// The next layer is computed along with this one, whose own output is never stored.
    pub(crate) merges_next: bool,
}

/// The document, and the error that keeps the model from loading.
pub(crate) struct Facts {
    pub(crate) document: Document,
    pub(crate) fault: Option<Error>,
}

pub(crate) fn gather(file: &ModelFile, model: &Model<'_>, with_steps: bool, with_tensors: bool) -> Facts {
    let header = model.header();
    let (mut layers, output, shape_fault) = layers(model);
    let owners = owners_of(&layers);
    cost::count(model, &owners, &mut layers);
    let (memory, plan, plan_fault) = memory::plan(model, with_steps);
    let mut warnings = Vec::new();
    let cases = Cases::read(model);
    if let (Err(error), true) = (&cases, header.flags & FLAG_TESTS != 0) {
        warnings.push(format!("the test section cannot be used: {error}"));
    }
    let contents = with_tensors.then(|| tensors::contents(model, &owners, cases.ok()));
    warnings.extend(chain::doubts(model, &owners));
    let elements = |shape: Shape| shape.elements().ok();
    let fault = shape_fault.or(plan_fault).or_else(|| model.check_payload().err());
    let document = Document {
        schema: "netkit.inspect/1",
        path: display(&file.path),
        name: file.name.clone(),
        file_bytes: file.len(),
        format_version: header.version,
        network: match header.network {
            NETWORK_MLP => "mlp",
            NETWORK_CNN => "cnn",
            _ => "unknown",
        },
        quantized: model.is_quantized(),
        flag_bits: header.flags,
        flags: flag_names(header.flags),
        input_shape: header.input_shape.into_iter().take(usize::from(header.input_rank)).collect(),
        output_shape: output.map(dims),
        input_elements: fields::input_shape(&header).and_then(elements),
        output_elements: output.and_then(elements),
        parameter_count: cost::parameters(model),
        layers,
        memory,
        quantization: (with_steps || with_tensors).then(|| quant::describe(model, &owners)),
        plan,
        contents,
        warnings,
        error: fault.map(|error| error.to_string()),
    };
    Facts { document, fault }
}

/// The layers with the shapes between them, and the first layer that does not fit. Of a network kind that is not known,
/// nothing can be said to be wrong.
fn layers(model: &Model<'_>) -> (Vec<Layer>, Option<Shape>, Option<Error>) {
    let mut layers = Vec::new();
    let mut shape = fields::input_shape(&model.header());
    let is_known = [NETWORK_MLP, NETWORK_CNN].contains(&model.header().network);
    let mut fault = netkit::plan::shapes(model).err().filter(|_| is_known && shape.is_none());
    let mut weights = 0;
    for record in model.layers() {
        let first_weight = model.weight_tensors().nth(weights).map_or(0, |tensor| tensor.entry.num_elements());
        let pairs = shape.map(|_| netkit::layers::tensor_pairs(&record.layer, model.is_quantized()));
        let output = shape.and_then(|input| {
            netkit::layers::output_shape(&record.layer, input, first_weight)
                .and_then(|output| output.elements().map(|_| output))
                .map_err(|fault| fault.error().at(record.offset).in_layer(record.index, record.layer.kind()))
                .inspect_err(|&error| fault = Some(error).filter(|_| is_known))
                .ok()
        });
        layers.push(Layer {
            index: record.index,
            kind: netkit::format::kind_name(record.layer.kind()).unwrap_or("unknown"),
            offset: record.offset,
            input_shape: shape.map(dims),
            output_shape: output.map(dims),
            parameters: Fields::of(&record.layer),
            tensor_pairs: pairs,
            parameter_count: None,
            weight_bytes: None,
            macs: None,
            merges_next: false,
        });
        weights += pairs.unwrap_or(0) as usize;
        shape = output;
    }
    (layers, shape, fault)
}

/// For each tensor pair in catalog order, the index of the layer that owns it.
pub(crate) fn owners(model: &Model<'_>) -> Vec<usize> {
    owners_of(&layers(model).0)
}

fn owners_of(layers: &[Layer]) -> Vec<usize> {
    let pairs = |layer: &Layer| layer.tensor_pairs.unwrap_or(0) as usize;
    layers.iter().flat_map(|layer| std::iter::repeat_n(layer.index, pairs(layer))).collect()
}

/// The extents as the format writes them.
pub(crate) fn dims(shape: Shape) -> Vec<u32> {
    let (dims, rank) = shape.dims();
    dims.into_iter().take(rank as usize).collect()
}

fn flag_names(flags: u16) -> Vec<&'static str> {
    let known = [(FLAG_TESTS, "tests"), (FLAG_QUANT, "int8"), (FLAG_INT8_TESTS, "int8 test inputs")];
    let unknown = flags & !known.iter().fold(0, |sum, (bit, _)| sum | bit);
    let names = known.into_iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| name);
    names.chain((unknown != 0).then_some("unknown")).collect()
}
