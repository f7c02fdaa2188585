//! The `.nk` container: what the bytes mean, checked once, never copied.
//!
//! ```text
//! parse.rs     Model: header, section offsets, and the checks that need no knowledge of a layer's arithmetic
//! reader.rs    bounds-checked little-endian reader
//! records.rs   one struct per layer kind; record_bytes.rs reads and writes it
//! catalog.rs   tensor catalog entries
//! quant.rs     QUAN section of int8 models
//! cases.rs     TCAS section: embedded regression test cases
//! write.rs     the writer
//! ```
//!
//! Section order: header, layer records, weight catalog, bias catalog, QUAN (int8 only), weight payload, bias payload,
//! TCAS. Every integer is little-endian, every float IEEE binary32.

pub mod cases;
pub mod catalog;
mod parse;
pub mod quant;
pub mod reader;
mod record_bytes;
pub mod records;
pub mod write;

pub use cases::{Case, Cases, Values};
pub use catalog::{DType, TensorDesc, TensorEntry};
pub use parse::{Header, LayerRecord, Model};
pub use quant::{QuantEntry, QuantSection};
pub use records::{Layer, kind_name};

/// First four bytes of every model.
pub const MAGIC: [u8; 4] = *b"NKIT";
/// Bytes of the file header.
pub const HEADER_BYTES: usize = 48;
/// Most layers in a model.
pub const MAX_LAYERS: u32 = 100;
/// Most entries in the weight catalog, and in the bias catalog.
pub const MAX_TENSORS: u32 = 128;
/// Most embedded test cases.
pub const MAX_CASES: u32 = 16;
/// Most values in one input or output of a test case.
pub const MAX_CASE_FLOATS: u32 = 16_384;
/// Longest name of a test case, in bytes.
pub const MAX_CASE_NAME: u8 = 127;
/// Most descriptors in a QUAN section.
pub const MAX_QUANT_ENTRIES: u16 = 100;

/// Header flag: a TCAS section follows the payload.
pub const FLAG_TESTS: u16 = 0x0001;
/// Header flag: a QUAN section follows the catalog and the model is int8.
pub const FLAG_QUANT: u16 = 0x0002;
/// Header flag: the inputs of the test cases are int8 values.
pub const FLAG_INT8_TESTS: u16 = 0x0004;

/// `network_kind` of a multi-layer perceptron.
pub const NETWORK_MLP: u8 = 1;
/// `network_kind` of a convolutional network.
pub const NETWORK_CNN: u8 = 2;
