//! Writing to the C library's standard output and standard error.

use core::fmt;

/// C `stdout`. It goes through the buffer of the C library, so that our lines keep their place between the lines that
/// the caller prints with `printf`.
#[derive(Debug)]
pub(crate) struct Stdout;

impl Stdout {
    /// Hands what was written so far to the operating system.
    pub(crate) fn flush(&mut self) {
        // SAFETY: `stdout` is an open stream; a program that closed it breaks its own prints as well.
        unsafe { libc::fflush(streams::stdout()) };
    }
}

impl fmt::Write for Stdout {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: `stdout` is an open stream.
        unsafe { write(text, streams::stdout()) }
    }
}

/// C `stderr`, which keeps nothing back.
#[derive(Debug)]
pub(crate) struct Stderr;

impl fmt::Write for Stderr {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: `stderr` is an open stream.
        unsafe { write(text, streams::stderr()) }
    }
}

/// # Safety
/// The stream is open.
unsafe fn write(text: &str, stream: *mut libc::FILE) -> fmt::Result {
    // SAFETY: `text` is valid for its length, and by this function's contract the stream is open.
    let written = unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream) };
    if written == text.len() { Ok(()) } else { Err(fmt::Error) }
}

#[cfg(unix)]
mod streams {
    mod variables {
        unsafe extern "C" {
            #[cfg_attr(
                any(target_vendor = "apple", target_os = "freebsd", target_os = "dragonfly"),
                link_name = "__stdoutp"
            )]
            pub(super) static stdout: *mut libc::FILE;
            #[cfg_attr(
                any(target_vendor = "apple", target_os = "freebsd", target_os = "dragonfly"),
                link_name = "__stderrp"
            )]
            pub(super) static stderr: *mut libc::FILE;
        }
    }

    pub(super) fn stdout() -> *mut libc::FILE {
        // SAFETY: the C library initialises the variable before `main` and nobody writes to it while others print.
        unsafe { variables::stdout }
    }

    pub(super) fn stderr() -> *mut libc::FILE {
        // SAFETY: as above.
        unsafe { variables::stderr }
    }
}

#[cfg(windows)]
mod streams {
    unsafe extern "C" {
        fn __acrt_iob_func(index: core::ffi::c_uint) -> *mut libc::FILE;
    }

    pub(super) fn stdout() -> *mut libc::FILE {
        // SAFETY: index 1 is standard output in the universal C runtime.
        unsafe { __acrt_iob_func(1) }
    }

    pub(super) fn stderr() -> *mut libc::FILE {
        // SAFETY: index 2 is standard error.
        unsafe { __acrt_iob_func(2) }
    }
}
