//! What the operating system provides, through the C library: files, the heap, standard output, the environment and
//! storage per thread. Everything here is behind the feature `host`; firmware builds leave it out.
//!
//! ```text
//! host/files.rs     read-only bytes of a file: mapped on Unix, read elsewhere
//! host/folder.rs    names in a folder, in order
//! host/heap.rs      one zeroed block
//! host/stdio.rs     writing to C stdout, so that our lines and the caller's printf stay in order
//! host/clock.rs     a clock for measuring
//! host/number.rs    reading a number as C does
//! host/threads.rs   one record per thread without std and, for the first 64 threads, without the heap
//! ```

mod clock;
mod files;
mod folder;
mod heap;
mod number;
mod stdio;
#[cfg(unix)]
mod threads;

pub(crate) use clock::monotonic_ns;
pub(crate) use files::FileBytes;
#[cfg(not(unix))]
pub(crate) use files::{file_size, read_file};
pub(crate) use folder::{Name, is_folder, next_name};
pub(crate) use heap::HeapBlock;
pub(crate) use number::leading_float;
pub(crate) use stdio::{Stderr, Stdout};
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
