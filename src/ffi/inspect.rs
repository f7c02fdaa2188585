//! Models: look and measure
//!
//! What a file holds and how much memory it needs. None of this runs the model, and only nk_inspect_model() and
//! nk_inspect_model_memory() need an arena.

use core::ffi::{CStr, c_char, c_void};

use super::arena::{self, nk_arena_t};
use super::errors::nk_status_t;
use super::files::{self, FileBytes};
use super::handle::{self, Facts, Loaded};
use super::last_error::{report, store as store_error};
use super::limits::NK_MAX_TENSOR_RANK;
use super::raw::required;
use super::{mappings, print, raw};
use crate::arena::Arena;
use crate::error::Error;
use crate::format::Model;

/// Kind of a network.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_network_kind {
    /// No network, or a kind that this library does not know.
    NK_NETWORK_UNKNOWN = 0,
    /// Multi-layer perceptron: works on rows of features.
    NK_NETWORK_MLP = 1,
    /// Convolutional network: works on maps of height, width and channels.
    NK_NETWORK_CNN = 2,
}

/// Kind of a network.
pub type nk_network_kind_t = nk_network_kind;

/// What a model is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_arch_info {
    /// Format version of the file, 3 or 4.
    pub version: u32,
    /// Kind of the network; NK_NETWORK_UNKNOWN for a kind that this library does not know.
    pub kind: nk_network_kind_t,
    /// Extents of the input, outermost first; 0 beyond the rank.
    pub input_shape: [u32; NK_MAX_TENSOR_RANK],
    /// Number of dimensions of the input.
    pub input_rank: u32,
    /// Number of layers.
    pub num_layers: u32,
    /// (weights_bytes + biases_bytes) / 4, also for an int8 model.
    pub expected_weight_floats: usize,
    /// Size of all weights in bytes.
    pub weights_bytes: usize,
    /// Size of all biases in bytes.
    pub biases_bytes: usize,
    /// Elements of the input.
    pub input_elements: u32,
    /// Elements of the output.
    pub output_elements: u32,
}

/// What a model is.
pub type nk_arch_info_t = nk_arch_info;

/// What a model is, and what it took when it was loaded.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_inspect_info {
    /// What the model is.
    pub arch: nk_arch_info_t,
    /// The same as arch.expected_weight_floats.
    pub weight_floats: usize,
    /// nk_arena_used() after the model was loaded.
    pub arena_bytes_after_load: usize,
    /// nk_arena_used() after a run: the same, because a run takes nothing.
    pub arena_bytes_after_forward: usize,
    /// nk_arena_remaining() after that.
    pub arena_remaining: usize,
    /// Size of all weights and biases in bytes: they stay where the model lies, such as in flash.
    pub flash_payload_bytes: usize,
}

/// What a model is, and what it took when it was loaded.
pub type nk_inspect_info_t = nk_inspect_info;

/// Memory that a model needs. Set struct_size to `sizeof(nk_memory_plan_t)` before you pass it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_memory_plan {
    /// Size of this structure in bytes, set by you.
    pub struct_size: u32,
    /// Arena bytes that loading the model takes, wherever the free memory of the arena starts. One byte less fails.
    pub arena_bytes: usize,
    /// Arena bytes that each run takes: 0.
    pub run_bytes: usize,
    /// The part of arena_bytes that a run writes to: activations and scratch.
    pub scratch_bytes: usize,
    /// Alignment that the memory of the arena needs: 1, because arena_bytes covers any start address.
    pub alignment: usize,
    /// Size of all weights and biases in bytes, which are used where they lie.
    pub flash_bytes: usize,
}

/// Memory that a model needs.
pub type nk_memory_plan_t = nk_memory_plan;

/// Describes the model in a file.
///
/// - path: a .nk file; tried once more with `../` in front.
/// - info: filled in on success.
///
/// Returns NK_OK or any of 1 to 3, 5 to 7 and 9. Works for every model that is well-formed, also for one that cannot be
/// loaded. Threads: any. Cost: reads the file without its weights. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_parse_architecture(path: *const c_char, info: *mut nk_arch_info_t) -> nk_status_t {
    // SAFETY: `path` is NULL or by the conventions a C string.
    report(unsafe { open(path) }.and_then(|(file, _)| {
        // SAFETY: `info` is NULL or by the conventions room for the structure.
        unsafe { describe(file.bytes(), info) }
    }))
}

/// Describes a model in memory, otherwise as nk_parse_architecture().
///
/// - data: the content of a .nk file, at any address; only read during the call.
/// - size: bytes at `data`.
/// - info: filled in on success.
///
/// Returns NK_OK or any of 2, 3, 5 to 7 and 9. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_parse_architecture_memory(
    data: *const u8,
    size: usize,
    info: *mut nk_arch_info_t,
) -> nk_status_t {
    // SAFETY: `data` is NULL or by the conventions valid for `size` bytes, `info` as above.
    report(unsafe { raw::blob(data, size).and_then(|blob| describe(blob, info)) })
}

/// Prints the summary of the model in a file to C stdout: name, type, shapes, one line for each layer, totals.
///
/// - path: a .nk file; tried once more with `../` in front.
///
/// Returns NK_OK or any of 1 to 3, 5 to 7 and 9, with nothing printed then. Builds without an operating system print
/// nothing. Threads: any; stdout is shared. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arch_print(path: *const c_char) -> nk_status_t {
    // SAFETY: `path` is NULL or by the conventions a C string.
    report(unsafe { open(path) }.and_then(|(file, path)| {
        let model = Model::parse(file.bytes())?;
        Facts::of(&model)?;
        // A stdout that takes no text is the business of the program that closed it.
        let name = crate::summary::stem(files::text_of(path.to_bytes()));
        print::with_stdout(|out| _ = crate::summary::write(&model, name, out));
        Ok(())
    }))
}

/// Size of an arena in which the model in a file runs fastest and with room to spare: room for packed weights, which make
/// runs faster, for one input and one output, an eighth more, and 64 KiB. nk_plan_memory() gives the least size.
///
/// - path: a .nk file; tried once more with `../` in front.
///
/// Returns bytes, or 0 and an error in nk_last_error(). Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_recommended_arena_bytes(path: *const c_char) -> usize {
    // SAFETY: `path` is NULL or by the conventions a C string.
    or_zero(unsafe { open(path) }.and_then(|(file, _)| recommended(file.bytes())))
}

/// The same for a model in memory.
///
/// - data: the content of a .nk file, at the address that it will be loaded from; only read during the call.
/// - size: bytes at `data`.
///
/// Returns bytes, or 0 and an error in nk_last_error(). Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_recommended_arena_bytes_memory(data: *const c_void, size: usize) -> usize {
    // SAFETY: `data` is NULL or by the conventions valid for `size` bytes.
    or_zero(unsafe { raw::blob(data.cast(), size) }.and_then(recommended))
}

/// Tells exactly how much memory a model needs, and checks all of it but its weights, without needing memory itself.
///
/// - data: the content of a .nk file, at the address that it will be loaded from: at one where its weights are not
///   aligned to 4 the plan includes a copy of them. Only read during the call.
/// - size: bytes at `data`.
/// - plan: filled in on success; its struct_size must be set.
///
/// Returns NK_OK or any of 2 to 7 and 9. Threads: any. Cost: reads the file without its weights. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_plan_memory(data: *const c_void, size: usize, plan: *mut nk_memory_plan_t) -> nk_status_t {
    // SAFETY: `data` is NULL or by the conventions valid for `size` bytes, `plan` begins with its size.
    let arguments = unsafe {
        raw::struct_size(plan, "plan is NULL").and_then(|size_given| Ok((size_given, raw::blob(data.cast(), size)?)))
    };
    report(arguments.and_then(|(struct_size, blob)| {
        let need = handle::plan(&Model::parse(blob)?)?;
        let answer = nk_memory_plan {
            struct_size,
            arena_bytes: need.arena_bytes,
            run_bytes: 0,
            scratch_bytes: need.activation_bytes,
            alignment: 1,
            flash_bytes: need.flash_bytes,
        };
        // SAFETY: `struct_size` accepted the pointer and found room for the whole structure.
        unsafe { plan.write_unaligned(answer) };
        Ok(())
    }))
}

/// Describes the model in a file and loads it into your arena to tell what it takes there. It is not run.
///
/// The arena is neither emptied before nor after, so that the figures include what it already held.
///
/// - path: a .nk file; tried once more with `../` in front.
/// - arena: takes the model in, as in nk_model_load().
/// - info: cleared, then filled in as far as the call comes: arch, weight_floats and flash_payload_bytes stay when
///   loading fails.
///
/// Returns NK_OK or any of 1 to 9. Threads: any. Cost: that of loading. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_inspect_model(
    path: *const c_char,
    arena: *mut nk_arena_t,
    info: *mut nk_inspect_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `inspect_file` repeats.
    report(unsafe { inspect_file(path, arena, info) })
}

/// Describes and loads a model in memory, otherwise as nk_inspect_model().
///
/// - data: the content of a .nk file, at any address; see nk_model_load_memory().
/// - size: bytes at `data`.
/// - arena: takes the model in.
/// - info: cleared, then filled in as by nk_inspect_model().
///
/// Returns NK_OK or any of 2 to 9. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_inspect_model_memory(
    data: *const u8,
    size: usize,
    arena: *mut nk_arena_t,
    info: *mut nk_inspect_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `inspect_memory` repeats.
    report(unsafe { inspect_memory(data, size, arena, info) })
}

/// The file at a path of the caller.
///
/// # Safety
/// `path` is null or a C string that outlives the result.
unsafe fn open<'a>(path: *const c_char) -> Result<(FileBytes, &'a CStr), Error> {
    // SAFETY: by this function's contract.
    let path = unsafe { raw::path(path) }?;
    Ok((files::open(path)?, path))
}

/// # Safety
/// `info` is null or room for the structure.
unsafe fn describe(blob: &[u8], info: *mut nk_arch_info_t) -> Result<(), Error> {
    required(info, "info is NULL")?;
    let facts = Facts::of(&Model::parse(blob)?)?;
    // SAFETY: not null, and by this function's contract room for the structure.
    unsafe { info.write_unaligned(facts.arch()) };
    Ok(())
}

fn recommended(blob: &[u8]) -> Result<usize, Error> {
    let model = Model::parse(blob)?;
    handle::plan(&model)?.recommended_arena_bytes()
}

fn or_zero(result: Result<usize, Error>) -> usize {
    result.unwrap_or_else(|error| {
        store_error(&error);
        0
    })
}

/// # Safety
/// Each pointer is null or as the header says: a C string, a handle of an arena with valid memory, room for the
/// structure.
unsafe fn inspect_file(path: *const c_char, arena: *mut nk_arena_t, info: *mut nk_inspect_info_t) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let path = unsafe { raw::path(path) }?;
    // SAFETY: by this function's contract.
    let mut state = unsafe { begin(arena, info) }?;
    let file = files::open_into(path, &mut state)?;
    // SAFETY: `begin` found room for the structure.
    let loaded = unsafe { inspect(file.bytes(), &mut state, info) }?;
    mappings::adopt(&mut state, loaded, file)?;
    // SAFETY: `begin` found a handle.
    unsafe { arena::store(arena, state) };
    Ok(())
}

/// # Safety
/// As for [`inspect_file`], with `size` bytes at `data` that stay.
unsafe fn inspect_memory(
    data: *const u8,
    size: usize,
    arena: *mut nk_arena_t,
    info: *mut nk_inspect_info_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let blob = unsafe { raw::blob(data, size) }?;
    // SAFETY: by this function's contract.
    let mut state = unsafe { begin(arena, info) }?;
    // SAFETY: `begin` found room for the structure and a handle.
    unsafe {
        inspect(blob, &mut state, info)?;
        arena::store(arena, state);
    }
    Ok(())
}

/// Checks the two pointers, clears the structure and gets the arena.
///
/// # Safety
/// `arena` is null or a handle, `info` is null or room for the structure.
unsafe fn begin(arena: *const nk_arena_t, info: *mut nk_inspect_info_t) -> Result<Arena, Error> {
    required(arena, "arena is NULL")?;
    required(info, "info is NULL")?;
    // SAFETY: not null, and by this function's contract room for the structure and a handle.
    unsafe {
        info.cast::<u8>().write_bytes(0, size_of::<nk_inspect_info>());
        Ok(arena::get_or_empty(arena))
    }
}

/// Loads the model and fills in the structure, first what the parser knows, then what the arena tells.
///
/// # Safety
/// `info` is room for the structure.
unsafe fn inspect(blob: &[u8], arena: &mut Arena, info: *mut nk_inspect_info_t) -> Result<Loaded, Error> {
    let model = Model::parse(blob)?;
    let arch = Facts::of(&model)?.arch();
    let parsed = nk_inspect_info {
        arch,
        weight_floats: arch.expected_weight_floats,
        arena_bytes_after_load: 0,
        arena_bytes_after_forward: 0,
        arena_remaining: 0,
        flash_payload_bytes: arch.weights_bytes.saturating_add(arch.biases_bytes),
    };
    // SAFETY: by this function's contract.
    unsafe { info.write_unaligned(parsed) };
    let loaded = Loaded::place(&model, arena)?;
    let complete = nk_inspect_info {
        arena_bytes_after_load: arena.used(),
        arena_bytes_after_forward: arena.used(),
        arena_remaining: arena.remaining(),
        ..parsed
    };
    // SAFETY: by this function's contract.
    unsafe { info.write_unaligned(complete) };
    Ok(loaded)
}

const _: () = {
    use core::mem::offset_of;
    const WORD: usize = size_of::<usize>();
    assert!(offset_of!(nk_arch_info, kind) == 4 && offset_of!(nk_arch_info, input_shape) == 8);
    assert!(offset_of!(nk_arch_info, input_rank) == 24 && offset_of!(nk_arch_info, num_layers) == 28);
    assert!(offset_of!(nk_arch_info, expected_weight_floats) == 32);
    assert!(offset_of!(nk_arch_info, weights_bytes) == 32 + WORD);
    assert!(offset_of!(nk_arch_info, biases_bytes) == 32 + 2 * WORD);
    assert!(offset_of!(nk_arch_info, input_elements) == 32 + 3 * WORD);
    assert!(offset_of!(nk_arch_info, output_elements) == 36 + 3 * WORD);
    assert!(size_of::<nk_arch_info>() == 40 + 3 * WORD && align_of::<nk_arch_info>() == WORD);
    const ARCH: usize = size_of::<nk_arch_info>();
    assert!(offset_of!(nk_inspect_info, weight_floats) == ARCH);
    assert!(offset_of!(nk_inspect_info, arena_bytes_after_load) == ARCH + WORD);
    assert!(offset_of!(nk_inspect_info, arena_bytes_after_forward) == ARCH + 2 * WORD);
    assert!(offset_of!(nk_inspect_info, arena_remaining) == ARCH + 3 * WORD);
    assert!(offset_of!(nk_inspect_info, flash_payload_bytes) == ARCH + 4 * WORD);
    assert!(size_of::<nk_inspect_info>() == ARCH + 5 * WORD);
    assert!(offset_of!(nk_memory_plan, arena_bytes) == WORD && size_of::<nk_memory_plan>() == 6 * WORD);
};
