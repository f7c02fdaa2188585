//! Reading a model file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use netkit::format::MAGIC;
use netkit::{Error, ErrorKind, Model};

use crate::failure::Failure;

/// Offsets in a model are 32-bit numbers; one byte more is enough to see that a file is too large.
const MOST_BYTES: u64 = 1 << 32;

/// The bytes of a model file and its name.
#[derive(Debug)]
pub(crate) struct ModelFile {
    /// Path as the user gave it.
    pub(crate) path: PathBuf,
    /// File name without folders and extension.
    pub(crate) name: String,
    bytes: Vec<u8>,
}

impl ModelFile {
    /// Reads the file at `path`, or in the parent folder when there is none.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut file = open(path)?;
        let bytes = read_bytes(&mut file)
            .map_err(|error| Failure::file(path, format_args!("{}: {error}", ErrorKind::FileRead)))?;
        let name = netkit::summary::stem(&path.to_string_lossy()).to_owned();
        Ok(Self { path: path.to_owned(), name, bytes })
    }

    /// Checks the structure of the model.
    pub(crate) fn parse(&self) -> Result<Model<'_>, Failure> {
        Model::parse(&self.bytes).map_err(|error| self.failure(&error))
    }

    /// The library's error about this file.
    pub(crate) fn failure(&self, error: &Error) -> Failure {
        Failure::model(&self.path, error)
    }

    /// Everything that was read.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Size of the file.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    let error = match File::open(path) {
        Ok(file) => return Ok(file),
        Err(error) => error,
    };
    // For an absolute path the join gives the same path again.
    File::open(Path::new("..").join(path)).map_err(|_| {
        let failure = Failure::file(path, format_args!("{}: {error}", ErrorKind::Open));
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        failure.with_hint(match (is_missing, path.is_absolute()) {
            (true, true) => "check the path",
            (true, false) => "check the path; the parent folder was tried too",
            _ => "",
        })
    })
}

/// All bytes of a model, or only the first few of a file that is none.
fn read_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut bytes)?;
    if bytes == MAGIC {
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}
