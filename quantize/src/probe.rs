//! Small float models that show what a layer keeps inside: what goes into an activation that is a table, logits, the
//! convolutions of a block. They run on the layer's input.

use netkit::format::records::ActivationCode;
use netkit::format::write::{ModelSpec, Sink};
use netkit::format::{DType, Layer, NETWORK_CNN, NETWORK_MLP, TensorEntry};
use netkit::tensor::{MAX_RANK, Shape};

use crate::Error;
use crate::form::{FormLayer, Linear, activation, without_activation};

/// A model whose layers are convolutions of a layer in a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// The `.nk` file.
    pub bytes: Vec<u8>,
    /// Index of the linear in the layer of which each of its layers is the result.
    pub linears: Vec<usize>,
}

/// Whether the activation is a table or softmax in int8, so that what goes into it has a scale of its own.
pub fn has_inner_scale(activation: ActivationCode) -> bool {
    !activation.is_none() && ![ActivationCode::RELU, ActivationCode::RELU6].contains(&activation)
}

/// What is needed to see all that the layer keeps inside; nothing for most layers.
pub fn probes(layer: &FormLayer) -> Result<Vec<Probe>, Error> {
    let chains: Vec<Vec<usize>> = match layer.record {
        Layer::MobilenetV4Uib(_) => vec![(0..layer.linears.len()).collect()],
        Layer::ResnetBasicBlock(_) => [vec![0, 1], vec![2]][..layer.linears.len() - 1].to_vec(),
        _ if has_inner_scale(layer.activation()) => vec![vec![0]],
        _ => Vec::new(),
    };
    chains.into_iter().map(|linears| probe(layer, linears)).collect()
}

fn probe(layer: &FormLayer, linears: Vec<usize>) -> Result<Probe, Error> {
    let members: Vec<&Linear> = linears.iter().map(|&index| &layer.linears[index]).collect();
    let record = |linear: &&Linear| match has_inner_scale(activation(&linear.record)) {
        true => without_activation(&linear.record),
        false => linear.record,
    };
    let records: Vec<Layer> = members.iter().map(record).collect();
    let entry = |dims: &[u32]| entry(DType::Float32, dims);
    let weights: Vec<TensorEntry> = members.iter().map(|linear| entry(&linear.dims)).collect();
    let biases: Vec<TensorEntry> = members.iter().map(|linear| entry(&[linear.channels() as u32])).collect();
    let payload = |values: &dyn Fn(&Linear) -> Vec<f64>| -> Vec<u8> {
        members.iter().flat_map(|linear| values(linear)).flat_map(|value| (value as f32).to_le_bytes()).collect()
    };
    let weight_payload = payload(&|linear| linear.weights.clone());
    let bias_payload = payload(&|linear| linear.bias.clone());
    let (network, input_rank, input_shape) = header(layer.input);
    let spec = ModelSpec {
        version: 3,
        network,
        input_rank,
        input_shape,
        layers: &records,
        weights: &weights,
        biases: &biases,
        quant: None,
        weight_payload: &weight_payload,
        bias_payload: &bias_payload,
        cases: None,
    };
    Ok(Probe { bytes: write(&spec)?, linears })
}

/// Kind, rank and input shape in the header of a model with this input.
pub(crate) fn header(input: Shape) -> (u8, u8, [u32; MAX_RANK]) {
    let (dims, rank) = input.dims();
    (if input.is_rows { NETWORK_MLP } else { NETWORK_CNN }, rank as u8, dims)
}

/// A catalog entry.
pub(crate) fn entry(dtype: DType, extents: &[u32]) -> TensorEntry {
    let mut dims = [0; MAX_RANK];
    dims.iter_mut().zip(extents).for_each(|(dim, &extent)| *dim = extent);
    TensorEntry { rank: extents.len() as u8, dtype, dims }
}

/// The bytes of a model.
pub(crate) fn write(spec: &ModelSpec<'_>) -> Result<Vec<u8>, netkit::Error> {
    struct Bytes(Vec<u8>);
    impl Sink for Bytes {
        fn bytes(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let mut bytes = Bytes(Vec::with_capacity(spec.weight_payload.len() + spec.bias_payload.len() + 65536));
    spec.write(&mut bytes)?;
    Ok(bytes.0)
}
