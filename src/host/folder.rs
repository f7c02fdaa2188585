//! The names in a folder, in order and without memory that grows with their number.

use core::ffi::CStr;

/// Longest name in bytes, on every file system that matters.
const LONGEST: usize = 255;

/// A name in a folder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Name {
    #[cfg(unix)]
    fn new(name: &[u8]) -> Option<Self> {
        let mut bytes = [0; LONGEST];
        bytes.get_mut(..name.len())?.copy_from_slice(name);
        Some(Self { bytes, length: name.len() })
    }

    /// The name without a zero at its end.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The first name behind `previous`, in the order of bytes, among those that end in `ending`. Each call reads the whole
/// folder, which is cheap for the hundreds of names that a folder of models has.
#[cfg(unix)]
pub(crate) fn next_name(folder: &CStr, ending: &[u8], previous: Option<&Name>) -> Option<Name> {
    let listing = Listing::open(folder)?;
    let mut best: Option<Name> = None;
    while let Some(name) = listing.next() {
        let name = name.to_bytes();
        let is_behind = previous.is_none_or(|previous| name > previous.bytes());
        let is_first = best.as_ref().is_none_or(|best| name < best.bytes());
        if is_behind && is_first && name.len() > ending.len() && name.ends_with(ending) {
            best = Name::new(name).or(best);
        }
    }
    best
}

/// Whether there is such a folder.
#[cfg(unix)]
pub(crate) fn is_folder(path: &CStr) -> bool {
    Listing::open(path).is_some()
}

/// The C library lists no folders outside Unix.
#[cfg(not(unix))]
pub(crate) fn next_name(_folder: &CStr, _ending: &[u8], _previous: Option<&Name>) -> Option<Name> {
    None
}

/// As above.
#[cfg(not(unix))]
pub(crate) fn is_folder(_path: &CStr) -> bool {
    false
}

/// An open folder.
#[cfg(unix)]
struct Listing(core::ptr::NonNull<libc::DIR>);

#[cfg(unix)]
impl Listing {
    fn open(path: &CStr) -> Option<Self> {
        // SAFETY: `path` is a C string.
        core::ptr::NonNull::new(unsafe { libc::opendir(path.as_ptr()) }).map(Self)
    }

    /// The next name; valid until the next call.
    fn next(&self) -> Option<&CStr> {
        // SAFETY: the folder is open, and nobody else reads from it.
        let entry = unsafe { libc::readdir(self.0.as_ptr()) };
        // SAFETY: readdir returned null or an entry whose name ends with zero.
        (!entry.is_null()).then(|| unsafe { CStr::from_ptr((&raw const (*entry).d_name).cast()) })
    }
}

#[cfg(unix)]
impl Drop for Listing {
    fn drop(&mut self) {
        // SAFETY: `open` returned the folder and nobody else closes it.
        unsafe { libc::closedir(self.0.as_ptr()) };
    }
}
