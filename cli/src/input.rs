//! Where the values of `--input` come from, and where those of `--output` go.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use netkit::format::MAX_CASE_FLOATS;
use netkit::tensor::Shape;
use netkit::text::Dims;

use crate::failure::Failure;
use crate::npy::{self, Element};

/// Most values on the command line; longer inputs come from a file.
const MOST_VALUES: usize = MAX_CASE_FLOATS as usize;
/// Bytes that an .npy file may have beyond eight for each of the model's input elements.
const NPY_SLACK: u64 = 1 << 16;

/// A file of values in one of two formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueFile {
    /// `.npy`
    Npy(PathBuf),
    /// `@file`: raw values, little-endian float32 or int8.
    Raw(PathBuf),
}

/// What the values of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Real numbers for a float model.
    Real,
    /// Real numbers for an int8 model, which quantises them.
    Quantised,
    /// int8 values as they are (`--raw`).
    Int8,
}

impl Kind {
    /// The element type of raw files.
    const fn raw_name(self) -> &'static str {
        if matches!(self, Self::Int8) { "int8" } else { "float32" }
    }

    const fn raw_bytes(self) -> usize {
        if matches!(self, Self::Int8) { 1 } else { 4 }
    }
}

impl ValueFile {
    /// The file that `text` names; `None` when it names none.
    pub(crate) fn named(text: &str) -> Option<Self> {
        if let Some(path) = text.strip_prefix('@') {
            return Some(Self::Raw(path.into()));
        }
        let is_npy = Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"));
        is_npy.then(|| Self::Npy(text.into()))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Npy(path) | Self::Raw(path) => path,
        }
    }

    /// Writes a tensor of float32.
    pub(crate) fn write(&self, dims: &[u32], values: &[f32]) -> Result<(), Failure> {
        self.write_bytes(match self {
            Self::Npy(_) => npy::write(dims, values),
            Self::Raw(_) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        })
    }

    /// Writes a tensor of int8.
    pub(crate) fn write_int8(&self, dims: &[u32], values: &[i8]) -> Result<(), Failure> {
        self.write_bytes(match self {
            Self::Npy(_) => npy::write_int8(dims, values),
            Self::Raw(_) => values.iter().map(|&value| value as u8).collect(),
        })
    }

    fn write_bytes(&self, bytes: Vec<u8>) -> Result<(), Failure> {
        std::fs::write(self.path(), bytes)
            .map_err(|error| Failure::file(self.path(), format_args!("cannot write the output: {error}")))
    }
}

/// The input that `argument` gives for a model whose input has this shape. Values of [`Kind::Int8`] are whole and between
/// -128 and 127.
pub(crate) fn read(argument: &str, shape: Shape, kind: Kind) -> Result<Vec<f32>, Failure> {
    match ValueFile::named(argument) {
        None => parse_for(argument, shape, kind),
        Some(ValueFile::Raw(path)) => read_raw(&path, shape, kind),
        Some(ValueFile::Npy(path)) => read_npy(&path, shape, kind),
    }
}

fn parse_for(text: &str, shape: Shape, kind: Kind) -> Result<Vec<f32>, Failure> {
    let invalid = |reason| Failure::Usage(format!("invalid --input values: {reason}"));
    let values = parse(text).map_err(invalid)?;
    let wanted = Wanted::of(shape);
    if values.len() != wanted.elements {
        return Err(Failure::Usage(format!("--input has {}, but {wanted}", counted(values.len()))));
    }
    let is_int8 = |value: f32| value.fract() == 0.0 && (-128.0..=127.0).contains(&value);
    match values.iter().position(|&value| kind == Kind::Int8 && !is_int8(value)) {
        None => Ok(values),
        Some(at) => Err(invalid(format!("value {} is {}; --raw takes integers from -128 to 127", at + 1, values[at]))),
    }
}

fn read_raw(path: &Path, shape: Shape, kind: Kind) -> Result<Vec<f32>, Failure> {
    let wanted = Wanted::of(shape);
    let bytes = read_file(path, 4 * wanted.elements as u64)?;
    let name = kind.raw_name();
    if bytes.starts_with(npy::MAGIC) {
        let failure = Failure::file(path, format_args!("this is an .npy file, not raw {name}"));
        return Err(failure.with_hint("give its name without the @"));
    }
    let needed = kind.raw_bytes() * wanted.elements;
    if bytes.len() != needed {
        let size = file_size(path, bytes.len());
        let failure = Failure::file(path, format_args!("{size} bytes, expected {needed} ({name}): {wanted}"));
        let elements = wanted.elements as u64;
        return Err(match kind {
            Kind::Quantised if size == elements => failure.with_hint("for int8 values as they are, add --raw"),
            Kind::Int8 if size == 4 * elements => failure.with_hint("for float32 values, leave out --raw"),
            _ => failure,
        });
    }
    Ok(match kind {
        Kind::Int8 => bytes.iter().map(|&byte| f32::from(byte as i8)).collect(),
        Kind::Real | Kind::Quantised => bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect(),
    })
}

fn read_npy(path: &Path, shape: Shape, kind: Kind) -> Result<Vec<f32>, Failure> {
    let wanted = Wanted::of(shape);
    let bytes = read_file(path, 8 * wanted.elements as u64 + NPY_SLACK)?;
    let array = npy::read(&bytes).map_err(|reason| Failure::file(path, reason))?;
    check_element(path, array.element, kind)?;
    let model: Vec<u64> = wanted.dims.iter().copied().map(u64::from).collect();
    let flat = [wanted.elements as u64];
    let without_one = array.shape.strip_prefix(&[1]).unwrap_or(&array.shape);
    if [&array.shape[..], without_one].iter().any(|&found| found == model || found == flat) {
        return Ok(array.values);
    }
    let failure = Failure::file(path, format_args!("shape {:?}, but {wanted}", array.shape));
    let is_channels_first = match (without_one, &model[..]) {
        (&[c, h, w], model) => model == [h, w, c],
        _ => false,
    };
    Err(if is_channels_first {
        failure.with_hint("this looks like [channels, height, width]; move the channels to the end")
    } else {
        failure.with_hint("the shape must be the model's, with or without a 1 in front, or flat")
    })
}

/// int8 arrays hold the model's own integers, which must be said; everything else holds real numbers.
fn check_element(path: &Path, element: Element, kind: Kind) -> Result<(), Failure> {
    let name = element.name();
    match (kind, element) {
        (Kind::Quantised, Element::I8) => {
            let message = "an array of int8, but without --raw an int8 model takes real numbers, such as float32";
            Err(Failure::file(path, message)
                .with_hint("for int8 values as they are, add --raw; else convert to float32"))
        }
        (Kind::Int8, Element::F32 | Element::F64 | Element::U8 | Element::I32) => {
            let failure = Failure::file(path, format_args!("an array of {name}, but --raw takes int8"));
            Err(failure.with_hint("for real numbers, leave out --raw"))
        }
        _ => Ok(()),
    }
}

/// What a model takes, for messages.
struct Wanted {
    dims: Vec<u32>,
    elements: usize,
}

impl Wanted {
    fn of(shape: Shape) -> Self {
        let (dims, rank) = shape.dims();
        let dims: Vec<u32> = dims.into_iter().take(rank as usize).collect();
        let elements = dims.iter().map(|&dim| dim as usize).product();
        Self { dims, elements }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the model takes {}, {}", Dims(&self.dims), counted(self.elements))
    }
}

fn counted(values: usize) -> String {
    if values == 1 { "1 value".to_owned() } else { format!("{values} values") }
}

/// The bytes of a file, at most one more than `most`: enough to see that it is too long.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    result.map_err(|error| Failure::file(path, format_args!("cannot read the input: {error}")))?;
    Ok(bytes)
}

/// Size of a file that may have been read in part.
fn file_size(path: &Path, read: usize) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len()).max(read as u64)
}

/// Numbers separated by blanks and commas; a number also ends where the next one begins, as in `1-2`.
fn parse(text: &str) -> Result<Vec<f32>, String> {
    let is_separator = |c: char| c.is_ascii_whitespace() || c == ',';
    let mut rest = text.trim_start_matches(is_separator);
    let mut values = Vec::new();
    while !rest.is_empty() {
        let number = number_prefix(rest);
        let Ok(value) = number.parse() else {
            let junk: String = rest.chars().take(12).collect();
            let at = text.len() - rest.len() + 1;
            return Err(format!("\"{}\" at character {at} is not a number", junk.escape_default()));
        };
        if values.len() == MOST_VALUES {
            return Err(format!("more than {MOST_VALUES} values; give a file: --input x.npy or --input @x.f32"));
        }
        values.push(value);
        rest = rest[number.len()..].trim_start_matches(is_separator);
    }
    if values.is_empty() { Err("there are none".to_owned()) } else { Ok(values) }
}

/// The longest start of `text` that is a number: sign, then `inf`, `infinity`, `nan` or a decimal with an exponent.
fn number_prefix(text: &str) -> &str {
    let bytes = text.as_bytes();
    let sign = usize::from(text.starts_with(['+', '-']));
    for word in ["infinity", "inf", "nan"] {
        let end = sign + word.len();
        if bytes.get(sign..end).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes())) {
            return &text[..end];
        }
    }
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(sign);
    let mut end = sign + whole;
    let mut fraction = 0;
    if bytes.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return "";
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(exponent) > 0 {
            end = exponent + digits(exponent);
        }
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_separated_by_blanks_and_commas_in_any_mix() {
        assert_eq!(parse("1,2"), Ok(vec![1.0, 2.0]));
        assert_eq!(parse(" ,1 ,, 2\t\n3, "), Ok(vec![1.0, 2.0, 3.0]));
        assert_eq!(parse("1-2+3"), Ok(vec![1.0, -2.0, 3.0]));
        assert_eq!(parse("1.5.5"), Ok(vec![1.5, 0.5]));
    }

    #[test]
    fn numbers_may_have_exponents_signs_and_names() {
        assert_eq!(parse("1e3,-2.5E-1,.5,5.,+1"), Ok(vec![1000.0, -0.25, 0.5, 5.0, 1.0]));
        assert_eq!(parse("inf,-Infinity,1e999"), Ok(vec![f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY]));
        assert!(parse("NaN").is_ok_and(|values| values.len() == 1 && values[0].is_nan()));
    }

    #[test]
    fn junk_is_named_with_its_place() {
        let junk = |text: &str| parse(text).unwrap_err();
        assert_eq!(junk("1,x2"), "\"x2\" at character 3 is not a number");
        assert_eq!(junk("1;2"), "\";2\" at character 2 is not a number");
        assert_eq!(junk("1e"), "\"e\" at character 2 is not a number");
        assert_eq!(junk("-"), "\"-\" at character 1 is not a number");
        assert_eq!(junk("."), "\".\" at character 1 is not a number");
        assert_eq!(junk("0x10"), "\"x10\" at character 2 is not a number");
        assert_eq!(junk("ä"), "\"\\u{e4}\" at character 1 is not a number");
        assert_eq!(junk(" , "), "there are none");
        assert_eq!(junk(""), "there are none");
    }

    #[test]
    fn the_number_of_values_is_limited() {
        assert!(parse(&"0,".repeat(MOST_VALUES)).is_ok());
        assert!(parse(&"0,".repeat(MOST_VALUES + 1)).is_err_and(|text| text.contains("16384")));
    }

    #[test]
    fn file_names_are_told_from_values() {
        assert_eq!(ValueFile::named("1,2"), None);
        assert_eq!(ValueFile::named("a/b.NPY"), Some(ValueFile::Npy("a/b.NPY".into())));
        assert_eq!(ValueFile::named("@x.f32"), Some(ValueFile::Raw("x.f32".into())));
    }
}
