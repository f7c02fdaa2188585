//! The parsed model: a view of the bytes whose structure has been checked once.

use super::catalog::{self, DType, ENTRY_BYTES, TensorDesc, TensorEntry};
use super::quant::QuantSection;
use super::reader::{NOWHERE, Reader};
use super::{FLAG_QUANT, FLAG_TESTS, HEADER_BYTES, Layer, MAGIC, MAX_LAYERS, MAX_TENSORS, NETWORK_CNN, NETWORK_MLP};
use crate::element::ONLY_INT8;
use crate::error::{Error, ErrorKind, amount};
use crate::fault::{Text, text};
use crate::tensor::MAX_RANK;

/// The file header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Format version, 3 or 4.
    pub version: u32,
    /// 1 = MLP, 2 = CNN; other values parse and cannot be loaded.
    pub network: u8,
    /// Rank of the input: 2 for an MLP, 3 for a CNN.
    pub input_rank: u8,
    /// `FLAG_*` bits.
    pub flags: u16,
    /// Input dimensions: `[batch, features]` or `[height, width, channels]`.
    pub input_shape: [u32; MAX_RANK],
    /// Layer records.
    pub num_layers: u32,
    /// Entries of the weight catalog.
    pub num_weight_tensors: u32,
    /// Entries of the bias catalog.
    pub num_bias_tensors: u32,
    /// Bytes of the weight payload, int8 padding included.
    pub weights_bytes: u32,
    /// Bytes of the bias payload.
    pub biases_bytes: u32,
}

/// A layer record with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerRecord {
    /// Index, from 0.
    pub index: usize,
    /// Offset of the record in the file.
    pub offset: usize,
    /// The record.
    pub layer: Layer,
}

/// A `.nk` model whose structure has been checked: sections, counts, records, catalog, quantisation and payload sizes.
///
/// Whether the layers fit each other and their tensors is found by lowering them ([`crate::plan`]); the test section is
/// checked by [`super::Cases::read`]. The view borrows the bytes, copies nothing and works at any alignment.
#[derive(Clone, Copy, Debug)]
pub struct Model<'m> {
    bytes: &'m [u8],
    header: Header,
    catalog_offset: usize,
    quant: Option<QuantSection<'m>>,
    payload_offset: usize,
    /// Bytes behind the int8 weights that align the biases.
    padding: usize,
}

impl<'m> Model<'m> {
    /// Checks the structure of `bytes`. Any bytes may be given.
    pub fn parse(bytes: &'m [u8]) -> Result<Self, Error> {
        let mut r = Reader::new(bytes, 0, ErrorKind::Magic);
        let header = Header::read(&mut r, bytes);
        // The counts say how much there is to read.
        r.finish()?;
        r.set_kind(ErrorKind::Truncated);
        for index in 0..header.num_layers as usize {
            Layer::read(&mut r);
            r.fault_in_layer(index);
        }
        let catalog_offset = r.offset();
        let quantized = header.is_quantized();
        let (weights, biases) = if quantized { (DType::Int8, DType::Int32) } else { (DType::Float32, DType::Float32) };
        let mismatch = if quantized {
            text!(Layer: expected, field "tensor dtype", note "int8 models have int8 weights and int32 biases")
        } else {
            text!(Layer: expected, field "tensor dtype", note "float models have float32 tensors")
        };
        let weight_sum = catalog::check_entries(&mut r, header.num_weight_tensors, weights, mismatch);
        let padding = if quantized { weight_sum.wrapping_neg() % 4 } else { 0 };
        let weight_sum = weight_sum + padding;
        let bias_sum = catalog::check_entries(&mut r, header.num_bias_tensors, biases, mismatch);
        let weights = text!(Weights: expected, field "weights_bytes", note "sum of the catalog");
        check_sum(&mut r, weights, header.weights_bytes, weight_sum, 40);
        let biases = text!(Weights: expected, field "biases_bytes", note "sum of the catalog");
        check_sum(&mut r, biases, header.biases_bytes, bias_sum, 44);
        let quant = if quantized { Some(QuantSection::read(bytes, &mut r)) } else { None };
        let (payload_offset, padding) = (r.offset(), padding as usize);
        let model = Self { bytes, header, catalog_offset, quant, payload_offset, padding };
        model.check_quant_count(&mut r);
        model.check_file_size(&mut r);
        r.finish()?;
        Ok(model)
    }

    /// The whole file.
    pub fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// The header.
    pub fn header(&self) -> Header {
        self.header
    }

    /// True for an int8 model (header flag 0x0002).
    pub fn is_quantized(&self) -> bool {
        self.header.is_quantized()
    }

    /// Offset of the weight catalog.
    pub fn catalog_offset(&self) -> usize {
        self.catalog_offset
    }

    /// Offset of the weight payload, a multiple of 4.
    pub fn payload_offset(&self) -> usize {
        self.payload_offset
    }

    /// Offset of the first byte behind the bias payload.
    pub fn payload_end(&self) -> usize {
        self.payload_offset + self.payload_bytes()
    }

    /// Bytes of weights and biases together.
    pub fn payload_bytes(&self) -> usize {
        self.header.weights_bytes as usize + self.header.biases_bytes as usize
    }

    /// Weights and biases, raw.
    pub fn payload(&self) -> &'m [u8] {
        self.bytes.get(self.payload_offset..self.payload_end()).unwrap_or(&[])
    }

    /// Quantisation section of an int8 model.
    pub fn quant(&self) -> Option<QuantSection<'m>> {
        self.quant
    }

    /// The layer records in execution order.
    pub fn layers(&self) -> impl Iterator<Item = LayerRecord> + use<'m> {
        let mut reader = Reader::new(self.bytes, HEADER_BYTES, ErrorKind::Truncated);
        (0..self.header.num_layers as usize).map_while(move |index| {
            let offset = reader.offset();
            Some(LayerRecord { index, offset, layer: Layer::read(&mut reader) })
        })
    }

    /// The weight tensors in catalog order.
    pub fn weight_tensors(&self) -> impl Iterator<Item = TensorDesc> + use<'m> {
        self.tensors(self.catalog_offset, self.header.num_weight_tensors, self.payload_offset)
    }

    /// The bias tensors in catalog order.
    pub fn bias_tensors(&self) -> impl Iterator<Item = TensorDesc> + use<'m> {
        let catalog = self.catalog_offset + ENTRY_BYTES * self.header.num_weight_tensors as usize;
        let payload = self.payload_offset + self.header.weights_bytes as usize;
        self.tensors(catalog, self.header.num_bias_tensors, payload)
    }

    /// Entry `index` of the weight or bias catalog; its payload offset is left to the caller, who knows the entries before.
    #[inline(never)]
    pub(crate) fn entry_at(&self, is_bias: bool, index: usize) -> Option<TensorEntry> {
        let (weights, biases) = (self.header.num_weight_tensors as usize, self.header.num_bias_tensors as usize);
        let (first, count) = if is_bias { (weights, biases) } else { (0, weights) };
        let offset = self.catalog_offset + ENTRY_BYTES * (first + index);
        (index < count).then(|| TensorEntry::read(&mut Reader::new(self.bytes, offset, ErrorKind::Truncated)))
    }

    fn tensors(&self, catalog: usize, count: u32, payload: usize) -> impl Iterator<Item = TensorDesc> + use<'m> {
        let mut reader = Reader::new(self.bytes, catalog, ErrorKind::Truncated);
        let mut offset = payload;
        (0..count).map_while(move |_| {
            let desc = TensorDesc { entry: TensorEntry::read(&mut reader), offset };
            offset += desc.entry.num_bytes() as usize;
            Some(desc)
        })
    }

    /// Refuses NaN and infinite weights and biases, and non-zero padding behind int8 weights.
    ///
    /// Reads the whole payload, so it is a step of its own: parsing alone touches only the metadata.
    pub fn check_payload(&self) -> Result<(), Error> {
        if ONLY_INT8.unwrap_or(self.is_quantized()) {
            let end = self.payload_offset + self.header.weights_bytes as usize;
            let at = end.saturating_sub(self.padding);
            let padding = self.bytes.get(at..end).unwrap_or_default();
            if padding.iter().any(|&byte| byte != 0) {
                let text = text!(Payload, field "padding behind the int8 weights", note "must be zero");
                return Err(text.told_at(0, 0, at));
            }
            return Ok(());
        }
        match find_non_finite(self.payload()) {
            None => Ok(()),
            Some(index) => {
                let at = self.payload_offset + 4 * index;
                Err(text!(Payload, note "a weight or bias is NaN or infinite").told_at(0, 0, at))
            }
        }
    }

    fn check_quant_count(&self, r: &mut Reader<'_>) {
        if let Some(quant) = self.quant {
            let counts = [quant.len(), self.header.num_weight_tensors as usize];
            let text = text!(Weights: expected, field "QUAN count");
            r.require(counts[0] == counts[1], text, counts, quant.offset() + 4);
        }
    }

    fn check_file_size(&self, r: &mut Reader<'_>) {
        let parts = u64::from(self.header.weights_bytes) + u64::from(self.header.biases_bytes);
        let end = self.payload_offset as u64 + parts;
        let told = [self.bytes.len(), amount(end)];
        let too_large = text!(SizeOverflow: at_most, field "model size");
        r.require(end <= u64::from(u32::MAX), too_large, [told[1], u32::MAX as usize], NOWHERE);
        let is_whole = self.bytes.len() as u64 >= end;
        r.require(is_whole, text!(FileSize: at_least, field "file size"), told, NOWHERE);
        let has_more = self.bytes.len() as u64 > end && self.header.flags & FLAG_TESTS == 0;
        r.require(!has_more, text!(FileSize: expected, field "file size"), told, NOWHERE);
    }
}

impl Header {
    /// True for an int8 model.
    pub fn is_quantized(&self) -> bool {
        self.flags & FLAG_QUANT != 0
    }

    fn read(r: &mut Reader<'_>, bytes: &[u8]) -> Self {
        r.require(bytes.starts_with(&MAGIC), text!(Magic), [0; 2], NOWHERE);
        let sizes = [bytes.len(), HEADER_BYTES];
        r.require(bytes.len() >= HEADER_BYTES, text!(Magic: at_least, field "file size"), sizes, NOWHERE);
        // The bytes are there, so that nobody reads the name.
        const FIELD: &str = "header";
        r.take(4, FIELD);
        let header = Self {
            version: r.u32(FIELD),
            network: r.u8(FIELD),
            input_rank: r.u8(FIELD),
            flags: r.u16(FIELD),
            input_shape: [(); MAX_RANK].map(|()| r.u32(FIELD)),
            num_layers: r.u32(FIELD),
            num_weight_tensors: r.u32(FIELD),
            num_bias_tensors: r.u32(FIELD),
            weights_bytes: r.u32(FIELD),
            biases_bytes: r.u32(FIELD),
        };
        header.check(r);
        header
    }

    fn check(&self, r: &mut Reader<'_>) {
        let text = text!(Version: found, field "format version", note "this library reads versions 3 and 4");
        r.require((3..=4).contains(&self.version), text, [self.version as usize, 0], 4);
        let limits = [
            (text!(Limit: at_most, field "num_layers"), self.num_layers, MAX_LAYERS, 28),
            (text!(Limit: at_most, field "num_weight_tensors"), self.num_weight_tensors, MAX_TENSORS, 32),
            (text!(Limit: at_most, field "num_bias_tensors"), self.num_bias_tensors, MAX_TENSORS, 36),
        ];
        for (text, count, most, at) in limits {
            r.require(count <= most, text, [count as usize, most as usize], at);
        }
        let text = text!(Quant, note "flag 0x0002 (int8) needs format version 4");
        r.require(!self.is_quantized() || self.version >= 4, text, [0; 2], 10);
        self.check_input(r);
    }

    /// Rank by network kind, dimensions above zero within the rank and zero beyond it.
    fn check_input(&self, r: &mut Reader<'_>) {
        let rank = usize::from(self.input_rank);
        let (text, expected) = match self.network {
            NETWORK_MLP => (text!(Header: expected, field "input_rank", note "an MLP input is [batch, features]"), 2),
            NETWORK_CNN => {
                (text!(Header: expected, field "input_rank", note "a CNN input is [height, width, channels]"), 3)
            }
            _ if rank == 0 => (text!(Header: at_least, field "input_rank"), 1),
            _ => (text!(Header: at_most, field "input_rank"), rank.min(MAX_RANK)),
        };
        r.require(rank == expected, text, [rank, expected], 9);
        for (index, dim) in self.input_shape.into_iter().enumerate() {
            let at = 12 + 4 * index;
            if index < rank {
                r.require(dim != 0, text!(Header: at_least, field "input dimension"), [0, 1], at);
            } else {
                r.require(dim == 0, text!(Header: expected, field "unused input dimension"), [dim as usize, 0], at);
            }
        }
    }
}

fn check_sum(r: &mut Reader<'_>, text: &'static Text, found: u32, sum: u64, at: usize) {
    r.require(u64::from(found) == sum, text, [found as usize, amount(sum)], at);
}

/// Index of the first NaN or infinity among little-endian floats.
fn find_non_finite(payload: &[u8]) -> Option<usize> {
    const EXPONENT: u32 = 0x7F80_0000;
    let words = payload.as_chunks::<4>().0;
    let is_bad = |word: &[u8; 4]| u32::from_le_bytes(*word) & EXPONENT == EXPONENT;
    // Whole blocks without an early exit vectorise; only a block with a fault is searched word by word.
    const BLOCK: usize = 1024;
    let block = words.chunks(BLOCK).position(|block| block.iter().fold(false, |bad, word| bad | is_bad(word)))?;
    let first = block * BLOCK;
    words.get(first..)?.iter().position(is_bad).map(|index| first + index)
}
