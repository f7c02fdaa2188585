//! `.npy` files, and `.npz` archives of them.

use std::path::Path;

use super::{Content, Inputs, Kind, MOST_BYTES, Wanted, read_file};
use crate::args::Layout;
use crate::failure::Failure;
use crate::npy::{self, Element};
use crate::npz::Archive;
use crate::output::escaped;

pub(super) fn read_npy(path: &Path, wanted: &Wanted, kind: Kind) -> Result<Inputs, Failure> {
    inputs(path, &read_file(path, MOST_BYTES)?, wanted, kind)
}

/// Reads the member `name` of an archive, or the only one.
pub(super) fn read_npz(path: &Path, name: Option<&str>, wanted: &Wanted, kind: Kind) -> Result<Inputs, Failure> {
    let mut archive = Archive::open(path, "the input")?;
    let index = member(archive.names(), name).map_err(|message| Failure::file(path, message))?;
    inputs(path, &archive.bytes(index, MOST_BYTES)?, wanted, kind)
}

/// Index of the array `name`, or of the only one.
pub(super) fn member(names: &[String], name: Option<&str>) -> Result<usize, String> {
    let list = || escaped(&names.join(", ")).into_owned();
    match name {
        Some(name) => {
            let found = names.iter().position(|found| found == name);
            found.ok_or_else(|| format!("no array \"{}\"; there are {}", escaped(name), list()))
        }
        None if names.len() == 1 => Ok(0),
        None if names.is_empty() => Err("the archive holds no array".to_owned()),
        None => Err(format!("{} arrays; name one as x.npz:NAME: {}", names.len(), list())),
    }
}

/// The inputs in an array whose type and shape fit the model.
fn inputs(path: &Path, bytes: &[u8], wanted: &Wanted, kind: Kind) -> Result<Inputs, Failure> {
    let array = npy::read(bytes).map_err(|reason| Failure::file(path, reason))?;
    check_element(path, array.element, kind)?;
    let failure = Failure::file(path, format_args!("shape {:?}, but {wanted}", array.shape));
    match wanted.content_of(&array.shape) {
        Some(Content::One) => return Ok(Inputs { values: array.values, batch: None }),
        Some(Content::Batch(0)) => return Err(failure.with_hint("the first axis counts inputs, and there is none")),
        Some(Content::Batch(count)) => return Ok(Inputs { values: array.values, batch: Some(count) }),
        None => {}
    }
    let is_channels_first = match (&array.shape[..], wanted.layout) {
        (&[c, h, w] | &[_, c, h, w], Layout::Nhwc) => wanted.dims.iter().copied().map(u64::from).eq([h, w, c]),
        _ => false,
    };
    Err(if is_channels_first {
        failure
            .with_hint("this looks like [channels, height, width]; add --layout nchw, or move the channels to the end")
    } else {
        failure.with_hint("the shape must be the model's or flat, alone or behind the number of inputs")
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
