//! Where the values of `--input` come from, and where those of `--output` go.
//!
//! ```text
//! numbers.rs   numbers on the command line
//! arrays.rs    .npy files, and .npz archives of them
//! images.rs    PNG images
//! samples.rs   many inputs: rows of arrays, lines, folders of images
//! prepare.rs   layout, scale, mean and standard deviation
//! ```

mod arrays;
mod images;
mod numbers;
mod prepare;
pub(crate) mod samples;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use netkit::tensor::Shape;
use netkit::text::Dims;

pub(crate) use prepare::channels_last;

use crate::args::{Layout, PrepareArgs};
use crate::failure::Failure;
use crate::npy;

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// Numbers.
    Numbers,
    /// An array or raw values.
    Values(ValueFile),
    /// A member of an archive of arrays, or its only one.
    Npz(PathBuf, Option<String>),
    /// A PNG image.
    Image(PathBuf),
}

impl Source {
    fn named(text: &str) -> Self {
        if let Some(file) = ValueFile::named(text) {
            return Self::Values(file);
        }
        let lower = text.to_ascii_lowercase();
        if let Some(at) = lower.rfind(".npz:") {
            let (path, member) = text.split_at(at + 4);
            return Self::Npz(path.into(), Some(member[1..].to_owned()));
        }
        if lower.ends_with(".npz") {
            Self::Npz(text.into(), None)
        } else if lower.ends_with(".png") {
            Self::Image(text.into())
        } else {
            Self::Numbers
        }
    }
}

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
pub(crate) fn read(argument: &str, shape: Shape, kind: Kind, prepare: &PrepareArgs) -> Result<Vec<f32>, Failure> {
    prepare::check(prepare, shape)?;
    let wanted = Wanted::of(shape, prepare.layout());
    let (mut values, scale) = match Source::named(argument) {
        Source::Numbers => (parse_for(argument, &wanted, kind)?, 1.0),
        Source::Values(ValueFile::Raw(path)) => (read_raw(&path, &wanted, kind)?, 1.0),
        Source::Values(ValueFile::Npy(path)) => (arrays::read_npy(&path, &wanted, kind)?, 1.0),
        Source::Npz(path, member) => (arrays::read_npz(&path, member.as_deref(), &wanted, kind)?, 1.0),
        Source::Image(path) => {
            if kind == Kind::Int8 {
                let failure = Failure::file(&path, "an image, but --raw takes int8");
                return Err(failure.with_hint("leave out --raw"));
            }
            if prepare.layout() == Layout::Nchw {
                return Err(Failure::Usage("--layout nchw is for arrays and values; images need none".to_owned()));
            }
            (images::read(&path, shape)?, images::SCALE)
        }
    };
    if prepare.layout() == Layout::Nchw {
        values = prepare::channels_last(&values, shape);
    }
    prepare::normalize(&mut values, shape.c as usize, prepare, scale);
    Ok(values)
}

fn parse_for(text: &str, wanted: &Wanted, kind: Kind) -> Result<Vec<f32>, Failure> {
    let invalid = |reason| Failure::Usage(format!("invalid --input values: {reason}"));
    let values = numbers::parse(text, numbers::MOST_ON_COMMAND_LINE).map_err(invalid)?;
    if values.len() != wanted.elements {
        return Err(Failure::Usage(format!("--input has {}, but {wanted}", counted(values.len()))));
    }
    let is_int8 = |value: f32| value.fract() == 0.0 && (-128.0..=127.0).contains(&value);
    match values.iter().position(|&value| kind == Kind::Int8 && !is_int8(value)) {
        None => Ok(values),
        Some(at) => Err(invalid(format!("value {} is {}; --raw takes integers from -128 to 127", at + 1, values[at]))),
    }
}

fn read_raw(path: &Path, wanted: &Wanted, kind: Kind) -> Result<Vec<f32>, Failure> {
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

/// What a model takes, for messages.
struct Wanted {
    /// In the order of the input, which need not be that of the model.
    dims: Vec<u32>,
    elements: usize,
    layout: Layout,
}

impl Wanted {
    fn of(shape: Shape, layout: Layout) -> Self {
        let (dims, rank) = shape.dims();
        let mut dims: Vec<u32> = dims.into_iter().take(rank as usize).collect();
        if layout == Layout::Nchw {
            dims.rotate_right(1);
        }
        let elements = dims.iter().map(|&dim| dim as usize).product();
        Self { dims, elements, layout }
    }
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let order = if self.layout == Layout::Nchw { " channels first" } else { "" };
        write!(f, "the model takes {}{order}, {}", Dims(&self.dims), counted(self.elements))
    }
}

fn counted(values: usize) -> String {
    if values == 1 { "1 value".to_owned() } else { format!("{values} values") }
}

/// The bytes of a file, at most one more than `most`: enough to see that it is too long.
pub(crate) fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let result = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    result.map_err(|error| Failure::file(path, format_args!("cannot read the input: {error}")))?;
    Ok(bytes)
}

/// Size of a file that may have been read in part.
fn file_size(path: &Path, read: usize) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len()).max(read as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_told_from_values() {
        assert_eq!(Source::named("1,2"), Source::Numbers);
        assert_eq!(Source::named("a.PNG"), Source::Image("a.PNG".into()));
        assert_eq!(Source::named("a.npz"), Source::Npz("a.npz".into(), None));
        assert_eq!(Source::named("C:/a.npz:b:c"), Source::Npz("C:/a.npz".into(), Some("b:c".to_owned())));
        assert_eq!(Source::named("@a.npz"), Source::Values(ValueFile::Raw("a.npz".into())));
        assert_eq!(ValueFile::named("1,2"), None);
        assert_eq!(ValueFile::named("a/b.NPY"), Some(ValueFile::Npy("a/b.NPY".into())));
        assert_eq!(ValueFile::named("@x.f32"), Some(ValueFile::Raw("x.f32".into())));
    }
}
