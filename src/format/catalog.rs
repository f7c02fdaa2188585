//! Tensor catalog: 24 bytes per weight or bias tensor.

use super::MAX_TENSORS;
use super::reader::Reader;
use super::write::Sink;
use crate::error::{Error, ErrorKind};
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
    pub fn read(r: &mut Reader<'_>) -> Result<Self, Error> {
        let at = r.offset();
        let fault_of = |kind, field, found: u32| Error::new(kind).field(field).found(u64::from(found)).at(at);
        let fault = |field, found| fault_of(ErrorKind::Catalog, field, found);
        let rank = r.u8("tensor rank");
        let code = r.u8("tensor dtype");
        r.reserved(2, ErrorKind::Catalog);
        let mut dims = [0; MAX_RANK];
        for dim in &mut dims {
            *dim = r.u32("tensor dims");
        }
        let num_elements = r.u32("num_elements");
        r.finish()?;
        if !(1..=4).contains(&rank) {
            return Err(fault("tensor rank", u32::from(rank)).at_most(4));
        }
        let Some(dtype) = DType::from_code(code) else {
            return Err(fault("tensor dtype", u32::from(code)).at_most(3));
        };
        let entry = Self { rank, dtype, dims };
        if let Some(&dim) = dims.iter().skip(usize::from(rank)).find(|&&dim| dim != 0) {
            return Err(fault("unused tensor dim", dim).expected(0));
        }
        match checked_product(entry.active_dims()) {
            Some(0) => Err(fault("num_elements", 0).at_least(1)),
            Some(product) if product == num_elements => Ok(entry),
            Some(product) => {
                Err(fault_of(ErrorKind::Weights, "num_elements", num_elements).expected(u64::from(product)))
            }
            None => Err(fault("num_elements", num_elements).note("the product of the dims is too large")),
        }
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
pub(super) fn check_entries(
    r: &mut Reader<'_>,
    count: u32,
    dtype: DType,
    mismatch: &'static str,
) -> Result<u64, Error> {
    debug_assert!(count <= MAX_TENSORS);
    let mut bytes = 0;
    for _ in 0..count {
        let at = r.offset();
        let entry = TensorEntry::read(r)?;
        if entry.dtype != dtype {
            let found = u64::from(entry.dtype.code());
            return Err(Error::new(ErrorKind::Layer)
                .field("tensor dtype")
                .found(found)
                .expected(u64::from(dtype.code()))
                .note(mismatch)
                .at(at));
        }
        bytes += entry.num_bytes();
    }
    Ok(bytes)
}
