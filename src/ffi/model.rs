//! Models: load, run, unload
//!
//! A model is loaded into an arena and lives there until the arena is reset. Any number of models share an arena;
//! loading the same bytes twice gives two models. nk_load(), nk_load_memory() and nk_forward() are short names of
//! nk_model_load(), nk_model_load_memory() and nk_model_run().

use core::ffi::c_char;

use super::errors::nk_status_t;
use super::handle::{self, Loaded};
use super::last_error::report;
use super::limits::NK_MODEL_STORAGE_BYTES;
use super::raw::required;
use super::run::Call;
use super::{arena, files, mappings, nk_storage_byte, raw};
use crate::error::Error;
use crate::format::Model;

/// Handle of a model. Its content belongs to the library.
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
#[derive(Clone, Copy, Debug)]
pub struct nk_model {
    /// Opaque.
    pub storage: [nk_storage_byte; NK_MODEL_STORAGE_BYTES],
}

/// Handle of a model.
pub type nk_model_t = nk_model;

/// Loads a model from a file.
///
/// The file is mapped read-only and stays mapped until nk_unload() or the end of the arena; do not shorten it
/// meanwhile. Systems without mapping read it into the arena. A path that cannot be opened is tried once more with
/// `../` in front.
///
/// - path: a .nk file.
/// - arena: takes the model in; exactly the arena_bytes of nk_plan_memory() on systems with mapping.
/// - model: becomes the handle. It may be uninitialised. A model that it held stays usable when the file is no model at
///   all (NK_ERR_MODEL_OPEN, NK_ERR_MODEL_READ, NK_ERR_MODEL_PARSE or NK_ERR_VERSION_MISMATCH from the parser).
///
/// Returns NK_OK or any of 1 to 9; the arena is as before then. Threads: any. Cost: reads all weights once to check
/// them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_load(
    path: *const c_char,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_file` repeats.
    report(unsafe { load_file(path, arena, model) })
}

/// Loads a model from memory. The bytes are used in place and never written to.
///
/// - data: the content of a .nk file, at any address; must stay valid and unchanged as long as the model is used. At an
///   address where its weights are not aligned to 4 the arena takes a copy of them in.
/// - size: bytes at `data`.
/// - arena: takes the model in; exactly the arena_bytes of nk_plan_memory().
/// - model: becomes the handle, as in nk_model_load().
///
/// Returns NK_OK or any of 2 to 9; the arena is as before then. Threads: any. Cost: reads all weights once to check
/// them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_load_memory(
    data: *const u8,
    size: usize,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_memory` repeats.
    report(unsafe { load_memory(data, size, arena, model) })
}

/// Loads a copy of a model in memory: its bytes go into the arena and are used there.
///
/// - data: the content of a .nk file, at any address; not needed any more afterwards.
/// - size: bytes at `data`.
/// - arena: takes in the copy, at a multiple of 16, and the model: size bytes, up to 15 for alignment, and the arena_bytes
///   that nk_plan_memory() tells for bytes at such an address.
/// - model: becomes the handle, as in nk_model_load().
///
/// Returns NK_OK or any of 2 to 9; the arena is as before then. Threads: any. Cost: copies the model and reads all
/// weights once to check them. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_load_memory_copy(
    data: *const u8,
    size: usize,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_memory_copy` repeats.
    report(unsafe { load_memory_copy(data, size, arena, model) })
}

/// Runs a float model once. The result depends on the model and the input alone, and on the level of the kernels and whether
/// weights are packed in the arena by no more than roundings.
///
/// - model: a loaded model. Its own arena must be as it was; the run writes to the model's memory there, so that one
///   model runs on one thread at a time.
/// - arena: any arena. It is used only when input and output overlap: the input is then copied to its free memory for
///   the duration of the run. Nothing is taken from it.
/// - input: input_count floats; row-major, [height, width, channels] for a CNN.
/// - input_count: must be nk_model_input_count().
/// - output: receives nk_model_output_count() floats.
/// - output_capacity: floats that fit into `output`.
/// - output_count: receives the number of floats written.
///
/// Checks in this order: NULL (NK_ERR_INVALID_ARGUMENT), model loaded (NK_ERR_MODEL_NOT_LOADED), model of floats and
/// input_count (NK_ERR_INVALID_ARGUMENT), output_capacity (NK_ERR_BUFFER_TOO_SMALL), alignment of the buffers and
/// overlap with the model (NK_ERR_INVALID_ARGUMENT), room for an overlapping input (NK_ERR_ARENA_OVERFLOW). A layer hook
/// that stops the run makes it NK_ERR_STOPPED. Threads: any. Cost: the model's arithmetic; no heap, no system call. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_run(
    model: *const nk_model_t,
    arena: *mut arena::nk_arena_t,
    input: *const f32,
    input_count: u32,
    output: *mut f32,
    output_capacity: u32,
    output_count: *mut u32,
) -> nk_status_t {
    let call = Call { model, arena, input, input_count, output, output_capacity, output_count };
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { call.run() })
}

/// Runs an int8 model once. The result depends on the model and the input alone and is the same on every machine.
///
/// Everything is as in nk_model_run(), with int8_t in place of float: input and output are quantised with the parameters
/// that nk_model_input_quant() and nk_model_output_quant() tell, and may lie at any address. A float model is refused
/// with NK_ERR_INVALID_ARGUMENT, as an int8 model is by nk_model_run(), before a buffer is looked at.
///
/// - model: a loaded int8 model.
/// - arena: any arena; used only when input and output overlap.
/// - input: input_count values; row-major, [height, width, channels] for a CNN.
/// - input_count: must be nk_model_input_count().
/// - output: receives nk_model_output_count() values.
/// - output_capacity: values that fit into `output`.
/// - output_count: receives the number of values written.
///
/// Returns NK_OK, any of 8 to 11 in the order of nk_model_run(), or NK_ERR_STOPPED. Threads: any. Cost: the model's
/// arithmetic, in integers only; no heap, no system call. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_run_int8(
    model: *const nk_model_t,
    arena: *mut arena::nk_arena_t,
    input: *const i8,
    input_count: u32,
    output: *mut i8,
    output_capacity: u32,
    output_count: *mut u32,
) -> nk_status_t {
    let call = Call { model, arena, input, input_count, output, output_capacity, output_count };
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { call.run() })
}

/// Short name of nk_model_load().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_load(
    path: *const c_char,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_file` repeats.
    report(unsafe { load_file(path, arena, model) })
}

/// Short name of nk_model_load_memory().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_load_memory(
    data: *const u8,
    size: usize,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `load_memory` repeats.
    report(unsafe { load_memory(data, size, arena, model) })
}

/// Short name of nk_model_run().
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_forward(
    model: *const nk_model_t,
    arena: *mut arena::nk_arena_t,
    input: *const f32,
    input_count: u32,
    output: *mut f32,
    output_capacity: u32,
    output_count: *mut u32,
) -> nk_status_t {
    let call = Call { model, arena, input, input_count, output, output_capacity, output_count };
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { call.run() })
}

/// Leaves out the softmax at the end of a model from now on, or brings it back. Without it the output holds the logits,
/// whose largest value has the same index.
///
/// Float and int8 models, MLPs and CNNs alike. A model whose last layer is not a dense layer with softmax stays as it is.
/// The setting lives in the arena with the model: all copies of the handle share it, and loading starts without it. The
/// logits of an int8 model have parameters of their own, which nk_model_output_quant() then tells.
///
/// - model: a loaded model whose arena is as it was; nothing happens without one.
/// - omit: true to leave the softmax out.
///
/// Threads: any, but not during a run of the model. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_set_omit_final_softmax(model: *mut nk_model_t, omit: bool) {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    let Some(loaded) = (unsafe { handle::get(model) }) else { return };
    // SAFETY: by this function's documentation the arena is as it was, and no run uses the model.
    if let Ok(mut network) = unsafe { loaded.network() } {
        network.set_omit_final_softmax(omit);
    }
}

/// Whether the softmax at the end of a model is left out; false without a model and for one that has none there.
///
/// - model: a loaded model whose arena is as it was.
///
/// Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_omit_final_softmax(model: *const nk_model_t) -> bool {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    let Some(loaded) = (unsafe { handle::get(model) }) else { return false };
    // SAFETY: by this function's documentation the arena is as it was, and by the conventions nobody changes the model.
    unsafe { loaded.shared() }.is_ok_and(|network| network.omits_final_softmax())
}

/// Ends a model: unmaps its file and empties the handle. Its bytes in the arena stay taken until the arena is reset.
///
/// A model from memory only needs this to empty the handle. Unload a model from a file before its arena's memory goes
/// away. Copies of the handle do not run any more either when the model came from a file.
///
/// - model: the model to end; NULL and handles without a model are fine.
///
/// Threads: any. Cost: one unmapping. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_unload(model: *mut nk_model_t) {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    let Some(loaded) = (unsafe { handle::get(model) }) else { return };
    // SAFETY: the arena's memory is there, by this function's documentation, and no run uses the model.
    unsafe { mappings::release(&loaded) };
    // SAFETY: `get` found a handle there.
    unsafe { handle::erase(model) };
}

/// # Safety
/// Each pointer is null or as the header says: a C string, a handle of an arena with valid memory, room for a handle.
unsafe fn load_file(path: *const c_char, arena: *mut arena::nk_arena_t, model: *mut nk_model_t) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let path = unsafe { raw::path(path) }?;
    required(arena, "arena is NULL")?;
    required(model, "model is NULL")?;
    // SAFETY: not null, and by this function's contract a handle.
    let mut state = unsafe { arena::get_or_empty(arena) };
    let file = files::open_into(path, &mut state)?;
    let parsed = Model::parse(file.bytes())?;
    // SAFETY: as for `arena`. A handle is only given up when there is a model to take its place.
    unsafe { handle::erase(model) };
    let loaded = Loaded::place(&parsed, &mut state)?;
    let loaded = mappings::adopt(&mut state, loaded, file)?;
    // SAFETY: as above.
    unsafe {
        arena::store(arena, state);
        handle::store(model, loaded);
    }
    Ok(())
}

/// # Safety
/// Each pointer is null or as the header says: `size` bytes that stay, a handle of an arena with valid memory, room for
/// a handle.
unsafe fn load_memory(
    data: *const u8,
    size: usize,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let blob = unsafe { raw::blob(data, size) }?;
    required(arena, "arena is NULL")?;
    required(model, "model is NULL")?;
    let parsed = Model::parse(blob)?;
    // SAFETY: not null, and by this function's contract handles. As in `load_file`.
    let mut state = unsafe {
        handle::erase(model);
        arena::get_or_empty(arena)
    };
    let loaded = Loaded::place(&parsed, &mut state)?;
    // SAFETY: as above.
    unsafe {
        arena::store(arena, state);
        handle::store(model, loaded);
    }
    Ok(())
}

/// # Safety
/// As for [`load_memory`], but the bytes need not stay.
unsafe fn load_memory_copy(
    data: *const u8,
    size: usize,
    arena: *mut arena::nk_arena_t,
    model: *mut nk_model_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let blob = unsafe { raw::blob(data, size) }?;
    required(arena, "arena is NULL")?;
    required(model, "model is NULL")?;
    Model::parse(blob)?;
    // SAFETY: not null, and by this function's contract handles. As in `load_file`.
    let mut state = unsafe {
        handle::erase(model);
        arena::get_or_empty(arena)
    };
    let copy = state.request(size, 16, "the model is copied there")?;
    // SAFETY: the arena gave these bytes a moment ago, and `copy` allows that the model lies among them.
    let copied = unsafe {
        core::ptr::copy(data, copy, size);
        core::slice::from_raw_parts(copy.cast_const(), size)
    };
    let loaded = Loaded::place(&Model::parse(copied)?, &mut state)?;
    // SAFETY: as above.
    unsafe {
        arena::store(arena, state);
        handle::store(model, loaded);
    }
    Ok(())
}
