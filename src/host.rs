//! What the operating system provides, through the C library: files, the heap, standard output, the environment and
//! storage per thread. Everything here is behind the feature `host`; firmware builds leave it out.
//!
//! ```text
//! host/files.rs     read-only bytes of a file: mapped on Unix, read elsewhere
//! host/heap.rs      one zeroed block
//! host/stdio.rs     writing to C stdout, so that our lines and the caller's printf stay in order
//! host/threads.rs   one record per thread without std and, for the first 64 threads, without the heap
//! ```

mod files;
mod heap;
mod stdio;
#[cfg(unix)]
mod threads;

pub(crate) use files::FileBytes;
#[cfg(not(unix))]
pub(crate) use files::{file_size, read_file};
pub(crate) use heap::HeapBlock;
pub(crate) use stdio::Stdout;
#[cfg(unix)]
pub(crate) use threads::ThreadRecords;

use core::ffi::CStr;

use crate::kernels::Level;

/// The kernel level that the environment variable `NETKIT_CPU` names; `None` when it is unset or names none.
pub(crate) fn cpu_cap() -> Option<Level> {
    Level::from_bytes(variable(c"NETKIT_CPU")?.to_bytes())
}

/// An environment variable; read the value at once. A program that changes its environment on another thread meanwhile
/// breaks the rule of `getenv` itself.
pub(crate) fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: the name is a C string.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: getenv returned null or a C string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}
