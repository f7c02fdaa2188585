//! `.npz` archives: named `.npy` arrays.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::failure::Failure;
use crate::npy::{self, Array};

/// Most bytes of an array: more than 16 test cases of 16,384 numbers in double precision need.
const MOST_BYTES: u64 = 64 << 20;

/// All arrays of an archive by their names, which are those of NumPy: without the `.npy` of the member.
pub(crate) fn read(path: &Path) -> Result<BTreeMap<String, Array>, Failure> {
    let fault = |error: &dyn std::fmt::Display| Failure::file(path, format_args!("cannot read the archive: {error}"));
    let file = File::open(path).map_err(|error| fault(&error))?;
    let mut archive = ZipArchive::new(BufReader::new(file))
        .map_err(|error| Failure::file(path, format_args!("not an .npz archive: {error}")))?;
    let mut arrays = BTreeMap::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(|error| fault(&error))?;
        let name = member.name().map_err(|error| fault(&error))?.into_owned();
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        let mut bytes = Vec::new();
        member.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| fault(&error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Failure::file(path, format_args!("array \"{name}\" has more than {MOST_BYTES} bytes")));
        }
        let array = npy::read(&bytes).map_err(|reason| fault(&format_args!("array \"{name}\": {reason}")))?;
        arrays.insert(name, array);
    }
    Ok(arrays)
}
