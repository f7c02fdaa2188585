//! The network that is written: `.nk` layers with their tensors, and how inputs and outputs of the model lie in theirs.

use std::collections::BTreeSet;

use netkit::format::quant::QuantEntry;
use netkit::format::records::Layer;
use netkit::format::write::{CasesSpec, ModelSpec, QuantSpec, Sink};
use netkit::format::{DType, MAX_LAYERS, MAX_TENSORS, NETWORK_CNN, NETWORK_MLP, TensorEntry};

use crate::refusal::Refusal;

/// Header of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Rows of features.
    Mlp {
        /// Rows.
        batch: usize,
        /// Features of a row.
        features: usize,
    },
    /// A map.
    Cnn {
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
        /// Channels of a pixel.
        channels: usize,
    },
}

/// A tensor of weights or biases.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Extents, one to four.
    pub dims: Vec<usize>,
    /// Elements in row-major order; they are rounded to f32 when the file is written, and never before. In an int8 network
    /// whole numbers.
    pub elements: Vec<f64>,
}

/// Scales and zero points around a weight tensor of an int8 network.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorQuant {
    /// The descriptor.
    pub entry: QuantEntry,
    /// Scales of the weights for each channel; none where one counts for all.
    pub channel_scales: Vec<f32>,
}

/// A layer with the tensors that it takes from the catalog, as pairs of weights and biases.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkLayer {
    /// The record.
    pub record: Layer,
    /// Weights and biases.
    pub tensors: Vec<(Array, Array)>,
    /// In an int8 network: scales and zero points around each pair of tensors.
    pub quant: Vec<TensorQuant>,
    /// Indices of the model's nodes that it computes.
    pub nodes: BTreeSet<usize>,
    /// How it came to be.
    pub rewrites: BTreeSet<&'static str>,
}

/// The input or the output of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Name in the model.
    pub name: String,
    /// Extents in the model.
    pub shape: Vec<usize>,
    /// For each element of the model's tensor, its place in the memory of the `.nk` network; `None` if both orders are the same.
    pub places: Option<Vec<usize>>,
}

impl Port {
    /// Elements in the model's order from elements in the network's order.
    pub fn from_memory(&self, memory: &[f32]) -> Vec<f32> {
        match &self.places {
            None => memory.to_vec(),
            Some(places) => places.iter().map(|&place| memory[place]).collect(),
        }
    }

    /// Elements in the network's order from elements in the model's order.
    pub fn to_memory(&self, model: &[f32]) -> Vec<f32> {
        let Some(places) = &self.places else { return model.to_vec() };
        let mut memory = vec![0.0; model.len()];
        places.iter().zip(model).for_each(|(&place, &element)| memory[place] = element);
        memory
    }
}

/// A network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// Kind and input shape.
    pub header: Header,
    /// Layers in execution order.
    pub layers: Vec<NetworkLayer>,
    /// The input of the model.
    pub input: Port,
    /// The output of the model.
    pub output: Port,
}

impl Network {
    /// Number of pairs of a weight and a bias tensor.
    pub fn tensor_pairs(&self) -> usize {
        self.layers.iter().map(|layer| layer.tensors.len()).sum()
    }

    /// Whether it computes with int8 codes.
    pub fn is_quantized(&self) -> bool {
        self.layers.iter().any(|layer| !layer.quant.is_empty())
    }

    /// Number of weights and biases.
    pub fn parameters(&self) -> usize {
        let pairs = self.layers.iter().flat_map(|layer| &layer.tensors);
        pairs.map(|(weights, biases)| weights.elements.len() + biases.elements.len()).sum()
    }

    /// Limits of the format that this network exceeds.
    pub fn check(&self) -> Result<(), Vec<Refusal>> {
        let limit = |what: &str, found: usize, most: u32| {
            let advice = "a .nk model has no more; use fewer or larger layers, or blocks that are one layer";
            (found > most as usize).then(|| self.refusal(format!("{found} {what}, at most {most}"), advice))
        };
        let mut refusals: Vec<Refusal> =
            [limit("layers", self.layers.len(), MAX_LAYERS), limit("weight tensors", self.tensor_pairs(), MAX_TENSORS)]
                .into_iter()
                .flatten()
                .collect();
        for (index, layer) in self.layers.iter().enumerate() {
            let arrays = layer.tensors.iter().flat_map(|(weights, biases)| [weights, biases]);
            let is_too_large = |element: &f64| !(*element as f32).is_finite();
            if let Some(element) = arrays.flat_map(|array| &array.elements).find(|element| is_too_large(element)) {
                let found = format!("layer {index} has a weight of {element:e}");
                refusals.push(self.refusal(found, "it must be a finite number of type float32"));
            }
        }
        if refusals.is_empty() { Ok(()) } else { Err(refusals) }
    }

    /// Weights without scales, which an int8 network cannot have; and no weights at all, because a file without them cannot say that
    /// it is one of int8.
    pub fn check_int8(&self) -> Result<(), Vec<Refusal>> {
        let without = self.layers.iter().position(|layer| layer.quant.len() != layer.tensors.len());
        let found = match without {
            Some(index) => format!("layer {index} needs weights that the model does not have"),
            None if !self.is_quantized() => "no int8 weights".to_owned(),
            None => return Ok(()),
        };
        Err(vec![self.refusal(found, "int8 weights need scales, and nothing in the model says which")])
    }

    fn refusal(&self, found: String, reason: &str) -> Refusal {
        Refusal { node: self.output.name.clone(), op: "model".into(), found, reason: reason.into(), advice: None }
    }

    /// The bytes of the file, with test cases if there are any.
    pub fn write(&self, cases: Option<CasesSpec<'_>>) -> Result<Vec<u8>, netkit::Error> {
        let records: Vec<Layer> = self.layers.iter().map(|layer| layer.record).collect();
        let pairs = || self.layers.iter().flat_map(|layer| &layer.tensors);
        let is_quantized = self.is_quantized();
        let (weight_type, bias_type) =
            if is_quantized { (DType::Int8, DType::Int32) } else { (DType::Float32, DType::Float32) };
        let (weights, weight_payload) = catalog(weight_type, pairs().map(|(weights, _)| weights));
        let (biases, bias_payload) = catalog(bias_type, pairs().map(|(_, biases)| biases));
        let (network, input_rank, input_shape) = self.header.fields();
        let quant: Vec<&TensorQuant> = self.layers.iter().flat_map(|layer| &layer.quant).collect();
        let entries: Vec<QuantEntry> = quant.iter().map(|quant| quant.entry).collect();
        let scales: Vec<Vec<u8>> = quant
            .iter()
            .map(|quant| quant.channel_scales.iter().flat_map(|scale| scale.to_le_bytes()).collect())
            .collect();
        let scales: Vec<&[u8]> = scales.iter().map(Vec::as_slice).collect();
        let channel_scales = scales.iter().any(|scales| !scales.is_empty()).then_some(&scales[..]);
        let spec = ModelSpec {
            version: if is_quantized { 4 } else { 3 },
            network,
            input_rank,
            input_shape,
            layers: &records,
            weights: &weights,
            biases: &biases,
            quant: is_quantized.then_some(QuantSpec { entries: &entries, channel_scales }),
            weight_payload: &weight_payload,
            bias_payload: &bias_payload,
            cases,
        };
        let mut bytes = Bytes(Vec::with_capacity(weight_payload.len() + bias_payload.len() + 8192));
        spec.write(&mut bytes)?;
        Ok(bytes.0)
    }
}

impl Header {
    fn fields(self) -> (u8, u8, [u32; 4]) {
        match self {
            Self::Mlp { batch, features } => (NETWORK_MLP, 2, [batch as u32, features as u32, 0, 0]),
            Self::Cnn { height, width, channels } => {
                (NETWORK_CNN, 3, [height as u32, width as u32, channels as u32, 0])
            }
        }
    }
}

struct Bytes(Vec<u8>);

impl Sink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Catalog entries and payload.
fn catalog<'a>(dtype: DType, arrays: impl Iterator<Item = &'a Array>) -> (Vec<TensorEntry>, Vec<u8>) {
    let (mut entries, mut payload) = (Vec::new(), Vec::new());
    for array in arrays {
        let mut dims = [0; 4];
        dims.iter_mut().zip(&array.dims).for_each(|(to, from)| *to = *from as u32);
        entries.push(TensorEntry { rank: array.dims.len() as u8, dtype, dims });
        let elements = array.elements.iter();
        match dtype {
            DType::Float32 => payload.extend(elements.flat_map(|&element| (element as f32).to_le_bytes())),
            DType::Int8 => payload.extend(elements.map(|&element| element as i8 as u8)),
            DType::Int32 => payload.extend(elements.flat_map(|&element| (element as i32).to_le_bytes())),
        }
    }
    (entries, payload)
}
