//! Bounds-checked little-endian reader over borrowed bytes.

use crate::error::{Error, ErrorKind};
use crate::fault::Text;

/// The place of an error that has none.
pub const NOWHERE: usize = usize::MAX;

/// Reads values one after another. A read beyond the end, or of what must not be, is an error that names the field and the
/// offset.
///
/// The reader keeps the first error, and reads nothing but zeros from there on; [`Reader::finish`] tells. So whoever reads a
/// record reads all its fields and asks once, which is a good part of the size of the code on microcontrollers. Nothing that
/// was read may be used before.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'m> {
    bytes: &'m [u8],
    offset: usize,
    kind: ErrorKind,
    fault: Option<Error>,
}

impl<'m> Reader<'m> {
    /// Starts at `offset` of `bytes`; `kind` is the error reported for a read beyond the end.
    pub const fn new(bytes: &'m [u8], offset: usize, kind: ErrorKind) -> Self {
        Self { bytes, offset, kind, fault: None }
    }

    /// Offset of the next byte, from the start of the file.
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// The first error of all reads so far.
    pub fn finish(&self) -> Result<(), Error> {
        self.fault.map_or(Ok(()), Err)
    }

    /// Whether there was an error.
    pub const fn has_failed(&self) -> bool {
        self.fault.is_some()
    }

    /// From here on `kind` is the error reported for a read beyond the end.
    pub const fn set_kind(&mut self, kind: ErrorKind) {
        self.kind = kind;
    }

    /// What is wrong belongs to layer `index`, whose kind byte the error has.
    pub fn fault_in_layer(&mut self, index: usize) {
        self.fault = self.fault.map(|error| error.in_layer(index, error.layer_kind()));
    }

    /// What is wrong belongs to a layer with this kind byte, unless its layer is known.
    pub fn fault_in_kind(&mut self, kind: u8) {
        self.fault = self.fault.map(|error| if error.layer().is_some() { error } else { error.in_kind(kind) });
    }

    /// Keeps an error, unless there was one before.
    #[cold]
    #[inline(never)]
    fn keep(&mut self, error: Error) {
        self.fault = self.fault.or(Some(error));
    }

    /// Keeps an error about two numbers, found and expected, at a place in the file, which may be [`NOWHERE`].
    #[cold]
    #[inline(never)]
    pub fn refuse(&mut self, text: &'static Text, [found, expected]: [usize; 2], at: usize) {
        self.keep(text.told_at(found, expected, at));
    }

    /// [`Reader::refuse`] unless something holds.
    #[inline(never)]
    pub fn require(&mut self, holds: bool, text: &'static Text, numbers: [usize; 2], at: usize) {
        if !holds {
            self.refuse(text, numbers, at);
        }
    }

    /// The next `count` bytes; none after an error.
    #[inline(never)]
    pub fn take(&mut self, count: usize, field: &'static str) -> &'m [u8] {
        let end = self.offset.checked_add(count).filter(|_| self.fault.is_none());
        match end.and_then(|end| self.bytes.get(self.offset..end)) {
            Some(bytes) => {
                self.offset += count;
                bytes
            }
            None => {
                self.keep(Error::new(self.kind).field(field).at(self.offset).note("the file ends here"));
                &[]
            }
        }
    }

    /// The next `count` bytes, 1 to 4, as a number.
    #[inline(never)]
    fn number(&mut self, count: usize, field: &'static str) -> u32 {
        self.take(count, field).iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }

    /// Unsigned byte.
    pub fn u8(&mut self, field: &'static str) -> u8 {
        self.number(1, field) as u8
    }

    /// Unsigned 16-bit integer.
    pub fn u16(&mut self, field: &'static str) -> u16 {
        self.number(2, field) as u16
    }

    /// Unsigned 32-bit integer.
    pub fn u32(&mut self, field: &'static str) -> u32 {
        self.number(4, field)
    }

    /// Signed 32-bit integer.
    pub fn i32(&mut self, field: &'static str) -> i32 {
        self.number(4, field).cast_signed()
    }

    /// Float that must be finite; `kind` is the error when it is not.
    #[inline(never)]
    pub fn finite_f32(&mut self, field: &'static str, kind: ErrorKind) -> f32 {
        let at = self.offset;
        let value = f32::from_bits(self.number(4, field));
        if !value.is_finite() {
            self.keep(Error::new(kind).field(field).at(at).note("must be a finite number"));
        }
        value
    }

    /// Float that must be finite and above 0.
    #[inline(never)]
    pub fn positive_f32(&mut self, field: &'static str, kind: ErrorKind) -> f32 {
        let at = self.offset;
        let value = self.finite_f32(field, kind);
        if value <= 0.0 {
            self.keep(Error::new(kind).field(field).at(at).note("must be above 0"));
        }
        value
    }

    /// Signed 32-bit integer with the value of an int8.
    #[inline(never)]
    pub fn int8(&mut self, field: &'static str, kind: ErrorKind) -> i32 {
        let at = self.offset;
        let value = self.i32(field);
        if i8::try_from(value).is_err() {
            self.keep(Error::new(kind).field(field).at(at).note("must be -128 to 127"));
        }
        value
    }

    /// Bytes that the format reserves: they must be zero, because a later version may give them a meaning.
    #[inline(never)]
    pub fn reserved(&mut self, count: usize, kind: ErrorKind) {
        let at = self.offset;
        let bytes = self.take(count, "reserved bytes");
        if let Some((index, &byte)) = bytes.iter().enumerate().find(|&(_, &byte)| byte != 0) {
            self.keep(Error::new(kind).field("reserved byte").found(byte.into()).expected(0).at(at + index));
        }
    }
}
