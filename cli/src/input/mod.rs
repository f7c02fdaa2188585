//! Where the values of `--input` come from, and where those of `--output` go.
//!
//! ```text
//! numbers.rs   numbers on the command line
//! arrays.rs    .npy files, and .npz archives of them
//! images.rs    PNG images
//! samples.rs   many inputs for calibration: rows of arrays, lines, folders of images
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

/// Larger files are not read.
const MOST_BYTES: u64 = 1 << 32;

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

/// Inputs of a model, one after another.
pub(crate) struct Inputs {
    pub(crate) values: Vec<f32>,
    /// How many there are; `None` for one that no axis counts.
    pub(crate) batch: Option<usize>,
}

/// The inputs that the arguments give for a model whose input has this shape. Values of [`Kind::Int8`] are whole and
/// between -128 and 127.
pub(crate) fn read(arguments: &[String], shape: Shape, kind: Kind, prepare: &PrepareArgs) -> Result<Inputs, Failure> {
    prepare::check(prepare, shape)?;
    let wanted = Wanted::of(shape, prepare.layout());
    let (mut values, mut is_batch) = (Vec::new(), arguments.len() > 1);
    for argument in arguments {
        let inputs = read_argument(argument, shape, &wanted, kind, prepare)?;
        is_batch |= inputs.batch.is_some();
        values.extend(inputs.values);
    }
    let count = values.len() / wanted.elements;
    Ok(Inputs { values, batch: is_batch.then_some(count) })
}

/// The only input that `argument` gives.
pub(crate) fn read_one(argument: &str, shape: Shape, kind: Kind, prepare: &PrepareArgs) -> Result<Vec<f32>, Failure> {
    let inputs = read(&[argument.to_owned()], shape, kind, prepare)?;
    match inputs.batch {
        None => Ok(inputs.values),
        Some(count) => Err(Failure::Usage(format!("--input has {count} inputs, but this takes one"))),
    }
}

fn read_argument(
    argument: &str,
    shape: Shape,
    wanted: &Wanted,
    kind: Kind,
    prepare: &PrepareArgs,
) -> Result<Inputs, Failure> {
    let one = |values| Inputs { values, batch: None };
    let (mut inputs, scale) = match Source::named(argument) {
        Source::Numbers => (one(parse_for(argument, wanted, kind)?), 1.0),
        Source::Values(ValueFile::Raw(path)) => (one(read_raw(&path, wanted, kind)?), 1.0),
        Source::Values(ValueFile::Npy(path)) => (arrays::read_npy(&path, wanted, kind)?, 1.0),
        Source::Npz(path, member) => (arrays::read_npz(&path, member.as_deref(), wanted, kind)?, 1.0),
        Source::Image(path) => {
            if kind == Kind::Int8 {
                let failure = Failure::file(&path, "an image, but --raw takes int8");
                return Err(failure.with_hint("leave out --raw"));
            }
            if prepare.layout() == Layout::Nchw {
                return Err(Failure::Usage("--layout nchw is for arrays and values; images need none".to_owned()));
            }
            (one(images::read(&path, shape)?), images::SCALE)
        }
    };
    if prepare.layout() == Layout::Nchw {
        let each = inputs.values.chunks(wanted.elements);
        inputs.values = each.flat_map(|values| prepare::channels_last(values, shape)).collect();
    }
    prepare::normalize(&mut inputs.values, shape.c as usize, prepare, scale);
    Ok(inputs)
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

    /// What an array of this shape holds; `None` when it has another form.
    fn content_of(&self, shape: &[u64]) -> Option<Content> {
        let dims: Vec<u64> = self.dims.iter().copied().map(u64::from).collect();
        let forms = [&dims[..], dims.strip_prefix(&[1]).unwrap_or(&dims), &[self.elements as u64]];
        if forms.contains(&shape) {
            return Some(Content::One);
        }
        let (&count, rest) = shape.split_first()?;
        let content = if count == 1 { Content::One } else { Content::Batch(count as usize) };
        forms.contains(&rest).then_some(content)
    }
}

/// What an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// One input, with or without a 1 in front.
    One,
    /// As many inputs as the first axis counts.
    Batch(usize),
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
    fn the_first_axis_counts_inputs() {
        let content = |dims: &[u32], shape: &[u64]| {
            let elements = dims.iter().map(|&dim| dim as usize).product();
            Wanted { dims: dims.to_vec(), elements, layout: Layout::Nhwc }.content_of(shape)
        };
        for shape in [&[4, 3, 2][..], &[1, 4, 3, 2], &[24], &[1, 24]] {
            assert_eq!(content(&[4, 3, 2], shape), Some(Content::One), "{shape:?}");
        }
        for shape in [&[7, 4, 3, 2][..], &[7, 24]] {
            assert_eq!(content(&[4, 3, 2], shape), Some(Content::Batch(7)), "{shape:?}");
        }
        for shape in [&[7, 2, 4, 3][..], &[7, 4, 3], &[48], &[7, 1, 1, 24], &[]] {
            assert_eq!(content(&[4, 3, 2], shape), None, "{shape:?}");
        }
        let batch = |count| Some(Content::Batch(count));
        assert_eq!([content(&[1, 5], &[9, 5]), content(&[3, 5], &[9, 3, 5])], [batch(9), batch(9)]);
        assert_eq!(content(&[1, 2, 4, 3], &[7, 1, 2, 4, 3]), batch(7));
        assert_eq!(content(&[1, 2, 4, 3], &[7, 2, 4, 3]), batch(7));
        // The model's own shape is one input, whatever else it could be.
        assert_eq!([content(&[3, 1], &[3, 1]), content(&[1, 1], &[1])], [Some(Content::One); 2]);
        assert_eq!(content(&[1, 5], &[0, 5]), batch(0));
    }

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
