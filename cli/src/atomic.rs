//! Files that are complete or not there.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;

/// Writes `content`, which errors call `what`, to a new file beside `path`, which then takes its name.
pub(crate) fn write(path: &Path, content: &[u8], what: &str) -> Result<(), Failure> {
    let fault = |error: io::Error| Failure::file(path, format_args!("cannot write {what}: {error}"));
    let Some(name) = path.file_name() else {
        return Err(fault(io::Error::from(io::ErrorKind::InvalidFilename)));
    };
    let mut hidden = OsString::from(format!(".{}.", std::process::id()));
    hidden.push(name);
    let temporary = path.with_file_name(hidden);
    let mut file = fs::File::create_new(&temporary).map_err(fault)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    drop(file);
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&temporary);
    }
    result.map_err(fault)
}
