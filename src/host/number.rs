//! Numbers in the notation of C.

use core::ffi::CStr;

/// The float at the start of `text` as `strtof` reads it (decimal, hexadecimal, `inf`, `nan`), and its length in bytes;
/// `None` when there is none. The decimal point is that of the program's locale.
pub(crate) fn leading_float(text: &CStr) -> Option<(f32, usize)> {
    let mut end = core::ptr::null_mut();
    // SAFETY: `text` is a C string, and `end` has room for an address.
    let value = unsafe { libc::strtof(text.as_ptr(), &mut end) };
    let length = end.addr() - text.as_ptr().addr();
    (length > 0).then_some((value, length))
}
