//! Where printing functions print to: C stdout or the print function of the program.

use core::ffi::{c_char, c_void};
use core::fmt;

use super::output;

/// Calls `action` with a place for printed text.
pub(super) fn with_stdout(action: impl FnOnce(&mut dyn fmt::Write)) {
    let Some((function, user)) = output::printer() else { return to_stdout(action) };
    let mut lines = Lines::new(function, user);
    action(&mut lines);
    lines.flush();
}

/// Calls `action` with C stdout and flushes it.
#[cfg(feature = "host")]
fn to_stdout(action: impl FnOnce(&mut dyn fmt::Write)) {
    let mut out = crate::host::Stdout;
    action(&mut out);
    out.flush();
}

/// Builds without an operating system have no stdout.
#[cfg(not(feature = "host"))]
fn to_stdout(_action: impl FnOnce(&mut dyn fmt::Write)) {}

/// Bytes that are collected before they are handed over.
const LINE_BYTES: usize = 128;

/// Hands text to a function of the program, line by line.
pub(super) struct Lines {
    function: unsafe extern "C" fn(*mut c_void, *const c_char, usize),
    user: *mut c_void,
    bytes: [u8; LINE_BYTES],
    length: usize,
}

impl Lines {
    pub(super) fn new(function: unsafe extern "C" fn(*mut c_void, *const c_char, usize), user: *mut c_void) -> Self {
        Self { function, user, bytes: [0; LINE_BYTES], length: 0 }
    }

    /// Hands over what is left.
    pub(super) fn flush(&mut self) {
        let length = core::mem::take(&mut self.length);
        if length > 0 {
            // SAFETY: the caller of the library promises that the function takes text; the bytes are valid.
            unsafe { (self.function)(self.user, self.bytes.as_ptr().cast(), length) };
        }
    }
}

impl fmt::Write for Lines {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut encoded = [0; 4];
            let encoded = character.encode_utf8(&mut encoded).as_bytes();
            if self.length + encoded.len() > LINE_BYTES {
                self.flush();
            }
            for (to, &from) in self.bytes.iter_mut().skip(self.length).zip(encoded) {
                *to = from;
            }
            self.length += encoded.len();
            if character == '\n' {
                self.flush();
            }
        }
        Ok(())
    }
}
