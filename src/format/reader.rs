//! Bounds-checked little-endian reader over borrowed bytes.

use crate::error::{Error, ErrorKind};

/// Reads values one after another; a read beyond the end is an error that names the field and the offset.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'m> {
    bytes: &'m [u8],
    offset: usize,
    kind: ErrorKind,
}

impl<'m> Reader<'m> {
    /// Starts at `offset` of `bytes`; `kind` is the error reported for a read beyond the end.
    pub const fn new(bytes: &'m [u8], offset: usize, kind: ErrorKind) -> Self {
        Self { bytes, offset, kind }
    }

    /// Offset of the next byte, from the start of the file.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes left.
    pub const fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.offset)
    }

    /// An error of this reader's kind at the next byte.
    pub fn error(&self, field: &'static str) -> Error {
        Error::new(self.kind).field(field).at(self.offset)
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize, field: &'static str) -> Result<&'m [u8], Error> {
        let end = self.offset.checked_add(count);
        match end.and_then(|end| self.bytes.get(self.offset..end)) {
            Some(bytes) => {
                self.offset += count;
                Ok(bytes)
            }
            None => Err(self.error(field).note("the file ends here")),
        }
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], Error> {
        let bytes = self.take(N, field)?;
        bytes.try_into().map_err(|_| self.error(field))
    }

    /// Unsigned byte.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, Error> {
        Ok(u8::from_le_bytes(self.array(field)?))
    }

    /// Unsigned 16-bit integer.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, Error> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    /// Unsigned 32-bit integer.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    /// Signed 32-bit integer.
    pub fn i32(&mut self, field: &'static str) -> Result<i32, Error> {
        Ok(i32::from_le_bytes(self.array(field)?))
    }

    /// Float that may have any value.
    pub fn f32(&mut self, field: &'static str) -> Result<f32, Error> {
        Ok(f32::from_le_bytes(self.array(field)?))
    }

    /// Float that must be finite; `kind` is the error when it is not.
    pub fn finite_f32(&mut self, field: &'static str, kind: ErrorKind) -> Result<f32, Error> {
        let at = self.offset;
        let value = self.f32(field)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(Error::new(kind).field(field).at(at).note("must be a finite number"))
        }
    }

    /// Bytes that the format reserves: they must be zero, because a later version may give them a meaning.
    pub fn reserved(&mut self, count: usize, kind: ErrorKind) -> Result<(), Error> {
        let at = self.offset;
        match self.take(count, "reserved bytes")?.iter().position(|&byte| byte != 0) {
            None => Ok(()),
            Some(index) => {
                let byte = self.bytes.get(at + index).copied().unwrap_or(0);
                Err(Error::new(kind).field("reserved byte").found(u64::from(byte)).expected(0).at(at + index))
            }
        }
    }
}
