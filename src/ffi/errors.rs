//! Status and errors
//!
//! A status tells what kind of thing went wrong; nk_last_error() tells it in a sentence with layer, byte and numbers,
//! and nk_last_error_info() gives the same facts as fields.

use core::ffi::c_char;

use super::limits::NK_MAX_MESSAGE_LEN;
use super::{last_error, nk_status_int, raw};
use crate::error::{Error, ErrorKind};

/// Result of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_status {
    /// The call did what it should.
    NK_OK = 0,
    /// The file cannot be opened, neither at its path nor at `../` and its path, or is no regular file.
    NK_ERR_MODEL_OPEN = 1,
    /// The file cannot be read, or a record in it is cut short or of an unknown kind.
    NK_ERR_MODEL_READ = 2,
    /// This is no .nk file, or its header, sections or payload contradict each other.
    NK_ERR_MODEL_PARSE = 3,
    /// A valid model that this version of the library cannot run.
    NK_ERR_UNSUPPORTED_NETWORK = 4,
    /// The file has a format version other than 3 and 4; or see nk_check_abi().
    NK_ERR_VERSION_MISMATCH = 5,
    /// A layer cannot work on its input, or the model has too many layers or tensors.
    NK_ERR_LAYER_CONFIG = 6,
    /// A tensor has another size than its layer asks for.
    NK_ERR_WEIGHT_MISMATCH = 7,
    /// The arena has too little room; the message gives the bytes needed and available.
    NK_ERR_ARENA_OVERFLOW = 8,
    /// An argument is NULL, out of range or does not fit the model.
    NK_ERR_INVALID_ARGUMENT = 9,
    /// The output buffer is shorter than the output.
    NK_ERR_BUFFER_TOO_SMALL = 10,
    /// The handle holds no loaded model.
    NK_ERR_MODEL_NOT_LOADED = 11,
    /// The object has to be initialised first.
    NK_ERR_NOT_INITIALIZED = 12,
    /// Your layer hook stopped the run; see nk_model_set_layer_hook().
    NK_ERR_STOPPED = 100,
}

/// Result of a call.
pub type nk_status_t = nk_status;

/// The last error as fields. Set struct_size to `sizeof(nk_error_info_t)` before you pass it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_error_info {
    /// Size of this structure in bytes, set by you.
    pub struct_size: u32,
    /// Status of the call that failed last; NK_OK when the last call succeeded.
    pub status: nk_status_t,
    /// Index of the layer in the model from 0, or -1.
    pub layer_index: i32,
    /// Offset in the .nk file in bytes, or 0xFFFFFFFF.
    pub byte_offset: u32,
    /// Bytes or elements that would have been right; 0 when the error is not about an amount.
    pub needed: usize,
    /// Bytes or elements that were there; 0 when the error is not about an amount.
    pub available: usize,
    /// The sentence of nk_last_error().
    pub message: [c_char; NK_MAX_MESSAGE_LEN],
}

/// The last error as fields.
pub type nk_error_info_t = nk_error_info;

/// Names a status in two to four words of plain English, such as `arena overflow`.
///
/// - status: any number; `unknown` for one that is not listed.
///
/// Returns a constant string, never NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_status_string(status: nk_status_int) -> *const c_char {
    let text = match status {
        0 => c"ok",
        1 => c"model file open failed",
        2 => c"model read failed",
        3 => c"model parse failed",
        4 => c"unsupported network",
        5 => c"version mismatch",
        6 => c"layer config error",
        7 => c"weight payload size mismatch",
        8 => c"arena overflow",
        9 => c"invalid argument",
        10 => c"buffer too small",
        11 => c"model not loaded",
        12 => c"not initialized",
        100 => c"stopped by hook",
        _ => c"unknown",
    };
    text.as_ptr()
}

/// Tells in one sentence why the last call failed that returned a status on this thread.
///
/// Returns a string of at most 127 bytes, never NULL; empty when that call succeeded or there was none. It is valid
/// until the next call on this thread. Calls that return no status leave it alone. Threads: any, each has its own on
/// Unix; in builds without an operating system there is one for all. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_last_error() -> *const c_char {
    last_error::text().as_ptr()
}

/// Forgets the last error of this thread. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_clear_last_error() {
    last_error::clear();
}

/// Copies the text of nk_last_error() to a buffer of yours.
///
/// - buffer: receives the text and a terminating zero, cut to the capacity; may be NULL when capacity is 0.
/// - capacity: size of the buffer in bytes.
///
/// Returns the length of the whole text in bytes without the terminating zero. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_last_error_copy(buffer: *mut c_char, capacity: usize) -> usize {
    let text = last_error::text().to_bytes();
    if !buffer.is_null() && capacity > 0 {
        let kept = text.len().min(capacity - 1);
        // SAFETY: the caller gives `capacity` bytes at `buffer`, of which `kept + 1` are written. `copy` allows that
        // the caller passes the text itself.
        unsafe {
            core::ptr::copy(text.as_ptr().cast(), buffer, kept);
            buffer.add(kept).write(0);
        }
    }
    text.len()
}

/// Gives the facts of the last error of this thread. Unlike other calls it leaves the last error as it is, whatever it
/// returns.
///
/// - info: filled in; its struct_size must be set.
///
/// Returns NK_OK, or NK_ERR_INVALID_ARGUMENT when info is NULL or its struct_size is not the size of the structure.
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_last_error_info(info: *mut nk_error_info_t) -> nk_status_t {
    // SAFETY: `info` is NULL or points to a structure that begins with its size, by the conventions of the header.
    let Ok(struct_size) = (unsafe { raw::struct_size(info, "info is NULL") }) else {
        return nk_status::NK_ERR_INVALID_ARGUMENT;
    };
    let answer = last_error::info(struct_size);
    // SAFETY: `struct_size` accepted the pointer and found room for the whole structure.
    unsafe { info.write_unaligned(answer) };
    nk_status::NK_OK
}

impl ErrorKind {
    /// The status of the C API for this kind of error.
    pub const fn status(self) -> nk_status {
        match self {
            ErrorKind::Open => nk_status::NK_ERR_MODEL_OPEN,
            ErrorKind::FileRead | ErrorKind::Truncated | ErrorKind::LayerKind | ErrorKind::Quant | ErrorKind::Cases => {
                nk_status::NK_ERR_MODEL_READ
            }
            ErrorKind::Magic | ErrorKind::Header | ErrorKind::FileSize | ErrorKind::Payload => {
                nk_status::NK_ERR_MODEL_PARSE
            }
            ErrorKind::Unsupported => nk_status::NK_ERR_UNSUPPORTED_NETWORK,
            ErrorKind::Version => nk_status::NK_ERR_VERSION_MISMATCH,
            ErrorKind::Limit | ErrorKind::Layer | ErrorKind::SizeOverflow => nk_status::NK_ERR_LAYER_CONFIG,
            ErrorKind::Catalog | ErrorKind::Weights => nk_status::NK_ERR_WEIGHT_MISMATCH,
            ErrorKind::Arena => nk_status::NK_ERR_ARENA_OVERFLOW,
            ErrorKind::Argument => nk_status::NK_ERR_INVALID_ARGUMENT,
            ErrorKind::Buffer => nk_status::NK_ERR_BUFFER_TOO_SMALL,
            ErrorKind::NotLoaded => nk_status::NK_ERR_MODEL_NOT_LOADED,
            ErrorKind::NotInitialized => nk_status::NK_ERR_NOT_INITIALIZED,
            ErrorKind::Stopped => nk_status::NK_ERR_STOPPED,
        }
    }
}

impl Error {
    /// The status of the C API for this error.
    pub const fn status(&self) -> nk_status {
        self.kind.status()
    }
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(nk_error_info, layer_index) == 8 && offset_of!(nk_error_info, byte_offset) == 12);
    assert!(offset_of!(nk_error_info, needed) == 16);
    assert!(size_of::<nk_error_info>() == 16 + 2 * size_of::<usize>() + NK_MAX_MESSAGE_LEN);
};
