//! Where text goes
//!
//! Functions that print write to C stdout, and failing calls keep their sentence for nk_last_error(). Both can go to
//! functions of yours instead or in addition: to a serial line, a window, a logging system. The functions belong to the
//! whole process. Set them while no other thread uses the library, best before the first call; they must be callable from
//! every thread that uses it.

use core::ffi::{c_char, c_void};

use super::callbacks::Callback;
use super::errors::nk_status_t;
use super::handle::Facts;
use super::last_error::report;
use super::print::Lines;
use super::raw;
use super::raw::invalid;
use crate::format::Model;

/// Severity of a log text: a call failed.
pub const NK_LOG_ERROR: i32 = 0;

/// Takes a piece of printed text: UTF-8, `length` bytes, no zero at the end. A line of up to 128 bytes comes in one
/// piece, its line break included.
pub type nk_write_fn = Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, length: usize)>;

/// Takes a log text: one sentence in UTF-8, `length` bytes, without a line break or a zero at the end. Levels count from
/// NK_LOG_ERROR upwards to what matters less.
pub type nk_log_fn = Option<unsafe extern "C" fn(user: *mut c_void, level: i32, text: *const c_char, length: usize)>;

type Write = unsafe extern "C" fn(*mut c_void, *const c_char, usize);
type Log = unsafe extern "C" fn(*mut c_void, i32, *const c_char, usize);

static PRINT: Callback = Callback::new();
static LOG: Callback = Callback::new();

/// Sets the function that gets the sentence of each failing call, right before the call returns; without one nobody
/// gets it unasked. Messages that nk_cli_run() would write to C stderr go there too.
///
/// - fn: called on the thread whose call failed. It must not call the library, except nk_last_error() and its relatives.
///   NULL takes the function away.
/// - user: handed to the function.
///
/// Threads: any, but no other one may use the library meanwhile. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_set_log_callback(r#fn: nk_log_fn, user: *mut c_void) {
    LOG.set(r#fn.map_or(core::ptr::null_mut(), |function| function as *mut ()), user);
}

/// Sets the function that gets everything that would be printed to C stdout: tensors, summaries, test reports, what
/// nk_cli_run() answers. Builds without an operating system print only there.
///
/// - fn: called on the thread that prints, several times for one call. It must not call functions that print. NULL
///   brings C stdout back.
/// - user: handed to the function.
///
/// Threads: any, but no other one may use the library meanwhile. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_set_print_callback(r#fn: nk_write_fn, user: *mut c_void) {
    PRINT.set(r#fn.map_or(core::ptr::null_mut(), |function| function as *mut ()), user);
}

/// Writes the summary of a model in memory, which nk_arch_print() prints, to a function of yours.
///
/// - data: the content of a .nk file, at any address; only read during the call. The summary calls it `model`.
/// - size: bytes at `data`.
/// - fn: gets the text, on this thread, before the call returns.
/// - user: handed to the function.
///
/// Returns NK_OK or any of 2, 3, 5 to 7 and 9, with nothing written then. Threads: any. Cost: reads the model without its
/// weights. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arch_write(
    data: *const c_void,
    size: usize,
    r#fn: nk_write_fn,
    user: *mut c_void,
) -> nk_status_t {
    // SAFETY: `data` is NULL or by the conventions valid for `size` bytes.
    report(unsafe { raw::blob(data.cast(), size) }.and_then(|blob| {
        let function = r#fn.ok_or(invalid("fn is NULL"))?;
        let model = Model::parse(blob)?;
        Facts::of(&model)?;
        let mut lines = Lines::new(function, user);
        // `Lines` takes everything.
        let _ = crate::summary::write(&model, "model", &mut lines);
        lines.flush();
        Ok(())
    }))
}

/// The function that printed text goes to.
pub(super) fn printer() -> Option<(Write, *mut c_void)> {
    // SAFETY: `nk_set_print_callback` stores nothing but functions of this type.
    PRINT.get().map(|(function, user)| (unsafe { core::mem::transmute::<*mut (), Write>(function) }, user))
}

/// Hands an error to the log function; false when there is none.
pub(super) fn log_error(text: &[u8]) -> bool {
    let Some((function, user)) = LOG.get() else { return false };
    // SAFETY: `nk_set_log_callback` stores nothing but functions of this type, and the text is valid for its length.
    unsafe { core::mem::transmute::<*mut (), Log>(function)(user, NK_LOG_ERROR, text.as_ptr().cast(), text.len()) };
    true
}
