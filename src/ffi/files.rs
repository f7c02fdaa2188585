//! From a path to the bytes of a file: the path itself, then `../` and the path.

use core::ffi::CStr;

use super::limits::NK_MAX_PATH_LEN;
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};

#[cfg(feature = "host")]
pub(super) use crate::host::FileBytes;
#[cfg(not(feature = "host"))]
pub(super) use absent::FileBytes;

/// Builds without an operating system have no files: opening one fails.
#[cfg(not(feature = "host"))]
mod absent {
    use core::ffi::CStr;

    use crate::error::{Error, ErrorKind};

    #[derive(Debug)]
    pub(in crate::ffi) enum FileBytes {}

    impl FileBytes {
        pub(in crate::ffi) fn open(_path: &CStr) -> Result<Self, Error> {
            Err(Error::new(ErrorKind::Open).note("this build has no files; use the function that ends in _memory"))
        }

        pub(in crate::ffi) fn bytes(&self) -> &[u8] {
            match *self {}
        }
    }
}

/// Room for a path with `../` in front.
pub(super) type PathBuffer = [u8; NK_MAX_PATH_LEN];

/// The bytes of the model file at `path`.
pub(super) fn open(path: &CStr) -> Result<FileBytes, Error> {
    open_resolved(path, &mut [0; NK_MAX_PATH_LEN]).0
}

/// The bytes of the model file at `path`, and the path that was opened, or the given one when none can be.
pub(super) fn open_resolved<'p>(path: &'p CStr, buffer: &'p mut PathBuffer) -> (Result<FileBytes, Error>, &'p CStr) {
    with_fallback(path, buffer, FileBytes::open)
}

/// Calls `action` with `path` and, when that cannot be opened, with the path one directory up.
fn with_fallback<'p, T>(
    path: &'p CStr,
    buffer: &'p mut PathBuffer,
    action: impl Fn(&CStr) -> Result<T, Error>,
) -> (Result<T, Error>, &'p CStr) {
    let first = action(path);
    if !matches!(first, Err(Error { kind: ErrorKind::Open, .. })) {
        return (first, path);
    }
    match one_directory_up(path, buffer).map(|up| (action(up), up)) {
        None | Some((Err(Error { kind: ErrorKind::Open, .. }), _)) => (first, path),
        Some((second, up)) => (second, up),
    }
}

/// `../` and the path; `None` for an absolute path or one that does not fit.
fn one_directory_up<'b>(path: &CStr, buffer: &'b mut PathBuffer) -> Option<&'b CStr> {
    let given = path.to_bytes_with_nul();
    if given.starts_with(b"/") {
        return None;
    }
    let (front, rest) = buffer.split_at_mut(3);
    front.copy_from_slice(b"../");
    rest.get_mut(..given.len())?.copy_from_slice(given);
    CStr::from_bytes_until_nul(buffer).ok()
}

/// The bytes of a model for loading: on Unix a mapping that the arena will own, elsewhere bytes taken from the arena.
#[cfg(any(unix, not(feature = "host")))]
pub(super) fn open_into(path: &CStr, _arena: &mut Arena) -> Result<FileBytes, Error> {
    open(path)
}

/// The bytes of a model for loading: read into memory that is taken from the arena.
#[cfg(all(feature = "host", not(unix)))]
pub(super) fn open_into<'a>(path: &CStr, arena: &mut Arena) -> Result<InArena<'a>, Error> {
    let mut buffer = [0; NK_MAX_PATH_LEN];
    let (size, path) = with_fallback(path, &mut buffer, crate::host::file_size);
    let size = size?;
    if size == 0 {
        return Ok(InArena(&[]));
    }
    let room = arena.request(size, 16, "the file is read there")?;
    // SAFETY: the arena gave these `size` bytes a moment ago, so nobody else uses them.
    let bytes = unsafe { core::slice::from_raw_parts_mut(room, size) };
    crate::host::read_file(path, bytes)?;
    Ok(InArena(bytes))
}

/// The bytes of a file in an arena.
#[cfg(all(feature = "host", not(unix)))]
pub(super) struct InArena<'a>(&'a [u8]);

#[cfg(all(feature = "host", not(unix)))]
impl<'a> InArena<'a> {
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.0
    }
}

/// The beginning of `bytes` that is UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> &str {
    bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fallback_is_one_directory_up() {
        let mut buffer = [0; NK_MAX_PATH_LEN];
        assert_eq!(one_directory_up(c"models/a.nk", &mut buffer), Some(c"../models/a.nk"));
        assert_eq!(one_directory_up(c"", &mut buffer), Some(c"../"));
        assert_eq!(one_directory_up(c"/a.nk", &mut buffer), None);
        for (length, fits) in [(252, true), (253, false)] {
            let path = std::ffi::CString::new("a".repeat(length)).expect("no zero inside");
            assert_eq!(one_directory_up(&path, &mut buffer).is_some(), fits, "{length}");
        }
    }
}
