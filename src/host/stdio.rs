//! Writing to the C library's standard output.

use core::fmt;

/// C `stdout`. It goes through the buffer of the C library, so that our lines keep their place between the lines that
/// the caller prints with `printf`.
#[derive(Debug)]
pub(crate) struct Stdout;

impl Stdout {
    /// Hands what was written so far to the operating system.
    pub(crate) fn flush(&mut self) {
        // SAFETY: `stdout` is an open stream; a program that closed it breaks its own prints as well.
        unsafe { libc::fflush(stream()) };
    }
}

impl fmt::Write for Stdout {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: `text` is valid for its length, and `stdout` is an open stream.
        let written = unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stream()) };
        if written == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(unix)]
fn stream() -> *mut libc::FILE {
    unsafe extern "C" {
        #[cfg_attr(
            any(target_vendor = "apple", target_os = "freebsd", target_os = "dragonfly"),
            link_name = "__stdoutp"
        )]
        static stdout: *mut libc::FILE;
    }
    // SAFETY: the C library initialises the variable before `main` and nobody writes to it while others print.
    unsafe { stdout }
}

#[cfg(windows)]
fn stream() -> *mut libc::FILE {
    unsafe extern "C" {
        fn __acrt_iob_func(index: core::ffi::c_uint) -> *mut libc::FILE;
    }
    // SAFETY: index 1 is standard output in the universal C runtime.
    unsafe { __acrt_iob_func(1) }
}
