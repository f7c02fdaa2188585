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
use super::raw::{Span, invalid, required};
use super::{arena, files, mappings, nk_storage_byte, raw};
use crate::error::{Error, ErrorKind};
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

/// Runs a float model once. The result depends on the model and the input alone.
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
/// overlap with the model (NK_ERR_INVALID_ARGUMENT), room for an overlapping input (NK_ERR_ARENA_OVERFLOW). Threads:
/// any. Cost: the model's arithmetic; no heap, no system call. Since 0.1.0.
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
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { run(model, arena, input, input_count, output, output_capacity, output_count) })
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
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { run(model, arena, input, input_count, output, output_capacity, output_count) })
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
/// Each pointer is null or as the header says. Buffers need to be valid only for the counts that pass the checks.
unsafe fn run(
    model: *const nk_model_t,
    arena: *mut arena::nk_arena_t,
    input: *const f32,
    input_count: u32,
    output: *mut f32,
    output_capacity: u32,
    output_count: *mut u32,
) -> Result<(), Error> {
    required(model, "model is NULL")?;
    required(arena, "arena is NULL")?;
    required(input, "input is NULL")?;
    required(output, "output is NULL")?;
    required(output_count, "output_count is NULL")?;
    // SAFETY: not null, and by this function's contract a handle.
    let loaded = unsafe { handle::get(model) }.ok_or(handle::NOT_LOADED)?;
    // SAFETY: by this function's contract the model's arena is as it was, and this thread alone uses the model.
    let mut network = unsafe { loaded.network() }?;
    check_float_call(&loaded, input, input_count, output, output_capacity)?;
    let (inputs, outputs) = (input_count as usize, loaded.facts.output_elements() as usize);
    // SAFETY: not null, a handle; the input's range was checked.
    let input = unsafe { disjoint_input(&loaded, arena, input, inputs, output, outputs) }?;
    // SAFETY: aligned, valid for their counts, apart from each other and from the model: checked by the two calls
    // above.
    let (input, output) =
        unsafe { (core::slice::from_raw_parts(input, inputs), core::slice::from_raw_parts_mut(output, outputs)) };
    network.run(input, output)?;
    // SAFETY: not null, and the slices that it may overlap are not used any more.
    unsafe { output_count.write_unaligned(outputs as u32) };
    Ok(())
}

/// Everything that can be wrong with the arguments of a run, before a buffer is looked at.
fn check_float_call(
    loaded: &Loaded,
    input: *const f32,
    input_count: u32,
    output: *mut f32,
    output_capacity: u32,
) -> Result<(), Error> {
    let facts = &loaded.facts;
    if facts.is_quantized() {
        return Err(invalid("the model is int8 and takes no floats"));
    }
    let (inputs, outputs) = (facts.input_elements(), facts.output_elements());
    if input_count != inputs {
        let error = Error::new(ErrorKind::Argument).field("input_count");
        return Err(error.found(u64::from(input_count)).expected(u64::from(inputs)));
    }
    if output_capacity < outputs {
        let error = Error::new(ErrorKind::Buffer).field("output_capacity");
        return Err(error.found(u64::from(output_capacity)).at_least(u64::from(outputs)));
    }
    if !input.is_aligned() || !output.is_aligned() {
        return Err(invalid("input and output must be aligned to 4 bytes"));
    }
    let (region, region_bytes) = loaded.region();
    let (blob, blob_bytes) = loaded.blob();
    let (region, blob) = (Span::of(region, region_bytes), Span::of(blob, blob_bytes));
    let (input, output) = (Span::of(input, inputs as usize), Span::of(output, outputs as usize));
    if input.overlaps(region) || output.overlaps(region) || output.overlaps(blob) {
        return Err(invalid("input or output lies in the memory of the model"));
    }
    Ok(())
}

/// The input at a place that the output does not touch: where it is, or copied to the free memory of the arena.
///
/// # Safety
/// `arena` points to a handle, `input` and `output` are valid for their counts.
unsafe fn disjoint_input(
    loaded: &Loaded,
    arena: *const arena::nk_arena_t,
    input: *const f32,
    inputs: usize,
    output: *mut f32,
    outputs: usize,
) -> Result<*const f32, Error> {
    let output = Span::of(output, outputs);
    if !Span::of(input, inputs).overlaps(output) {
        return Ok(input);
    }
    // SAFETY: by this function's contract. `state` is a copy, so that nothing is taken from the arena.
    let mut state = unsafe { arena::get_or_empty(arena) };
    let bytes = inputs * size_of::<f32>();
    let copy = state
        .alloc(bytes, align_of::<f32>())
        .ok_or_else(|| state.too_small(bytes).note("input and output overlap; the input needs a copy"))?;
    let copy = copy.cast::<f32>();
    let (region, region_bytes) = loaded.region();
    let place = Span::of(copy, inputs);
    if place.overlaps(output) || place.overlaps(Span::of(region, region_bytes)) {
        return Err(invalid("input and output overlap in the free memory of the arena"));
    }
    // SAFETY: `input` is valid for `inputs` floats, the arena's free memory too, and `copy` allows that they overlap.
    unsafe { core::ptr::copy(input, copy, inputs) };
    Ok(copy)
}
