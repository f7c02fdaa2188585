//! Tensor catalog: 24 bytes per weight or bias tensor.

use super::MAX_TENSORS;
use super::reader::Reader;
use super::write::Sink;
use crate::error::ErrorKind;
use crate::fault::{Text, text};
use crate::tensor::{MAX_RANK, checked_product};

/// Bytes of one catalog entry.
pub const ENTRY_BYTES: usize = 24;

/// Element type of a tensor in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DType {
    /// IEEE binary32 (code 1).
    Float32,
    /// Two's complement byte (code 2).
    Int8,
    /// Two's complement 32-bit integer (code 3), biases of int8 models.
    Int32,
}

impl DType {
    /// Code in the catalog entry.
    pub const fn code(self) -> u8 {
        match self {
            Self::Float32 => 1,
            Self::Int8 => 2,
            Self::Int32 => 3,
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Float32 | Self::Int32 => 4,
            Self::Int8 => 1,
        }
    }

    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float32 => "float32",
            Self::Int8 => "int8",
            Self::Int32 => "int32",
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::Float32, Self::Int8, Self::Int32].into_iter().find(|dtype| dtype.code() == code)
    }
}

/// A catalog entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorEntry {
    /// Number of dimensions, 1 to 4.
    pub rank: u8,
    /// Element type.
    pub dtype: DType,
    /// Dimensions; entries from `rank` on are 0.
    pub dims: [u32; MAX_RANK],
}

impl TensorEntry {
    /// Product of the dimensions; reading has checked that it fits.
    pub fn num_elements(&self) -> u32 {
        checked_product(self.active_dims()).unwrap_or(0)
    }

    /// The dimensions without the unused ones.
    pub fn active_dims(&self) -> &[u32] {
        self.dims.get(..usize::from(self.rank)).unwrap_or(&[])
    }

    /// Bytes of the tensor's payload.
    pub fn num_bytes(&self) -> u64 {
        u64::from(self.num_elements()) * u64::from(self.dtype.bytes())
    }

    /// Reads one entry and checks it against itself.
    #[inline(never)]
    pub fn read(r: &mut Reader<'_>) -> Self {
        let at = r.offset();
        let (rank, code) = (r.u8("tensor rank"), r.u8("tensor dtype"));
        r.reserved(2, ErrorKind::Catalog);
        let dims = [(); MAX_RANK].map(|()| r.u32("tensor dims"));
        let elements = r.u32("num_elements");
        let dtype = DType::from_code(code);
        let entry = Self { rank, dtype: dtype.unwrap_or(DType::Int8), dims };
        r.require((1..=4).contains(&rank), text!(Catalog: at_most, field "tensor rank"), [rank.into(), 4], at);
        r.require(dtype.is_some(), text!(Catalog: at_most, field "tensor dtype"), [code.into(), 3], at);
        let unused = dims.into_iter().skip(usize::from(rank)).find(|&dim| dim != 0).unwrap_or(0);
        r.require(unused == 0, text!(Catalog: expected, field "unused tensor dim"), [unused as usize, 0], at);
        let product = checked_product(entry.active_dims());
        let too_large = text!(Catalog: found, field "num_elements", note "the product of the dims is too large");
        r.require(product.is_some(), too_large, [elements as usize, 0], at);
        let product = product.unwrap_or(0);
        r.require(product > 0, text!(Catalog: at_least, field "num_elements"), [0, 1], at);
        r.require(
            product == elements,
            text!(Weights: expected, field "num_elements"),
            [elements as usize, product as usize],
            at,
        );
        entry
    }

    /// Writes the entry.
    pub fn write(&self, sink: &mut dyn Sink) {
        sink.bytes(&[self.rank, self.dtype.code(), 0, 0]);
        for dim in self.dims {
            sink.u32(dim);
        }
        sink.u32(self.num_elements());
    }
}

/// A catalog entry with the place of its payload in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorDesc {
    /// The entry.
    pub entry: TensorEntry,
    /// Offset of the first payload byte from the start of the file.
    pub offset: usize,
}

/// Reads `count` entries that must all have `dtype`; returns the sum of their payload bytes.
#[inline(never)]
pub(super) fn check_entries(r: &mut Reader<'_>, count: u32, dtype: DType, mismatch: &'static Text) -> u64 {
    debug_assert!(count <= MAX_TENSORS);
    let mut bytes = 0;
    for _ in 0..count {
        let at = r.offset();
        let entry = TensorEntry::read(r);
        let codes = [entry.dtype.code().into(), dtype.code().into()];
        r.require(entry.dtype == dtype, mismatch, codes, at);
        bytes += entry.num_bytes();
    }
    bytes
}
