//! The parsed model: a view of the bytes whose structure has been checked once.

use super::catalog::{self, DType, ENTRY_BYTES, TensorDesc, TensorEntry};
use super::quant::QuantSection;
use super::reader::Reader;
use super::{FLAG_QUANT, FLAG_TESTS, HEADER_BYTES, Layer, MAGIC, MAX_LAYERS, MAX_TENSORS, NETWORK_CNN, NETWORK_MLP};
use crate::error::{Error, ErrorKind};
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
}

impl<'m> Model<'m> {
    /// Checks the structure of `bytes`. Any bytes may be given.
    pub fn parse(bytes: &'m [u8]) -> Result<Self, Error> {
        let header = Header::read(bytes)?;
        let mut r = Reader::new(bytes, HEADER_BYTES, ErrorKind::Truncated);
        for index in 0..header.num_layers as usize {
            Layer::read(&mut r).map_err(|error| error.in_layer(index, error.layer_kind()))?;
        }
        let catalog_offset = r.offset();
        let quantized = header.is_quantized();
        let (weights, biases) = if quantized { (DType::Int8, DType::Int32) } else { (DType::Float32, DType::Float32) };
        let mismatch = if quantized {
            "int8 models have int8 weights and int32 biases"
        } else {
            "float models have float32 tensors"
        };
        let mut weight_sum = catalog::check_entries(&mut r, header.num_weight_tensors, weights, mismatch)?;
        let bias_sum = catalog::check_entries(&mut r, header.num_bias_tensors, biases, mismatch)?;
        if quantized {
            weight_sum = weight_sum.next_multiple_of(4);
        }
        check_sum("weights_bytes", header.weights_bytes, weight_sum, 40)?;
        check_sum("biases_bytes", header.biases_bytes, bias_sum, 44)?;
        let quant = if quantized { Some(QuantSection::read(bytes, &mut r)?) } else { None };
        let model = Self { bytes, header, catalog_offset, quant, payload_offset: r.offset() };
        model.check_quant_count()?;
        model.check_file_size()?;
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
            Some(LayerRecord { index, offset, layer: Layer::read(&mut reader).ok()? })
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
        (index < count).then(|| TensorEntry::read(&mut Reader::new(self.bytes, offset, ErrorKind::Truncated)).ok())?
    }

    fn tensors(&self, catalog: usize, count: u32, payload: usize) -> impl Iterator<Item = TensorDesc> + use<'m> {
        let mut reader = Reader::new(self.bytes, catalog, ErrorKind::Truncated);
        let mut offset = payload;
        (0..count).map_while(move |_| {
            let desc = TensorDesc { entry: TensorEntry::read(&mut reader).ok()?, offset };
            offset += desc.entry.num_bytes() as usize;
            Some(desc)
        })
    }

    /// Refuses NaN and infinite weights and biases, and non-zero padding behind int8 weights.
    ///
    /// Reads the whole payload, so it is a step of its own: parsing alone touches only the metadata.
    pub fn check_payload(&self) -> Result<(), Error> {
        if self.is_quantized() {
            let used = self.weight_tensors().map(|tensor| tensor.entry.num_bytes() as usize).sum::<usize>();
            let padding = self.payload().get(used..self.header.weights_bytes as usize).unwrap_or(&[]);
            if padding.iter().any(|&byte| byte != 0) {
                let at = self.payload_offset + used;
                return Err(Error::new(ErrorKind::Payload)
                    .field("padding behind the int8 weights")
                    .at(at)
                    .note("must be zero"));
            }
            return Ok(());
        }
        match find_non_finite(self.payload()) {
            None => Ok(()),
            Some(index) => {
                let at = self.payload_offset + 4 * index;
                Err(Error::new(ErrorKind::Payload).at(at).note("a weight or bias is NaN or infinite"))
            }
        }
    }

    fn check_quant_count(&self) -> Result<(), Error> {
        match self.quant {
            Some(quant) if quant.len() != self.header.num_weight_tensors as usize => {
                Err(Error::new(ErrorKind::Weights)
                    .field("QUAN count")
                    .found(quant.len() as u64)
                    .expected(u64::from(self.header.num_weight_tensors))
                    .at(quant.offset() + 4))
            }
            _ => Ok(()),
        }
    }

    fn check_file_size(&self) -> Result<(), Error> {
        let end =
            self.payload_offset as u64 + u64::from(self.header.weights_bytes) + u64::from(self.header.biases_bytes);
        if end > u64::from(u32::MAX) {
            return Err(Error::new(ErrorKind::SizeOverflow)
                .field("model size")
                .found(end)
                .at_most(u64::from(u32::MAX)));
        }
        let found = self.bytes.len() as u64;
        let error = Error::new(ErrorKind::FileSize).field("file size").found(found);
        if found < end {
            return Err(error.at_least(end));
        }
        if self.header.flags & FLAG_TESTS == 0 && found != end {
            return Err(error.expected(end));
        }
        Ok(())
    }
}

impl Header {
    /// True for an int8 model.
    pub fn is_quantized(&self) -> bool {
        self.flags & FLAG_QUANT != 0
    }

    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let mut r = Reader::new(bytes, 0, ErrorKind::Magic);
        if !bytes.starts_with(&MAGIC) {
            return Err(Error::new(ErrorKind::Magic));
        }
        if bytes.len() < HEADER_BYTES {
            return Err(Error::new(ErrorKind::Magic)
                .field("file size")
                .found(bytes.len() as u64)
                .at_least(HEADER_BYTES as u64));
        }
        r.take(4, "magic");
        let header = Self {
            version: r.u32("version"),
            network: r.u8("network_kind"),
            input_rank: r.u8("input_rank"),
            flags: r.u16("flags"),
            input_shape: [r.u32("input_shape"), r.u32("input_shape"), r.u32("input_shape"), r.u32("input_shape")],
            num_layers: r.u32("num_layers"),
            num_weight_tensors: r.u32("num_weight_tensors"),
            num_bias_tensors: r.u32("num_bias_tensors"),
            weights_bytes: r.u32("weights_bytes"),
            biases_bytes: r.u32("biases_bytes"),
        };
        header.check()?;
        Ok(header)
    }

    fn check(&self) -> Result<(), Error> {
        if !(3..=4).contains(&self.version) {
            let error = Error::new(ErrorKind::Version).field("format version").found(u64::from(self.version)).at(4);
            return Err(error.note("this library reads versions 3 and 4"));
        }
        limit("num_layers", self.num_layers, MAX_LAYERS, 28)?;
        limit("num_weight_tensors", self.num_weight_tensors, MAX_TENSORS, 32)?;
        limit("num_bias_tensors", self.num_bias_tensors, MAX_TENSORS, 36)?;
        if self.is_quantized() && self.version < 4 {
            return Err(Error::new(ErrorKind::Quant).at(10).note("flag 0x0002 (int8) needs format version 4"));
        }
        self.check_input()
    }

    /// Rank by network kind, dimensions above zero within the rank and zero beyond it.
    fn check_input(&self) -> Result<(), Error> {
        let rank = u64::from(self.input_rank);
        let error = Error::new(ErrorKind::Header).field("input_rank").found(rank).at(9);
        match self.network {
            NETWORK_MLP if rank != 2 => return Err(error.expected(2).note("an MLP input is [batch, features]")),
            NETWORK_CNN if rank != 3 => return Err(error.expected(3).note("a CNN input is [height, width, channels]")),
            _ if rank == 0 => return Err(error.at_least(1)),
            _ if rank > MAX_RANK as u64 => return Err(error.at_most(MAX_RANK as u64)),
            _ => {}
        }
        for (index, &dim) in self.input_shape.iter().enumerate() {
            let error = Error::new(ErrorKind::Header).found(u64::from(dim)).at(12 + 4 * index);
            if index < usize::from(self.input_rank) && dim == 0 {
                return Err(error.field("input dimension").at_least(1));
            }
            if index >= usize::from(self.input_rank) && dim != 0 {
                return Err(error.field("unused input dimension").expected(0));
            }
        }
        Ok(())
    }
}

fn limit(field: &'static str, found: u32, most: u32, at: usize) -> Result<(), Error> {
    if found <= most {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Limit).field(field).found(u64::from(found)).at_most(u64::from(most)).at(at))
}

fn check_sum(field: &'static str, found: u32, sum: u64, at: usize) -> Result<(), Error> {
    if u64::from(found) == sum {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Weights).field(field).found(u64::from(found)).expected(sum).at(at);
    Err(error.note("sum of the catalog"))
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
