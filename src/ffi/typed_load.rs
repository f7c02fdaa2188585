//! Loading as MLP or CNN
//!
//! The same models as nk_model_load() takes, behind a handle of their kind, whose layers work on tensors. Everything said
//! there holds. Beside the arena_bytes of nk_plan_memory() this takes up to 256 bytes, for a CNN its output and up to 15
//! bytes, and for a CNN with feature taps the maps that they keep.

use core::ffi::c_char;

use super::arena::nk_arena_t;
use super::builder::{self, Destination, load_file, load_memory};
use super::cnn::nk_cnn_t;
use super::errors::nk_status_t;
use super::inspect::{nk_arch_info_t, nk_network_kind_t};
use super::last_error::report;
use super::mlp::nk_mlp_t;

/// Loads an MLP from a file, as nk_model_load() does.
///
/// - path: a .nk file.
/// - arena: takes the MLP in.
/// - mlp: becomes the handle. It may be uninitialised; it is empty when the file cannot be loaded.
/// - info: filled in on success; may be NULL.
///
/// Returns NK_OK or any of 1 to 9, NK_ERR_UNSUPPORTED_NETWORK for a model of another kind; the arena is as before then.
/// Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_load(
    path: *const c_char,
    arena: *mut nk_arena_t,
    mlp: *mut nk_mlp_t,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_file` repeats.
    report(unsafe { load_file(path, arena, Destination::Mlp(mlp), info) })
}

/// Loads an MLP from memory, as nk_model_load_memory() does: the bytes are used in place.
///
/// - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the MLP is used.
/// - size: bytes at `data`.
/// - arena: takes the MLP in.
/// - mlp: becomes the handle. What it held stays when the bytes are no model or one of another kind.
/// - info: filled in on success; may be NULL.
///
/// Returns NK_OK or any of 2 to 9, NK_ERR_UNSUPPORTED_NETWORK for a model of another kind; the arena is as before then.
/// Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_load_memory(
    data: *const u8,
    size: usize,
    arena: *mut nk_arena_t,
    mlp: *mut nk_mlp_t,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_memory` repeats.
    report(unsafe { load_memory(data, size, arena, Destination::Mlp(mlp), info) })
}

/// Whether an MLP computes with int8; false without a finished MLP. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_is_quantized(mlp: *const nk_mlp_t) -> bool {
    // SAFETY: `mlp` is NULL or by the conventions a handle, whose arena is as it was.
    let loaded = unsafe { builder::get(mlp) }.and_then(|root| root.loaded());
    loaded.is_some_and(|loaded| loaded.facts.is_quantized())
}

/// Loads a CNN from a file; otherwise as nk_mlp_load().
///
/// - path: a .nk file.
/// - arena: takes the CNN in.
/// - cnn: becomes the handle. It may be uninitialised; it is empty when the file cannot be loaded.
/// - info: filled in on success; may be NULL.
///
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_load(
    path: *const c_char,
    arena: *mut nk_arena_t,
    cnn: *mut nk_cnn_t,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_file` repeats.
    report(unsafe { load_file(path, arena, Destination::Cnn(cnn), info) })
}

/// Loads a CNN from memory; otherwise as nk_mlp_load_memory().
///
/// - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the CNN is used.
/// - size: bytes at `data`.
/// - arena: takes the CNN in.
/// - cnn: becomes the handle. What it held stays when the bytes are no model or one of another kind.
/// - info: filled in on success; may be NULL.
///
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_load_memory(
    data: *const u8,
    size: usize,
    arena: *mut nk_arena_t,
    cnn: *mut nk_cnn_t,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_memory` repeats.
    report(unsafe { load_memory(data, size, arena, Destination::Cnn(cnn), info) })
}

/// Whether a CNN computes with int8; false without a finished CNN. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_is_quantized(cnn: *const nk_cnn_t) -> bool {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    let loaded = unsafe { builder::get(cnn) }.and_then(|root| root.loaded());
    loaded.is_some_and(|loaded| loaded.facts.is_quantized())
}

/// Loads a file into the handle of its kind.
///
/// - path: a .nk file.
/// - arena: takes the network in.
/// - kind: receives what it is.
/// - mlp: becomes the handle of an MLP; may be NULL, a network without a handle is of no use.
/// - cnn: becomes the handle of a CNN; may be NULL.
/// - info: filled in on success; may be NULL.
///
/// Returns NK_OK or any of 1 to 9, NK_ERR_LAYER_CONFIG for a network of unknown kind; nothing is written then, and the
/// arena is as before. Threads: any. Cost: reads all weights once to check them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_load_auto(
    path: *const c_char,
    arena: *mut nk_arena_t,
    kind: *mut nk_network_kind_t,
    mlp: *mut nk_mlp_t,
    cnn: *mut nk_cnn_t,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_file` repeats.
    report(unsafe { load_file(path, arena, Destination::Either { kind, mlp, cnn }, info) })
}
