//! `.npz` archives: named `.npy` arrays.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::failure::Failure;

/// An open archive.
pub(crate) struct Archive<'p> {
    path: &'p Path,
    /// What errors call its content, such as "the input".
    what: &'static str,
    zip: ZipArchive<BufReader<File>>,
    names: Vec<String>,
}

impl<'p> Archive<'p> {
    /// Opens an archive and reads the names of its arrays.
    pub(crate) fn open(path: &'p Path, what: &'static str) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| fault(path, what, error))?;
        let zip = ZipArchive::new(BufReader::new(file))
            .map_err(|error| Failure::file(path, format_args!("not an .npz archive: {error}")))?;
        let name = |index: usize| {
            let file = zip.name_for_index(index).and_then(Result::ok).unwrap_or_default();
            file.strip_suffix(".npy").unwrap_or(&file).to_owned()
        };
        let names = (0..zip.len()).map(name).collect();
        Ok(Self { path, what, zip, names })
    }

    /// Names as in NumPy: without the `.npy` of the members.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The `.npy` file of an array, up to `most` bytes and one more.
    pub(crate) fn bytes(&mut self, index: usize, most: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let member = self.zip.by_index(index).map_err(|error| fault(self.path, self.what, error))?;
        member.take(most + 1).read_to_end(&mut bytes).map_err(|error| fault(self.path, self.what, error))?;
        Ok(bytes)
    }
}

fn fault(path: &Path, what: &str, error: impl Display) -> Failure {
    Failure::file(path, format_args!("cannot read {what}: {error}"))
}
