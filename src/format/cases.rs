//! TCAS section: regression test cases embedded in a model. Loading and running a model never read it.

use super::reader::Reader;
use super::write::Sink;
use super::{FLAG_INT8_TESTS, FLAG_TESTS, MAX_CASE_FLOATS, MAX_CASE_NAME, MAX_CASES, Model};
use crate::error::{Error, ErrorKind};

/// First four bytes of the section.
pub const MAGIC: [u8; 4] = *b"TCAS";

/// The section, borrowed. Every case was checked when it was read.
#[derive(Clone, Copy, Debug)]
pub struct Cases<'m> {
    reader: Reader<'m>,
    count: u32,
    int8_inputs: bool,
    /// Largest allowed absolute difference of an output.
    pub tolerance: f32,
    /// Offset of the section in the file.
    pub offset: usize,
}

/// Values of a test case, raw little-endian bytes of any alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values<'m> {
    /// float32, four bytes each.
    Float32(&'m [u8]),
    /// int8, one byte each.
    Int8(&'m [u8]),
}

impl<'m> Values<'m> {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Float32(bytes) => bytes.len() / 4,
            Self::Int8(bytes) => bytes.len(),
        }
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The raw bytes.
    pub fn bytes(&self) -> &'m [u8] {
        match *self {
            Self::Float32(bytes) | Self::Int8(bytes) => bytes,
        }
    }

    /// The values as floats; int8 values keep their number.
    pub fn floats(&self) -> impl Iterator<Item = f32> + use<'m> {
        let (floats, ints): (&[u8], &[u8]) = match *self {
            Self::Float32(bytes) => (bytes, &[]),
            Self::Int8(bytes) => (&[], bytes),
        };
        let floats = floats.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
        floats.chain(ints.iter().map(|&byte| f32::from(i8::from_le_bytes([byte]))))
    }
}

/// One test case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case<'m> {
    /// Name, 1 to 127 bytes of UTF-8.
    pub name: &'m str,
    /// Class that the largest output must have, or -1.
    pub label: i32,
    /// Input values.
    pub input: Values<'m>,
    /// Expected outputs, always float32; for int8 models they are dequantised.
    pub expected: Values<'m>,
}

impl<'m> Cases<'m> {
    /// Reads and checks the section of `model`; a model without test cases is an error.
    pub fn read(model: &Model<'m>) -> Result<Self, Error> {
        let offset = model.payload_end();
        if model.header().flags & FLAG_TESTS == 0 {
            return Err(Error::new(ErrorKind::Cases).note("no embedded test cases: header flag 0x0001 is not set"));
        }
        let mut r = Reader::new(model.bytes(), offset, ErrorKind::Cases);
        let magic = r.take(4, "TCAS magic");
        r.finish()?;
        if magic != MAGIC {
            return Err(Error::new(ErrorKind::Cases).at(offset).note("the test section must start with TCAS"));
        }
        let count = r.u32("number of test cases");
        r.finish()?;
        if count == 0 || count > MAX_CASES {
            let error = Error::new(ErrorKind::Cases).field("number of test cases").found(u64::from(count));
            let error = if count == 0 { error.at_least(1) } else { error.at_most(u64::from(MAX_CASES)) };
            return Err(error.at(offset + 4));
        }
        let tolerance = r.finite_f32("tolerance", ErrorKind::Cases);
        r.finish()?;
        if tolerance < 0.0 {
            return Err(Error::new(ErrorKind::Cases).field("tolerance").at(offset + 8).note("must not be negative"));
        }
        let int8_inputs = model.header().flags & FLAG_INT8_TESTS != 0;
        let cases = Self { reader: r, count, int8_inputs, tolerance, offset };
        for _ in 0..count {
            Case::read(&mut r, int8_inputs)?;
        }
        Ok(cases)
    }

    /// Number of cases, 1 to 16.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Never true for a section that was read from a file.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True when the inputs are int8 values (header flag 0x0004).
    pub fn has_int8_inputs(&self) -> bool {
        self.int8_inputs
    }

    /// The cases in file order.
    pub fn iter(&self) -> impl Iterator<Item = Case<'m>> + use<'m> {
        let (mut reader, int8_inputs) = (self.reader, self.int8_inputs);
        (0..self.count).map_while(move |_| Case::read(&mut reader, int8_inputs).ok())
    }
}

impl<'m> Case<'m> {
    fn read(r: &mut Reader<'m>, int8_inputs: bool) -> Result<Self, Error> {
        let at = r.offset();
        let length = r.u8("name length");
        r.finish()?;
        if length == 0 || length > MAX_CASE_NAME {
            let error = Error::new(ErrorKind::Cases).field("name length").found(u64::from(length)).at(at);
            return Err(if length == 0 { error.at_least(1) } else { error.at_most(u64::from(MAX_CASE_NAME)) });
        }
        let name = r.take(usize::from(length), "name");
        r.finish()?;
        let Ok(name) = core::str::from_utf8(name) else {
            return Err(Error::new(ErrorKind::Cases).field("name").at(at + 1).note("must be UTF-8"));
        };
        r.take(name_padding(name), "name padding");
        let label = r.i32("label");
        r.finish()?;
        let input = read_values(r, int8_inputs, "input count")?;
        let expected = read_values(r, false, "output count")?;
        Ok(Self { name, label, input, expected })
    }

    /// Writes the case.
    pub fn write(&self, sink: &mut dyn Sink) {
        sink.bytes(&[self.name.len() as u8]);
        sink.bytes(self.name.as_bytes());
        sink.bytes(&[0; 3][..name_padding(self.name)]);
        sink.bytes(&self.label.to_le_bytes());
        for values in [self.input, self.expected] {
            sink.u32(values.len() as u32);
            sink.bytes(values.bytes());
        }
    }
}

/// Zero bytes after a name so that length byte, name and padding are a multiple of 4.
fn name_padding(name: &str) -> usize {
    (4 - (1 + name.len()) % 4) % 4
}

fn read_values<'m>(r: &mut Reader<'m>, int8: bool, field: &'static str) -> Result<Values<'m>, Error> {
    let at = r.offset();
    let count = r.u32(field);
    r.finish()?;
    if count == 0 || count > MAX_CASE_FLOATS {
        let error = Error::new(ErrorKind::Cases).field(field).found(u64::from(count)).at(at);
        return Err(if count == 0 { error.at_least(1) } else { error.at_most(u64::from(MAX_CASE_FLOATS)) });
    }
    let count = count as usize;
    let values = r.take(if int8 { count } else { 4 * count }, "values");
    r.finish()?;
    Ok(if int8 { Values::Int8(values) } else { Values::Float32(values) })
}
