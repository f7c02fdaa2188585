//! Networks of random numbers for the tests.
#![allow(dead_code, reason = "each test program uses a part of it")]

use netkit::format::records::{ActivationCode, Conv2d, Dense, DepthwiseConv2d, Pool2d};
use netkit::format::write::{ModelSpec, Sink};
use netkit::format::{DType, Layer, NETWORK_CNN, NETWORK_MLP, TensorEntry};
use netkit_quantize::assemble::{self, Options};
use netkit_quantize::evaluate::{self, Closeness, Sample};
use netkit_quantize::range::Method;
use netkit_quantize::{Error, calibrate, form};

/// Ranges that cover everything, weight scales per channel.
pub const USUAL: Options = Options { method: Method::MinMax, per_channel: true };

/// Random numbers that are the same everywhere (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// From -1 to 1.
    pub fn uniform(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Of the normal distribution, as far as twelve uniform numbers give it.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.uniform()).sum::<f32>() / 2.0
    }

    pub fn normals(&mut self, count: usize, deviation: f32) -> Vec<f32> {
        (0..count).map(|_| self.normal() * deviation).collect()
    }
}

/// A float model in the making.
pub struct Net {
    shape: Vec<u32>,
    layers: Vec<Layer>,
    tensors: [Vec<(Vec<u32>, Vec<f32>)>; 2],
    pub random: Random,
}

impl Net {
    /// Takes `[rows, features]` or `[height, width, channels]`.
    pub fn new(shape: &[u32], seed: u64) -> Self {
        Self { shape: shape.to_vec(), layers: Vec::new(), tensors: [Vec::new(), Vec::new()], random: Random::new(seed) }
    }

    /// A layer without tensors, or one whose tensors are added with [`Net::pair`].
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }

    /// Weights and bias of these values.
    pub fn pair(mut self, dims: &[u32], weights: Vec<f32>, bias: Vec<f32>) -> Self {
        self.tensors[0].push((dims.to_vec(), weights));
        self.tensors[1].push((vec![bias.len() as u32], bias));
        self
    }

    /// Random weights that keep the deviation of their input, and a bias.
    pub fn weights(mut self, dims: &[u32]) -> Self {
        let fan_in: u32 = dims[1..].iter().product();
        let weights = self.random.normals(dims.iter().product::<u32>() as usize, (2.0 / fan_in as f32).sqrt());
        let bias = self.random.normals(dims[0] as usize, 0.2);
        self.pair(dims, weights, bias)
    }

    /// Scale around 1 and shift around 0 of a batch norm.
    pub fn norm(mut self, channels: u32) -> Self {
        let scale = self.random.normals(channels as usize, 0.3).iter().map(|x| 1.0 + x).collect();
        let shift = self.random.normals(channels as usize, 0.2);
        self.pair(&[channels], scale, shift)
    }

    pub fn conv2d(self, kernel: u32, inputs: u32, filters: u32, activation: ActivationCode) -> Self {
        let pad = (kernel / 2) as u8;
        let record = Conv2d {
            kernel_size: kernel,
            stride: 1,
            filters,
            activation,
            pad_h: pad,
            pad_w: pad,
            pad_extra: 0,
            alpha: 0.1,
        };
        self.layer(Layer::Conv2d(record)).weights(&[filters, kernel, kernel, inputs])
    }

    pub fn depthwise(self, kernel: u32, channels: u32, activation: ActivationCode) -> Self {
        let pad = (kernel / 2) as u8;
        let record = DepthwiseConv2d {
            kernel_h: kernel,
            stride: 1,
            channels,
            activation,
            pad_h: pad,
            pad_w: pad,
            kernel_w: kernel as u8,
            alpha: 0.1,
        };
        self.layer(Layer::DepthwiseConv2d(record)).weights(&[channels, kernel, kernel])
    }

    pub fn dense(self, inputs: u32, units: u32, activation: ActivationCode) -> Self {
        self.layer(Layer::Dense(Dense { units, activation, alpha: 0.1 })).weights(&[units, inputs])
    }

    pub fn pool(size: u32) -> Pool2d {
        Pool2d { pool_size: size, stride: size, pad_h: 0, pad_w: 0, packed: 0 }
    }

    /// The `.nk` file.
    pub fn bytes(&self) -> Vec<u8> {
        struct Bytes(Vec<u8>);
        impl Sink for Bytes {
            fn bytes(&mut self, bytes: &[u8]) {
                self.0.extend_from_slice(bytes);
            }
        }
        let [weights, biases] = self.tensors.each_ref().map(|tensors| {
            let entry = |(dims, _): &(Vec<u32>, Vec<f32>)| {
                let mut all = [0; 4];
                all[..dims.len()].copy_from_slice(dims);
                TensorEntry { rank: dims.len() as u8, dtype: DType::Float32, dims: all }
            };
            let payload = tensors.iter().flat_map(|(_, values)| values).flat_map(|value| value.to_le_bytes());
            (tensors.iter().map(entry).collect::<Vec<_>>(), payload.collect::<Vec<u8>>())
        });
        let mut input_shape = [0; 4];
        input_shape[..self.shape.len()].copy_from_slice(&self.shape);
        let spec = ModelSpec {
            version: 3,
            network: if self.shape.len() == 2 { NETWORK_MLP } else { NETWORK_CNN },
            input_rank: self.shape.len() as u8,
            input_shape,
            layers: &self.layers,
            weights: &weights.0,
            biases: &biases.0,
            quant: None,
            weight_payload: &weights.1,
            bias_payload: &biases.1,
            cases: None,
        };
        let mut bytes = Bytes(Vec::new());
        spec.write(&mut bytes).expect("a model");
        bytes.0
    }

    /// Normal inputs.
    pub fn samples(&mut self, count: usize) -> Vec<Vec<f32>> {
        let elements = self.shape.iter().product::<u32>() as usize;
        (0..count).map(|_| self.random.normals(elements, 1.0)).collect()
    }
}

/// An int8 model, and what came of it.
pub struct Made {
    pub int8: Vec<u8>,
    pub samples: Vec<Sample>,
}

impl Made {
    /// Closeness of the last layer.
    pub fn last(&self) -> Closeness {
        evaluate::layers(&self.samples).last().copied().flatten().expect("the last layer is compared")
    }
}

/// Quantises a model with samples, and compares on other samples.
pub fn quantize(float: &[u8], samples: &[Vec<f32>], others: &[Vec<f32>], options: Options) -> Result<Made, Error> {
    let form = form::form(float)?;
    let values = calibrate::calibrate(float, &form, samples, &mut |_| ())?;
    let quantized = assemble::quantize(&form, &values, options);
    let int8 = assemble::assemble(&netkit::Model::parse(float)?, &quantized, None)?;
    let samples = evaluate::evaluate(float, &int8, &form, others, &mut |_| ())?;
    Ok(Made { int8, samples })
}
