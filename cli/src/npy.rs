//! `.npy` files: one numeric array, read to float32 and written as float32 or int8.
//!
//! Layout: `\x93NUMPY`, version (2 bytes), header length (u16 in version 1, u32 from 2 on), header, data. The header is a
//! Python dictionary with the keys `descr`, `fortran_order` and `shape`.

use std::fmt::Write as _;

/// First bytes of every file.
pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Longest header that is looked at; a numeric array needs about 100 bytes.
const MOST_HEADER_BYTES: usize = 4096;

/// An array in C order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    /// Extents; empty for a single number.
    pub(crate) shape: Vec<u64>,
    /// Type of the elements in the file.
    pub(crate) element: Element,
    /// Values, the last axis moving fastest.
    pub(crate) values: Vec<f32>,
}

/// Element types that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F32,
    F64,
    I8,
    U8,
    I32,
    I64,
}

#[derive(Debug, PartialEq)]
struct Header {
    element: Element,
    is_big_endian: bool,
    is_fortran: bool,
    shape: Vec<u64>,
}

/// Reads an array; the error is a sentence.
pub(crate) fn read(bytes: &[u8]) -> Result<Array, String> {
    let (text, data) = split(bytes)?;
    let header = Header::parse(text)?;
    let size = header.element.bytes();
    let count = header.shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    let expected = count.and_then(|count| count.checked_mul(size)).ok_or("the shape in the header is too large")?;
    if data.len() != expected {
        return Err(format!("{} bytes of data, but shape {:?} needs {expected}", data.len(), header.shape));
    }
    let values: Vec<f32> =
        data.chunks_exact(size).map(|bytes| header.element.value(bytes, header.is_big_endian)).collect();
    let values = if header.is_fortran { c_order(&header.shape, &values) } else { values };
    Ok(Array { shape: header.shape, element: header.element, values })
}

/// Header text and data.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not an .npy file: it does not start with \\x93NUMPY")?;
    let short = "the .npy header is cut off";
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or(short)?;
    let (len, rest) = match major {
        1 => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_le_bytes(*len)), rest)),
        2 | 3 => rest.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len) as usize, rest)),
        _ => return Err(format!("unknown .npy version {major}.{minor}")),
    }
    .ok_or(short)?;
    if len > MOST_HEADER_BYTES {
        return Err(format!("an .npy header of {len} bytes is not that of a plain numeric array"));
    }
    let (header, data) = rest.split_at_checked(len).ok_or(short)?;
    let header = std::str::from_utf8(header).map_err(|_| "the .npy header is not text")?;
    Ok((header, data))
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { rest: text.trim() };
        let (mut descr, mut order, mut shape) = (None, None, None);
        parser.expect("{")?;
        while !parser.accept("}") {
            let key = parser.string()?;
            parser.expect(":")?;
            match key {
                "descr" => descr = Some(parser.string()?),
                "fortran_order" => order = Some(parser.boolean()?),
                "shape" => shape = Some(parser.tuple()?),
                _ => return Err(format!("unknown key '{}' in the .npy header", key.escape_default())),
            }
            if !parser.accept(",") {
                parser.expect("}")?;
                break;
            }
        }
        let missing = |key: &str| format!("the .npy header has no '{key}'");
        let (element, is_big_endian) = Element::parse(descr.ok_or_else(|| missing("descr"))?)?;
        Ok(Self {
            element,
            is_big_endian,
            is_fortran: order.ok_or_else(|| missing("fortran_order"))?,
            shape: shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

impl Element {
    /// The element type of a `descr` such as `<f4`, and whether it is big-endian.
    fn parse(descr: &str) -> Result<(Self, bool), String> {
        let unknown = || {
            let descr = descr.escape_default();
            format!(
                "elements of type '{descr}'; float32, float64, int8, uint8, int32 and int64 are read (f4, f8, i1, u1, i4, i8)"
            )
        };
        let order = descr.chars().next().ok_or_else(unknown)?;
        let element = match descr.get(order.len_utf8()..) {
            Some("f4") => Self::F32,
            Some("f8") => Self::F64,
            Some("i1") => Self::I8,
            Some("u1") => Self::U8,
            Some("i4") => Self::I32,
            Some("i8") => Self::I64,
            _ => return Err(unknown()),
        };
        match order {
            '<' => Ok((element, false)),
            '>' => Ok((element, true)),
            '=' => Ok((element, cfg!(target_endian = "big"))),
            '|' if element.bytes() == 1 => Ok((element, false)),
            _ => Err(unknown()),
        }
    }

    /// The type's name in NumPy.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I8 => "int8",
            Self::U8 => "uint8",
            Self::I32 => "int32",
            Self::I64 => "int64",
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// One element; `bytes` has the element's size.
    fn value(self, bytes: &[u8], is_big_endian: bool) -> f32 {
        let mut little = [0; 8];
        for (index, &byte) in bytes.iter().enumerate().take(little.len()) {
            let place = if is_big_endian { bytes.len() - 1 - index } else { index };
            little[place] = byte;
        }
        let [a, b, c, d, ..] = little;
        match self {
            Self::F32 => f32::from_le_bytes([a, b, c, d]),
            Self::F64 => f64::from_le_bytes(little) as f32,
            Self::I8 => f32::from(i8::from_le_bytes([a])),
            Self::U8 => f32::from(a),
            Self::I32 => i32::from_le_bytes([a, b, c, d]) as f32,
            Self::I64 => i64::from_le_bytes(little) as f32,
        }
    }
}

/// The few Python literals of a header.
struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    fn accept(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(10).flat_map(char::escape_default).collect();
        Err(format!("the .npy header is not that of a plain numeric array: expected {token} before \"{found}\""))
    }

    fn string(&mut self) -> Result<&'t str, String> {
        let quote = if self.rest.starts_with('"') { "\"" } else { "'" };
        self.expect(quote)?;
        let Some((text, rest)) = self.rest.split_once(quote) else {
            return Err("a string in the .npy header does not end".to_owned());
        };
        self.rest = rest.trim_start();
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        if self.accept("True") {
            return Ok(true);
        }
        self.expect("False").map(|()| false)
    }

    fn tuple(&mut self) -> Result<Vec<u64>, String> {
        self.expect("(")?;
        let mut extents = Vec::new();
        while !self.accept(")") {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = self.rest.split_at(digits);
            extents.push(number.parse().map_err(|_| "the shape in the .npy header is not made of numbers")?);
            self.rest = rest.trim_start();
            if !self.accept(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(extents)
    }
}

/// The values of a Fortran-ordered array, reordered so that the last axis moves fastest.
fn c_order(shape: &[u64], values: &[f32]) -> Vec<f32> {
    let mut index = vec![0u64; shape.len()];
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1u64;
    for &extent in shape {
        strides.push(stride);
        stride = stride.saturating_mul(extent);
    }
    let mut result = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        let at: u64 = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        result.push(values[at as usize]);
        for (i, &extent) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < extent {
                break;
            }
            *i = 0;
        }
    }
    result
}

/// The bytes of a float32 file in C order.
pub(crate) fn write(shape: &[u32], values: &[f32]) -> Vec<u8> {
    let mut bytes = start("<f4", shape);
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The bytes of an int8 file in C order.
pub(crate) fn write_int8(shape: &[u32], values: &[i8]) -> Vec<u8> {
    let mut bytes = start("|i1", shape);
    bytes.extend(values.iter().map(|&value| value as u8));
    bytes
}

/// Everything before the data.
fn start(descr: &str, shape: &[u32]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (");
    for extent in shape {
        let _ = write!(header, "{extent}, ");
    }
    header.push_str("), }");
    // Magic, version, length, header and line end fill a multiple of 64 bytes.
    let fixed = MAGIC.len() + 2 + 2;
    let total = (fixed + header.len() + 1).next_multiple_of(64);
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(((total - fixed) as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    #[test]
    fn what_is_written_is_read_back() {
        let values = [1.5, -0.0, f32::INFINITY, 1e-40, 2.0, 3.0];
        let bytes = write(&[1, 2, 3], &values);
        assert_eq!(bytes.len() % 64, 24);
        let array =
            |shape: &[u64], element, values: &[f32]| Array { shape: shape.to_vec(), element, values: values.to_vec() };
        assert_eq!(read(&bytes), Ok(array(&[1, 2, 3], Element::F32, &values)));
        assert_eq!(read(&write(&[2], &[1.0, 2.0])), Ok(array(&[2], Element::F32, &[1.0, 2.0])));
        assert_eq!(read(&write_int8(&[1, 3], &[-128, 0, 127])), Ok(array(&[1, 3], Element::I8, &[-128.0, 0.0, 127.0])));
    }

    #[test]
    fn fortran_order_is_turned_into_c_order() {
        let header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
        let array = read(&file(header, &[1, 4, 2, 5, 3, 6])).expect("valid");
        assert_eq!((array.shape, array.values), (vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    }

    #[test]
    fn both_byte_orders_and_all_types_are_read() {
        let cases: [(&str, &[u8], f32); 7] = [
            ("<f4", &1.5f32.to_le_bytes(), 1.5),
            (">f4", &1.5f32.to_be_bytes(), 1.5),
            ("<f8", &(-2.25f64).to_le_bytes(), -2.25),
            (">f8", &(-2.25f64).to_be_bytes(), -2.25),
            ("|i1", &[0x80], -128.0),
            ("<i4", &(-70_000i32).to_le_bytes(), -70_000.0),
            (">i4", &(-70_000i32).to_be_bytes(), -70_000.0),
        ];
        for (descr, data, value) in cases {
            let header = format!("{{\"shape\": (), 'fortran_order': False, 'descr': '{descr}'}}");
            let array = read(&file(&header, data)).expect(descr);
            assert_eq!((array.shape, array.values), (vec![], vec![value]), "{descr}");
        }
    }

    #[test]
    fn malformed_files_give_a_sentence() {
        let good = file("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", &[0; 4]);
        assert!(read(&good).is_ok());
        for len in 0..good.len() {
            assert!(read(&good[..len]).is_err(), "{len} bytes");
        }
        for at in 0..good.len() {
            for byte in [0, b'(', b'9', 0xFF] {
                let mut bad = good.clone();
                bad[at] = byte;
                let _ = read(&bad);
            }
        }
        let huge = "{'descr': '<f8', 'fortran_order': True, 'shape': (18446744073709551615, 2, 9)}";
        assert_eq!(read(&file(huge, &[])), Err("the shape in the header is too large".to_owned()));
        let half = "{'descr': '<f2', 'fortran_order': False, 'shape': (1,)}";
        assert!(read(&file(half, &[0; 2])).is_err_and(|text| text.contains("'<f2'")));
        let nested = format!("{{'descr': {}", "[".repeat(4000));
        assert!(read(&file(&nested, &[])).is_err());
    }
}
