//! `.npy` files, and `.npz` archives of them.

use std::path::Path;

use super::{Kind, Wanted, read_file};
use crate::args::Layout;
use crate::failure::Failure;
use crate::npy::{self, Element};
use crate::npz::Archive;
use crate::output::escaped;

/// Bytes that an array may have beyond eight for each of the model's input elements.
const SLACK: u64 = 1 << 16;

pub(super) fn read_npy(path: &Path, wanted: &Wanted, kind: Kind) -> Result<Vec<f32>, Failure> {
    values(path, &read_file(path, most_bytes(wanted))?, wanted, kind)
}

/// Reads the member `name` of an archive, or the only one.
pub(super) fn read_npz(path: &Path, name: Option<&str>, wanted: &Wanted, kind: Kind) -> Result<Vec<f32>, Failure> {
    let mut archive = Archive::open(path, "the input")?;
    let index = member(archive.names(), name).map_err(|message| Failure::file(path, message))?;
    values(path, &archive.bytes(index, most_bytes(wanted))?, wanted, kind)
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

fn most_bytes(wanted: &Wanted) -> u64 {
    8 * wanted.elements as u64 + SLACK
}

/// The values of an array whose type and shape fit the model.
fn values(path: &Path, bytes: &[u8], wanted: &Wanted, kind: Kind) -> Result<Vec<f32>, Failure> {
    let array = npy::read(bytes).map_err(|reason| Failure::file(path, reason))?;
    check_element(path, array.element, kind)?;
    let expected: Vec<u64> = wanted.dims.iter().copied().map(u64::from).collect();
    let flat = [wanted.elements as u64];
    let without_one = array.shape.strip_prefix(&[1]).unwrap_or(&array.shape);
    if [&array.shape[..], without_one].iter().any(|&found| found == expected || found == flat) {
        return Ok(array.values);
    }
    let failure = Failure::file(path, format_args!("shape {:?}, but {wanted}", array.shape));
    let is_channels_first = match (without_one, &expected[..], wanted.layout) {
        (&[c, h, w], expected, Layout::Nhwc) => expected == [h, w, c],
        _ => false,
    };
    Err(if is_channels_first {
        failure
            .with_hint("this looks like [channels, height, width]; add --layout nchw, or move the channels to the end")
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
