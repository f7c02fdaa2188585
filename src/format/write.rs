//! The writer: the same bytes that the reader takes.

use super::cases::{self, Case};
use super::catalog::{DType, ENTRY_BYTES, TensorEntry};
use super::quant::{self, QuantEntry};
use super::{FLAG_INT8_TESTS, FLAG_QUANT, FLAG_TESTS, HEADER_BYTES, MAGIC, MAX_CASES, MAX_LAYERS, MAX_QUANT_ENTRIES};
use super::{Header, Layer, MAX_CASE_FLOATS, MAX_CASE_NAME, MAX_TENSORS, Values};
use crate::error::{Error, ErrorKind};
use crate::tensor::MAX_RANK;

/// Takes the written bytes one piece after another.
pub trait Sink {
    /// Appends bytes.
    fn bytes(&mut self, bytes: &[u8]);

    /// Appends a 16-bit integer.
    fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a 32-bit integer.
    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// Appends a float.
    fn f32(&mut self, value: f32) {
        self.bytes(&value.to_le_bytes());
    }
}

/// Everything a model file holds. Payload slices are raw little-endian bytes without padding.
#[derive(Clone, Copy, Debug)]
pub struct ModelSpec<'a> {
    /// Format version, 3 or 4.
    pub version: u32,
    /// `NETWORK_MLP` or `NETWORK_CNN`.
    pub network: u8,
    /// Rank of the input.
    pub input_rank: u8,
    /// Input dimensions; unused ones are 0.
    pub input_shape: [u32; MAX_RANK],
    /// Layers in execution order.
    pub layers: &'a [Layer],
    /// Weight catalog.
    pub weights: &'a [TensorEntry],
    /// Bias catalog.
    pub biases: &'a [TensorEntry],
    /// Quantisation, which makes the model int8.
    pub quant: Option<QuantSpec<'a>>,
    /// Weight tensors in catalog order.
    pub weight_payload: &'a [u8],
    /// Bias tensors in catalog order.
    pub bias_payload: &'a [u8],
    /// Embedded test cases.
    pub cases: Option<CasesSpec<'a>>,
}

/// QUAN section to write.
#[derive(Clone, Copy, Debug)]
pub struct QuantSpec<'a> {
    /// One descriptor per weight tensor.
    pub entries: &'a [QuantEntry],
    /// Per-channel weight scales of each descriptor (raw little-endian floats, empty = scalar), or none at all.
    pub channel_scales: Option<&'a [&'a [u8]]>,
}

/// TCAS section to write.
#[derive(Clone, Copy, Debug)]
pub struct CasesSpec<'a> {
    /// Absolute tolerance of the outputs.
    pub tolerance: f32,
    /// The cases, 1 to 16; inputs are all int8 or all float32.
    pub cases: &'a [Case<'a>],
}

impl ModelSpec<'_> {
    /// Writes the file, after checking the limits of the format. Whether the layers fit their tensors is checked by
    /// loading the result.
    pub fn write(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.check_limits()?;
        self.write_header(sink);
        for layer in self.layers {
            layer.write(sink);
        }
        for entry in self.weights.iter().chain(self.biases) {
            entry.write(sink);
        }
        if let Some(quant) = &self.quant {
            write_quant(quant, sink);
        }
        // Records, catalog entries and QUAN pieces are multiples of 4 bytes, so the payload is aligned without padding.
        sink.bytes(self.weight_payload);
        sink.bytes(&[0; 3][..self.weight_padding()]);
        sink.bytes(self.bias_payload);
        if let Some(cases) = &self.cases {
            write_cases(cases, sink);
        }
        Ok(())
    }

    /// int8 weights are padded to a multiple of 4 so that the int32 biases behind them are aligned.
    fn weight_padding(&self) -> usize {
        (4 - self.weight_payload.len() % 4) % 4
    }

    fn write_header(&self, sink: &mut dyn Sink) {
        let int8_tests =
            self.cases.is_some_and(|spec| spec.cases.iter().any(|case| matches!(case.input, Values::Int8(_))));
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        let flags = flag(self.cases.is_some(), FLAG_TESTS)
            | flag(self.quant.is_some(), FLAG_QUANT)
            | flag(int8_tests, FLAG_INT8_TESTS);
        let header = Header {
            version: self.version,
            network: self.network,
            input_rank: self.input_rank,
            flags,
            input_shape: self.input_shape,
            num_layers: self.layers.len() as u32,
            num_weight_tensors: self.weights.len() as u32,
            num_bias_tensors: self.biases.len() as u32,
            weights_bytes: (self.weight_payload.len() + self.weight_padding()) as u32,
            biases_bytes: self.bias_payload.len() as u32,
        };
        header.write(sink);
    }

    fn check_limits(&self) -> Result<(), Error> {
        at_most("number of layers", self.layers.len(), MAX_LAYERS as usize)?;
        at_most("number of weight tensors", self.weights.len(), MAX_TENSORS as usize)?;
        at_most("number of bias tensors", self.biases.len(), MAX_TENSORS as usize)?;
        at_most("weight bytes", self.weight_payload.len(), u32::MAX as usize - 3)?;
        at_most("bias bytes", self.bias_payload.len(), u32::MAX as usize)?;
        exactly("weight bytes", self.weight_payload.len(), catalog_bytes(self.weights))?;
        exactly("bias bytes", self.bias_payload.len(), catalog_bytes(self.biases))?;
        if let Some(quant) = &self.quant {
            at_most("number of QUAN descriptors", quant.entries.len(), usize::from(MAX_QUANT_ENTRIES))?;
            exactly("number of QUAN descriptors", quant.entries.len(), self.weights.len() as u64)?;
            if let Some(scales) = quant.channel_scales {
                exactly("lists of channel scales", scales.len(), quant.entries.len() as u64)?;
            }
            let floats = self.weights.iter().filter(|entry| entry.dtype != DType::Int8).count();
            exactly("weight tensors that are not int8", floats, 0)?;
        }
        let Some(spec) = &self.cases else { return Ok(()) };
        at_most("number of test cases", spec.cases.len(), MAX_CASES as usize)?;
        for case in spec.cases {
            at_most("name of a test case", case.name.len(), usize::from(MAX_CASE_NAME))?;
            at_most("inputs of a test case", case.input.len(), MAX_CASE_FLOATS as usize)?;
            at_most("outputs of a test case", case.expected.len(), MAX_CASE_FLOATS as usize)?;
        }
        Ok(())
    }

    /// Size of the header and everything else up to the payload.
    pub fn metadata_bytes(&self) -> usize {
        let mut counter = Counter(HEADER_BYTES);
        self.layers.iter().for_each(|layer| layer.write(&mut counter));
        self.weights.iter().chain(self.biases).for_each(|entry| entry.write(&mut counter));
        if let Some(quant) = &self.quant {
            write_quant(quant, &mut counter);
        }
        counter.0
    }
}

/// Records and tensors of a float model in the order of the file, wherever they lie.
pub trait Parts {
    /// Shows the layers in execution order.
    fn for_each_layer(&self, visit: &mut dyn FnMut(&Layer));

    /// Shows the weight or bias catalog.
    fn for_each_tensor(&self, is_bias: bool, visit: &mut dyn FnMut(&TensorEntry));

    /// Writes the weights or biases in catalog order, little-endian.
    fn write_payload(&self, is_bias: bool, sink: &mut dyn Sink);
}

/// A float model without test cases whose parts do not lie in slices, for writers without a heap.
#[derive(Clone, Copy)]
pub struct FloatSpec<'a> {
    /// `NETWORK_MLP` or `NETWORK_CNN`.
    pub network: u8,
    /// Rank of the input.
    pub input_rank: u8,
    /// Input dimensions; unused ones are 0.
    pub input_shape: [u32; MAX_RANK],
    /// Everything else.
    pub parts: &'a dyn Parts,
}

impl FloatSpec<'_> {
    /// Writes the file, as [`ModelSpec::write`] does.
    pub fn write(&self, sink: &mut dyn Sink) -> Result<(), Error> {
        self.header()?.write(sink);
        self.parts.for_each_layer(&mut |layer| layer.write(sink));
        for is_bias in [false, true] {
            self.parts.for_each_tensor(is_bias, &mut |entry| entry.write(sink));
        }
        for is_bias in [false, true] {
            self.parts.write_payload(is_bias, sink);
        }
        Ok(())
    }

    /// Size of the file.
    pub fn file_bytes(&self) -> Result<usize, Error> {
        let header = self.header()?;
        let mut counter = Counter(HEADER_BYTES);
        self.parts.for_each_layer(&mut |layer| layer.write(&mut counter));
        let entries = (header.num_weight_tensors + header.num_bias_tensors) as usize * ENTRY_BYTES;
        let payload = (header.weights_bytes as usize).checked_add(header.biases_bytes as usize);
        let bytes = payload.and_then(|payload| payload.checked_add(counter.0 + entries));
        bytes.ok_or(Error::new(ErrorKind::SizeOverflow).note("the weights are too large"))
    }

    fn header(&self) -> Result<Header, Error> {
        let mut layers = 0;
        self.parts.for_each_layer(&mut |_| layers += 1);
        at_most("number of layers", layers, MAX_LAYERS as usize)?;
        let sum = |is_bias, field, bytes_field| {
            let (mut count, mut bytes) = (0usize, 0u64);
            self.parts.for_each_tensor(is_bias, &mut |entry| {
                count += 1;
                bytes = bytes.saturating_add(entry.num_bytes());
            });
            at_most(field, count, MAX_TENSORS as usize)?;
            let error = Error::new(ErrorKind::Limit).field(bytes_field).found(bytes).at_most(u64::from(u32::MAX));
            u32::try_from(bytes).map(|bytes| (count as u32, bytes)).map_err(|_| error)
        };
        let (num_weight_tensors, weights_bytes) = sum(false, "number of weight tensors", "weight bytes")?;
        let (num_bias_tensors, biases_bytes) = sum(true, "number of bias tensors", "bias bytes")?;
        Ok(Header {
            version: 3,
            network: self.network,
            input_rank: self.input_rank,
            flags: 0,
            input_shape: self.input_shape,
            num_layers: layers as u32,
            num_weight_tensors,
            num_bias_tensors,
            weights_bytes,
            biases_bytes,
        })
    }
}

impl Header {
    fn write(&self, sink: &mut dyn Sink) {
        sink.bytes(&MAGIC);
        sink.u32(self.version);
        sink.bytes(&[self.network, self.input_rank]);
        sink.u16(self.flags);
        for dim in self.input_shape {
            sink.u32(dim);
        }
        sink.u32(self.num_layers);
        sink.u32(self.num_weight_tensors);
        sink.u32(self.num_bias_tensors);
        sink.u32(self.weights_bytes);
        sink.u32(self.biases_bytes);
    }
}

struct Counter(usize);

impl Sink for Counter {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

fn catalog_bytes(entries: &[TensorEntry]) -> u64 {
    entries.iter().map(TensorEntry::num_bytes).sum()
}

fn at_most(field: &'static str, found: usize, limit: usize) -> Result<(), Error> {
    if found <= limit {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Limit).field(field).found(found as u64).at_most(limit as u64))
}

fn exactly(field: &'static str, found: usize, expected: u64) -> Result<(), Error> {
    if found as u64 == expected {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Weights).field(field).found(found as u64).expected(expected))
}

fn write_quant(spec: &QuantSpec<'_>, sink: &mut dyn Sink) {
    sink.bytes(&quant::MAGIC);
    sink.u16(spec.entries.len() as u16);
    sink.u16(if spec.channel_scales.is_some() { quant::FLAG_PER_CHANNEL } else { 0 });
    for entry in spec.entries {
        entry.write(sink);
    }
    for scales in spec.channel_scales.unwrap_or(&[]) {
        sink.u32((scales.len() / 4) as u32);
        sink.bytes(scales);
    }
}

fn write_cases(spec: &CasesSpec<'_>, sink: &mut dyn Sink) {
    sink.bytes(&cases::MAGIC);
    sink.u32(spec.cases.len() as u32);
    sink.f32(spec.tolerance);
    for case in spec.cases {
        case.write(sink);
    }
}
