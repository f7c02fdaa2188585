//! A Rust static library of somebody else, with the standard library in it.

use std::collections::HashMap;

/// Counts the different bytes of a string.
///
/// # Safety
///
/// `text` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn other_count(text: *const core::ffi::c_char) -> u32 {
    // SAFETY: the caller promises it.
    let text = unsafe { core::ffi::CStr::from_ptr(text) };
    let counts = text.to_bytes().iter().fold(HashMap::new(), |mut counts, byte| {
        *counts.entry(byte).or_insert(0u32) += 1;
        counts
    });
    std::panic::catch_unwind(|| u32::try_from(counts.len()).expect("few")).unwrap_or(0)
}
