//! Read-only bytes of a model file.

use core::ffi::CStr;
use core::ptr::NonNull;

#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
use libc::{fstat, open, stat};
// In 32-bit programs the plain calls of glibc refuse files of 2 GiB, and small ones whose inode number is large.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use libc::{fstat64 as fstat, open64 as open, stat64 as stat};

use crate::error::{Error, ErrorKind};

/// The content of a file: a private read-only mapping on Unix, a block of the heap elsewhere.
#[derive(Debug)]
pub(crate) struct FileBytes {
    address: NonNull<u8>,
    length: usize,
}

impl FileBytes {
    /// The bytes of the file. A mapped file must not be shortened by anybody while it is in use.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `address` is valid for `length` bytes, or dangling with length 0; both were set by `open` or
        // `from_raw`.
        unsafe { core::slice::from_raw_parts(self.address.as_ptr(), self.length) }
    }

    /// Hands the bytes over as address and length; [`FileBytes::from_raw`] takes them back.
    #[cfg(unix)]
    pub(crate) fn into_raw(self) -> (usize, usize) {
        let file = core::mem::ManuallyDrop::new(self);
        (file.address.as_ptr().expose_provenance(), file.length)
    }

    /// Takes back what [`FileBytes::into_raw`] handed over.
    ///
    /// # Safety
    /// The pair came from `into_raw` and was not taken back before.
    #[cfg(unix)]
    pub(crate) unsafe fn from_raw(address: usize, length: usize) -> Self {
        let address = core::ptr::with_exposed_provenance_mut(address);
        Self { address: NonNull::new(address).unwrap_or(NonNull::dangling()), length }
    }
}

#[cfg(unix)]
impl FileBytes {
    /// Maps the regular file at `path`.
    pub(crate) fn open(path: &CStr) -> Result<Self, Error> {
        let file = Descriptor::open(path)?;
        let length = file.length()?;
        if length == 0 {
            return Ok(Self { address: NonNull::dangling(), length });
        }
        // SAFETY: a new private mapping of an open file touches no existing memory.
        let address =
            unsafe { libc::mmap(core::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, file.number, 0) };
        match NonNull::new(address.cast()) {
            Some(address) if address.as_ptr() != libc::MAP_FAILED.cast() => Ok(Self { address, length }),
            _ => Err(Error::new(ErrorKind::FileRead).note("Could not map .nk file")),
        }
    }
}

#[cfg(unix)]
impl Drop for FileBytes {
    fn drop(&mut self) {
        if self.length != 0 {
            // SAFETY: `open` mapped these bytes, `self` owns the mapping and is about to disappear.
            unsafe { libc::munmap(self.address.as_ptr().cast(), self.length) };
        }
    }
}

/// An open file descriptor.
#[cfg(unix)]
struct Descriptor {
    number: core::ffi::c_int,
}

#[cfg(unix)]
impl Descriptor {
    /// Opens `path` for reading. `O_NONBLOCK` keeps a FIFO without a writer from blocking us; files do not care.
    fn open(path: &CStr) -> Result<Self, Error> {
        // SAFETY: `path` is a C string.
        let number = unsafe { open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK) };
        if number < 0 {
            return Err(cannot_open());
        }
        Ok(Self { number })
    }

    /// Length of the file in bytes. Directories, pipes and devices count as files that cannot be opened.
    fn length(&self) -> Result<usize, Error> {
        let mut facts = core::mem::MaybeUninit::<stat>::uninit();
        // SAFETY: the descriptor is open and `facts` has room for the answer.
        if unsafe { fstat(self.number, facts.as_mut_ptr()) } != 0 {
            return Err(cannot_size());
        }
        // SAFETY: fstat succeeded and filled the structure.
        let facts = unsafe { facts.assume_init() };
        if facts.st_mode & libc::S_IFMT != libc::S_IFREG {
            return Err(cannot_open());
        }
        usize::try_from(facts.st_size).ok().filter(|&length| length <= isize::MAX as usize).ok_or_else(cannot_size)
    }
}

#[cfg(unix)]
impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: `open` returned the descriptor and nobody else closes it. A mapping outlives its descriptor.
        unsafe { libc::close(self.number) };
    }
}

#[cfg(not(unix))]
impl FileBytes {
    /// Reads the file at `path` into a block of the heap.
    pub(crate) fn open(path: &CStr) -> Result<Self, Error> {
        let length = file_size(path)?;
        let Some(mut block) = super::HeapBlock::zeroed(length) else {
            return if length == 0 {
                Ok(Self { address: NonNull::dangling(), length })
            } else {
                Err(Error::new(ErrorKind::FileRead).note("No memory for the .nk file"))
            };
        };
        read_file(path, block.bytes())?;
        let address = NonNull::new(block.into_raw()).unwrap_or(NonNull::dangling());
        Ok(Self { address, length })
    }
}

#[cfg(not(unix))]
impl Drop for FileBytes {
    fn drop(&mut self) {
        if self.length != 0 {
            // SAFETY: `open` took this block out of a `HeapBlock`; `self` owns it and is about to disappear.
            unsafe { super::HeapBlock::free(self.address.as_ptr()) };
        }
    }
}

/// An open C stream.
#[cfg(not(unix))]
struct Stream(*mut libc::FILE);

#[cfg(not(unix))]
impl Stream {
    fn open(path: &CStr) -> Result<Self, Error> {
        // SAFETY: both arguments are C strings.
        let file = unsafe { libc::fopen(path.as_ptr(), c"rb".as_ptr()) };
        if file.is_null() { Err(cannot_open()) } else { Ok(Self(file)) }
    }
}

#[cfg(not(unix))]
impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: `open` returned the stream and nobody else closes it.
        unsafe { libc::fclose(self.0) };
    }
}

/// Length of the file at `path` in bytes.
#[cfg(not(unix))]
pub(crate) fn file_size(path: &CStr) -> Result<usize, Error> {
    let stream = Stream::open(path)?;
    // SAFETY: the stream is open.
    let end = unsafe {
        if libc::fseek(stream.0, 0, libc::SEEK_END) != 0 {
            return Err(cannot_size());
        }
        libc::ftell(stream.0)
    };
    usize::try_from(end).map_err(|_| cannot_size())
}

/// Fills `bytes` from the start of the file at `path`.
#[cfg(not(unix))]
pub(crate) fn read_file(path: &CStr, bytes: &mut [u8]) -> Result<(), Error> {
    let stream = Stream::open(path)?;
    // SAFETY: the stream is open and `bytes` is valid for its length.
    let read = unsafe { libc::fread(bytes.as_mut_ptr().cast(), 1, bytes.len(), stream.0) };
    if read == bytes.len() { Ok(()) } else { Err(Error::new(ErrorKind::FileRead).note("Failed to read .nk file")) }
}

fn cannot_open() -> Error {
    Error::new(ErrorKind::Open).note("Could not open .nk file")
}

fn cannot_size() -> Error {
    Error::new(ErrorKind::FileRead).note("Could not size .nk file")
}
