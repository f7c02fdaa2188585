//! The wire format of protocol buffers: messages as sequences of numbered fields.
//!
//! Nothing is copied and nothing recurses: a field of bytes is a slice of the file with its offset, and whoever expects
//! a message in it reads that slice in turn.

use crate::error::Error;

/// Part of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slice<'a> {
    pub(crate) bytes: &'a [u8],
    /// Position of the first byte in the file.
    pub(crate) offset: usize,
}

/// Contents of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(Slice<'a>),
    Fixed32([u8; 4]),
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    pub(crate) payload: Payload<'a>,
    /// Position of the payload in the file.
    pub(crate) offset: usize,
}

/// Reads the fields of one message in order.
pub(crate) struct Message<'a> {
    slice: Slice<'a>,
    at: usize,
}

const GROUP_START: u64 = 3;
const GROUP_END: u64 = 4;

impl<'a> Message<'a> {
    pub(crate) fn new(slice: Slice<'a>) -> Self {
        Self { slice, at: 0 }
    }

    /// The next field; groups, which ONNX does not have, are skipped like all unknown fields.
    pub(crate) fn next_field(&mut self) -> Result<Option<Field<'a>>, Error> {
        let mut open_groups = 0u64;
        loop {
            if self.at == self.slice.bytes.len() {
                return match open_groups {
                    0 => Ok(None),
                    _ => Err(self.malformed("a message ends inside a group")),
                };
            }
            let tag = self.varint()?;
            let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
            let number = number.ok_or_else(|| self.malformed("a field number is outside 1..536870911"))?;
            let offset = self.position();
            match tag & 7 {
                GROUP_START => open_groups += 1,
                GROUP_END if open_groups == 0 => return Err(self.malformed("a group ends that did not begin")),
                GROUP_END => open_groups -= 1,
                kind => {
                    let payload = self.payload(kind)?;
                    if open_groups == 0 {
                        return Ok(Some(Field { number, payload, offset }));
                    }
                }
            }
        }
    }

    fn payload(&mut self, kind: u64) -> Result<Payload<'a>, Error> {
        Ok(match kind {
            0 => Payload::Varint(self.varint()?),
            1 => Payload::Fixed64(self.array()?),
            2 => {
                let length = self.varint()?;
                let left = self.slice.bytes.len() - self.at;
                let length = usize::try_from(length).ok().filter(|length| *length <= left).ok_or_else(|| {
                    self.malformed(&format!("a field of {length} bytes begins where {left} bytes are left"))
                })?;
                let offset = self.position();
                Payload::Bytes(Slice { bytes: self.take(length), offset })
            }
            5 => Payload::Fixed32(self.array()?),
            kind => return Err(self.malformed(&format!("wire type {kind} does not exist"))),
        })
    }

    /// Up to 10 bytes with 7 bits each, the lowest first.
    pub(crate) fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.slice.bytes.get(self.at).ok_or_else(|| self.malformed("the file ends inside a number"))?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.malformed("a number has more than 10 bytes"))
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at == self.slice.bytes.len()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let array = self.slice.bytes[self.at..].first_chunk::<N>().copied();
        let array = array.ok_or_else(|| self.malformed(&format!("the file ends inside a number of {N} bytes")))?;
        self.at += N;
        Ok(array)
    }

    /// `length` bytes that are known to be there.
    fn take(&mut self, length: usize) -> &'a [u8] {
        let bytes = &self.slice.bytes[self.at..self.at + length];
        self.at += length;
        bytes
    }

    fn position(&self) -> usize {
        self.slice.offset + self.at
    }

    fn malformed(&self, found: &str) -> Error {
        Error::Malformed { offset: self.position(), found: found.into() }
    }
}

impl<'a> Field<'a> {
    pub(crate) fn bytes(self, name: &str) -> Result<Slice<'a>, Error> {
        match self.payload {
            Payload::Bytes(slice) => Ok(slice),
            _ => Err(self.unexpected(name, "bytes")),
        }
    }

    pub(crate) fn text(self, name: &str) -> Result<&'a str, Error> {
        let slice = self.bytes(name)?;
        std::str::from_utf8(slice.bytes)
            .map_err(|_| Error::Malformed { offset: slice.offset, found: format!("{name} is not UTF-8 text") })
    }

    /// A signed integer: protocol buffers write negative ones as two's complement of 64 bits.
    pub(crate) fn int(self, name: &str) -> Result<i64, Error> {
        match self.payload {
            Payload::Varint(value) => Ok(value as i64),
            _ => Err(self.unexpected(name, "an integer")),
        }
    }

    pub(crate) fn float(self, name: &str) -> Result<f32, Error> {
        match self.payload {
            Payload::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.unexpected(name, "a float")),
        }
    }

    /// Passes on one or, if they are packed, several integers of a repeated field.
    pub(crate) fn each_int(self, name: &str, mut take: impl FnMut(i64) -> Result<(), Error>) -> Result<(), Error> {
        match self.payload {
            Payload::Varint(value) => take(value as i64),
            Payload::Bytes(packed) => {
                let mut reader = Message::new(packed);
                while !reader.is_at_end() {
                    take(reader.varint()? as i64)?;
                }
                Ok(())
            }
            _ => Err(self.unexpected(name, "integers")),
        }
    }

    /// Passes on one or, if they are packed, several numbers of `N` bytes of a repeated field.
    pub(crate) fn each_fixed<const N: usize>(
        self,
        name: &str,
        mut take: impl FnMut([u8; N]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match self.payload {
            Payload::Fixed32(bytes) if N == 4 => take(std::array::from_fn(|i| bytes[i])),
            Payload::Fixed64(bytes) if N == 8 => take(std::array::from_fn(|i| bytes[i])),
            Payload::Bytes(packed) if packed.bytes.len().is_multiple_of(N) => {
                let (chunks, _) = packed.bytes.as_chunks::<N>();
                chunks.iter().try_for_each(|chunk| take(*chunk))
            }
            _ => Err(self.unexpected(name, &format!("numbers of {N} bytes"))),
        }
    }

    fn unexpected(self, name: &str, expected: &str) -> Error {
        Error::Malformed { offset: self.offset, found: format!("field {name} is not {expected}") }
    }
}
