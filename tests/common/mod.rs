//! What the integration tests share: the models at hand, and small models made by the library's own writer.
#![expect(dead_code, reason = "each test binary uses its own part")]

use std::path::{Path, PathBuf};

use netkit::format::quant::QuantParams;
use netkit::format::records::{ActivationCode, Conv2d, Dense};
use netkit::format::write::{ModelSpec, QuantSpec, Sink};
use netkit::format::{DType, Layer, NETWORK_CNN, NETWORK_MLP, QuantEntry, TensorEntry};
use netkit::{MemoryPlan, Model, Network};

/// All `.nk` files at hand: those of the repository, those in folders named by `NETKIT_EXTRA_MODELS` (separated by `:`),
/// and `../shared/models` where it lies beside the repository, unless `NETKIT_OWN_MODELS` is set.
pub fn model_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("models")];
    if std::env::var_os("NETKIT_OWN_MODELS").is_none() {
        folders.extend(["../shared/models/netkit", "../shared/models/large"].map(|folder| root.join(folder)));
    }
    folders.extend(std::env::var("NETKIT_EXTRA_MODELS").iter().flat_map(|list| list.split(':')).map(PathBuf::from));
    let mut files: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flatten()
        .map(|entry| entry.expect("folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "nk"))
        .collect();
    files.sort();
    assert!(files.len() > 40, "the models of the repository are missing: run python3 models/generate.py");
    files
}

/// The models at hand of at most `limit` bytes, with their names.
pub fn small_models(limit: usize) -> Vec<(String, Vec<u8>)> {
    model_files()
        .into_iter()
        .filter(|path| path.metadata().expect("metadata").len() as usize <= limit)
        .map(|path| (path.display().to_string(), std::fs::read(&path).expect("read")))
        .collect()
}

/// The values of a raw little-endian file.
pub fn read_f32(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    bytes.as_chunks::<4>().0.iter().map(|&word| f32::from_le_bytes(word)).collect()
}

/// A model of either kind, loaded, with an input that depends on the position.
pub struct Runner<'m, 'a> {
    network: Network<'m, 'a>,
    input: usize,
    output: usize,
}

impl<'m, 'a> Runner<'m, 'a> {
    /// Loads `model`, which must be valid, into `arena`.
    pub fn load(model: &Model<'m>, arena: &'a mut [u8]) -> Self {
        let plan = MemoryPlan::of(model).expect("plan");
        let network = Network::load(model, arena).expect("load");
        let (input, output) = (plan.input.elements().expect("input"), plan.output.elements().expect("output"));
        Self { network, input: input as usize, output: output as usize }
    }

    /// The output's bytes for the input with this seed.
    pub fn run(&mut self, seed: usize) -> Vec<u8> {
        let positions = (seed..).take(self.input);
        if self.network.is_quantized() {
            let input: Vec<i8> = positions.map(|i| (i * 37 % 256) as u8 as i8).collect();
            let mut output = vec![0x55i8; self.output];
            self.network.run_int8(&input, &mut output).expect("run");
            bytemuck::cast_slice(&output).to_vec()
        } else {
            let input: Vec<f32> = positions.map(|i| (i % 13) as f32 / 8.0 - 0.75).collect();
            let mut output = vec![f32::NAN; self.output];
            self.network.run(&input, &mut output).expect("run");
            bytemuck::cast_slice(&output).to_vec()
        }
    }
}

/// A sink that keeps everything.
#[derive(Default)]
pub struct Bytes(pub Vec<u8>);

impl Sink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// A model to be changed and written.
#[derive(Clone)]
pub struct TestModel {
    pub network: u8,
    pub input: Vec<u32>,
    pub layers: Vec<Layer>,
    pub weights: Vec<Vec<u32>>,
    pub biases: Vec<Vec<u32>>,
}

impl TestModel {
    /// 4x4x2 -> conv 3x3, 3 filters -> flatten is left to the test.
    pub fn conv() -> Self {
        Self {
            network: NETWORK_CNN,
            input: vec![4, 4, 2],
            layers: vec![Layer::Conv2d(conv_record(3, 1, 3))],
            weights: vec![vec![3, 3, 3, 2]],
            biases: vec![vec![3]],
        }
    }

    /// 1x2 -> dense 3 -> dense 2.
    pub fn mlp() -> Self {
        Self {
            network: NETWORK_MLP,
            input: vec![1, 2],
            layers: vec![Layer::Dense(dense_record(3)), Layer::Dense(dense_record(2))],
            weights: vec![vec![3, 2], vec![2, 3]],
            biases: vec![vec![3], vec![2]],
        }
    }

    /// The file, with small weights that depend on their position.
    pub fn bytes(&self) -> Vec<u8> {
        let entries = |shapes: &[Vec<u32>]| shapes.iter().map(|shape| entry(shape)).collect::<Vec<_>>();
        let (weights, biases) = (entries(&self.weights), entries(&self.biases));
        let payload = |entries: &[TensorEntry]| -> Vec<u8> {
            let count: u64 = entries.iter().map(TensorEntry::num_bytes).sum::<u64>() / 4;
            (0..count).flat_map(|index| ((index % 7) as f32 / 8.0 - 0.375).to_le_bytes()).collect()
        };
        let mut input_shape = [0; 4];
        input_shape[..self.input.len()].copy_from_slice(&self.input);
        let spec = ModelSpec {
            version: 3,
            network: self.network,
            input_rank: self.input.len() as u8,
            input_shape,
            layers: &self.layers,
            weights: &weights,
            biases: &biases,
            quant: None,
            weight_payload: &payload(&weights),
            bias_payload: &payload(&biases),
            cases: None,
        };
        let mut sink = Bytes::default();
        spec.write(&mut sink).expect("within the limits of the format");
        sink.0
    }
}

/// An int8 model to be changed and written: 4x4x2 -> conv 3x3, 3 filters, per channel.
#[derive(Clone)]
pub struct Int8Model {
    pub layers: Vec<Layer>,
    pub weights: Vec<TensorEntry>,
    pub biases: Vec<TensorEntry>,
    pub quant: Vec<QuantEntry>,
    pub channel_scales: Vec<Vec<f32>>,
    /// Value of every weight.
    pub weight: i8,
    /// Value of every bias.
    pub bias: i32,
}

impl Int8Model {
    pub fn conv() -> Self {
        let int8 = |shape: &[u32], dtype| TensorEntry { dtype, ..entry(shape) };
        let params = |scale, zero_point| QuantParams { scale, zero_point };
        Self {
            layers: vec![Layer::Conv2d(conv_record(3, 1, 3))],
            weights: vec![int8(&[3, 3, 3, 2], DType::Int8)],
            biases: vec![int8(&[3], DType::Int32)],
            quant: vec![QuantEntry {
                input: params(0.5, -3),
                weights: params(0.25, 0),
                bias: params(0.125, 0),
                output: params(1.0, 4),
            }],
            channel_scales: vec![vec![0.25, 0.125, 0.0625]],
            weight: 2,
            bias: 7,
        }
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let count = |entries: &[TensorEntry]| entries.iter().map(|entry| entry.num_elements() as usize).sum::<usize>();
        let scales: Vec<Vec<u8>> = self
            .channel_scales
            .iter()
            .map(|list| list.iter().flat_map(|scale| scale.to_le_bytes()).collect())
            .collect();
        let scales: Vec<&[u8]> = scales.iter().map(Vec::as_slice).collect();
        let spec = ModelSpec {
            version: 4,
            network: NETWORK_CNN,
            input_rank: 3,
            input_shape: [4, 4, 2, 0],
            layers: &self.layers,
            weights: &self.weights,
            biases: &self.biases,
            quant: Some(QuantSpec { entries: &self.quant, channel_scales: Some(&scales) }),
            weight_payload: &vec![self.weight as u8; count(&self.weights)],
            bias_payload: &self.bias.to_le_bytes().repeat(count(&self.biases)),
            cases: None,
        };
        let mut sink = Bytes::default();
        spec.write(&mut sink).expect("within the limits of the format");
        sink.0
    }
}

/// A catalog entry of float32 elements.
pub fn entry(shape: &[u32]) -> TensorEntry {
    let mut dims = [0; 4];
    dims[..shape.len()].copy_from_slice(shape);
    TensorEntry { rank: shape.len() as u8, dtype: DType::Float32, dims }
}

/// A convolution without padding and activation.
pub fn conv_record(kernel_size: u32, stride: u32, filters: u32) -> Conv2d {
    let activation = ActivationCode::NONE;
    Conv2d { kernel_size, stride, filters, activation, pad_h: 0, pad_w: 0, pad_extra: 0, alpha: 0.0 }
}

/// A dense layer without activation.
pub fn dense_record(units: u32) -> Dense {
    Dense { units, activation: ActivationCode::NONE, alpha: 0.0 }
}
