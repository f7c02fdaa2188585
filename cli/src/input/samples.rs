//! Many inputs of one model, for calibration.

use std::path::{Path, PathBuf};

use netkit::tensor::Shape;
use netkit_convert::network::Port;

use super::{MOST_BYTES, Source, ValueFile, Wanted, arrays, images, numbers, prepare, read_file};
use crate::args::{Layout, PrepareArgs};
use crate::failure::Failure;
use crate::npy::{self, Array};
use crate::npz::Archive;

/// What samples look like.
pub(crate) struct Form<'f> {
    shape: Shape,
    wanted: Wanted,
    /// The input of the source model, where samples have its order and not the one of the `.nk` model.
    source: Option<&'f Port>,
    prepare: &'f PrepareArgs,
}

/// Samples as the model takes them.
pub(crate) struct Samples {
    /// Their numbers among all, ascending.
    pub(crate) indices: Vec<usize>,
    /// The values of each.
    pub(crate) inputs: Vec<Vec<f32>>,
    /// Number of samples that there are.
    pub(crate) total: usize,
}

/// How many samples are taken, and the start of the random draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draw {
    pub(crate) most: usize,
    pub(crate) seed: u64,
}

impl<'f> Form<'f> {
    /// Samples of a model whose input has this shape; one that was converted has a `source`.
    pub(crate) fn new(shape: Shape, source: Option<&'f Port>, prepare: &'f PrepareArgs) -> Result<Self, Failure> {
        prepare::check(prepare, shape)?;
        let mut wanted = Wanted::of(shape, prepare.layout());
        let source = source.filter(|_| prepare.layout.is_none());
        if let Some(port) = source {
            wanted.dims = port.shape.iter().map(|&extent| extent as u32).collect();
        }
        Ok(Self { shape, wanted, source, prepare })
    }

    /// A sample in the order of the model, scaled and normalised.
    fn prepared(&self, values: &[f32]) -> Vec<f32> {
        let values = match (self.source, self.prepare.layout()) {
            (Some(port), _) => port.to_memory(values),
            (None, Layout::Nchw) => prepare::channels_last(values, self.shape),
            (None, Layout::Nhwc) => values.to_vec(),
        };
        self.normalized(values, 1.0)
    }

    fn normalized(&self, mut values: Vec<f32>, scale: f32) -> Vec<f32> {
        prepare::normalize(&mut values, self.shape.c as usize, self.prepare, scale);
        values
    }
}

/// The samples that `argument` names.
pub(crate) fn read(argument: &str, form: &Form<'_>, draw: Draw) -> Result<Samples, Failure> {
    let path = Path::new(argument);
    if path.is_dir() {
        return read_folder(path, form, draw);
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv")) {
        return draw.of_rows(&read_lines(path, &form.wanted)?, form, path);
    }
    let (path, values) = match Source::named(argument) {
        Source::Values(ValueFile::Npy(path)) => {
            let array = npy::read(&read_file(&path, MOST_BYTES)?);
            let values = rows(&path, array, &form.wanted)?;
            (path, values)
        }
        Source::Values(ValueFile::Raw(path)) => {
            let values = read_raw(&path, &form.wanted)?;
            (path, values)
        }
        Source::Npz(path, name) => {
            let values = read_npz(&path, name.as_deref(), &form.wanted)?;
            (path, values)
        }
        Source::Image(_) | Source::Numbers => {
            let message = "not a folder and not a file of many samples";
            return Err(Failure::file(path, message)
                .with_hint("give a folder of .png images, x.npy, x.npz, x.csv, or @x.f32 for raw float32"));
        }
    };
    draw.of_rows(&values, form, &path)
}

impl Draw {
    /// Numbers of the samples that are taken, ascending.
    fn indices(self, total: usize) -> Vec<usize> {
        if total <= self.most {
            return (0..total).collect();
        }
        let mut indices = fastrand::Rng::with_seed(self.seed).choose_multiple(0..total, self.most);
        indices.sort_unstable();
        indices
    }

    /// Samples of values that lie one after another.
    fn of_rows(self, values: &[f32], form: &Form<'_>, path: &Path) -> Result<Samples, Failure> {
        let elements = form.wanted.elements;
        let total = values.len() / elements;
        if total == 0 {
            return Err(Failure::file(path, "there are no samples"));
        }
        let indices = self.indices(total);
        let inputs = indices.iter().map(|&index| form.prepared(&values[index * elements..][..elements])).collect();
        Ok(Samples { indices, inputs, total })
    }
}

/// The values of an array of samples.
fn rows(path: &Path, array: Result<Array, String>, wanted: &Wanted) -> Result<Vec<f32>, Failure> {
    let array = array.map_err(|reason| Failure::file(path, reason))?;
    if wanted.content_of(&array.shape).is_some() {
        return Ok(array.values);
    }
    let failure = Failure::file(path, format_args!("shape {:?}, but {wanted} a sample", array.shape));
    Err(failure.with_hint(
        "the first axis counts samples, the others are the model's; --layout nchw or nhwc says where channels are",
    ))
}

fn read_npz(path: &Path, name: Option<&str>, wanted: &Wanted) -> Result<Vec<f32>, Failure> {
    let mut archive = Archive::open(path, "the samples")?;
    let index = arrays::member(archive.names(), name).map_err(|message| Failure::file(path, message))?;
    rows(path, npy::read(&archive.bytes(index, MOST_BYTES)?), wanted)
}

fn read_raw(path: &Path, wanted: &Wanted) -> Result<Vec<f32>, Failure> {
    let bytes = read_file(path, MOST_BYTES)?;
    let sample = 4 * wanted.elements;
    if !bytes.len().is_multiple_of(sample) {
        let message = format!("{} bytes are no multiple of {sample}, one sample of float32: {wanted}", bytes.len());
        return Err(Failure::file(path, message));
    }
    Ok(bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
}

/// One sample on each line; a first line without numbers names the columns.
fn read_lines(path: &Path, wanted: &Wanted) -> Result<Vec<f32>, Failure> {
    let bytes = read_file(path, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::file(path, "this is not text"))?;
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let numbers = match numbers::parse(line, wanted.elements.saturating_add(1)) {
            Ok(numbers) => numbers,
            Err(_) if index == 0 => continue,
            Err(reason) => return Err(Failure::file(path, format_args!("line {}: {reason}", index + 1))),
        };
        if numbers.len() != wanted.elements {
            let message = format!("line {} has {} values, but {wanted}", index + 1, numbers.len());
            return Err(Failure::file(path, message));
        }
        values.extend(numbers);
    }
    Ok(values)
}

/// The PNG images of a folder in the order of their names; only those that are drawn are read.
fn read_folder(folder: &Path, form: &Form<'_>, draw: Draw) -> Result<Samples, Failure> {
    if form.prepare.layout == Some(Layout::Nchw) {
        return Err(Failure::Usage("--layout nchw is for arrays and values; images need none".to_owned()));
    }
    let fault = |error| Failure::file(folder, format_args!("cannot read the folder: {error}"));
    let entries = std::fs::read_dir(folder).map_err(fault)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>().map_err(fault)?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")));
    paths.sort();
    if paths.is_empty() {
        return Err(Failure::file(folder, "there are no .png images"));
    }
    let indices = draw.indices(paths.len());
    let read = |&index: &usize| Ok(form.normalized(images::read(&paths[index], form.shape)?, images::SCALE));
    let inputs = indices.iter().map(read).collect::<Result<_, Failure>>()?;
    Ok(Samples { indices, inputs, total: paths.len() })
}

/// The class of each sample: a number on each line.
pub(crate) fn read_labels(path: &Path, total: usize) -> Result<Vec<usize>, Failure> {
    let fault = |message: String| Failure::file(path, format_args!("cannot read the labels: {message}"));
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let number = |(index, line): (usize, &str)| {
        let number = line.trim().parse();
        number
            .map_err(|_| fault(format!("line {} is \"{}\", no class number", index + 1, line.trim().escape_default())))
    };
    let labels: Vec<usize> = text.lines().enumerate().map(number).collect::<Result<_, _>>()?;
    if labels.len() == total {
        return Ok(labels);
    }
    let failure = Failure::file(path, format_args!("{} labels, but there are {total} samples", labels.len()));
    Err(failure.with_hint("the file has the number of a class on each line, for all samples in their order"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_reproducible_and_without_repetition() {
        let draw = Draw { most: 50, seed: 3 };
        let indices = draw.indices(1000);
        assert_eq!(indices, draw.indices(1000));
        assert!(indices.is_sorted_by(|a, b| a < b) && indices.len() == 50);
        assert_ne!(indices, Draw { seed: 4, ..draw }.indices(1000));
        assert_eq!(draw.indices(5), [0, 1, 2, 3, 4]);
    }
}
