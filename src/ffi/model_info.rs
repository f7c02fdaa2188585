//! Models: questions
//!
//! The handle alone answers them, also after the arena was reset.

use super::dtype::{nk_dtype, nk_dtype_t};
use super::errors::nk_status_t;
use super::handle::{self, Facts, Loaded};
use super::inspect::{nk_arch_info_t, nk_network_kind, nk_network_kind_t};
use super::last_error::report;
use super::limits::NK_MAX_TENSOR_RANK;
use super::model::nk_model_t;
use super::raw::required;
use crate::error::Error;

/// Describes a loaded model as nk_parse_architecture() describes a file.
///
/// - model: a loaded model.
/// - info: filled in.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_get_arch(model: *const nk_model_t, info: *mut nk_arch_info_t) -> nk_status_t {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    let facts = unsafe { facts(model) };
    report(required(info, "info is NULL").and(facts).map(|facts| {
        // SAFETY: not NULL, and by the conventions room for the structure.
        unsafe { info.write_unaligned(facts.arch()) }
    }))
}

/// Elements of a model's input; 0 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_input_count(model: *const nk_model_t) -> u32 {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(0, |loaded| loaded.facts.input_elements())
}

/// Elements of a model's output; 0 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_output_count(model: *const nk_model_t) -> u32 {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(0, |loaded| loaded.facts.output_elements())
}

/// Kind of a model; NK_NETWORK_UNKNOWN without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_kind(model: *const nk_model_t) -> nk_network_kind_t {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(nk_network_kind::NK_NETWORK_UNKNOWN, |loaded| loaded.facts.kind())
}

/// Whether a model computes with int8; false without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_is_quantized(model: *const nk_model_t) -> bool {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.is_some_and(|loaded| loaded.facts.is_quantized())
}

/// Shape of a model's input.
///
/// - model: a loaded model.
/// - rank: receives the number of dimensions.
/// - shape: receives NK_MAX_TENSOR_RANK extents, outermost first; 0 beyond the rank.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_input_shape(
    model: *const nk_model_t,
    rank: *mut u32,
    shape: *mut u32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `write_shape` repeats.
    report(unsafe { write_shape(model, rank, shape, |facts| (facts.input_rank, facts.input_shape)) })
}

/// Shape of a model's output; otherwise as nk_model_input_shape().
///
/// [rows, features] behind a flatten layer and for an MLP, [height, width, channels] else. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_output_shape(
    model: *const nk_model_t,
    rank: *mut u32,
    shape: *mut u32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `write_shape` repeats.
    report(unsafe { write_shape(model, rank, shape, |facts| (facts.output_rank, facts.output_shape())) })
}

/// Type of a model's input: NK_DTYPE_FLOAT32 or NK_DTYPE_INT8; NK_DTYPE_FLOAT32 without a model. Threads: any. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_input_dtype(model: *const nk_model_t) -> nk_dtype_t {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    dtype(unsafe { handle::get(model) })
}

/// Type of a model's output, which is that of its input. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_output_dtype(model: *const nk_model_t) -> nk_dtype_t {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    dtype(unsafe { handle::get(model) })
}

/// Size of a model's input in bytes: 4 for each float or 1 for each int8; 0 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_input_bytes(model: *const nk_model_t) -> usize {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(0, |loaded| bytes(&loaded.facts, loaded.facts.input_elements()))
}

/// Size of a model's output in bytes; 0 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_output_bytes(model: *const nk_model_t) -> usize {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(0, |loaded| bytes(&loaded.facts, loaded.facts.output_elements()))
}

/// Index of the largest of `count` floats, the first one if there are several. NaN never is the largest.
///
/// - values: count floats.
/// - count: number of floats.
///
/// Returns 0 for NULL, for no values and for nothing but NaN. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_argmax_f32(values: *const f32, count: u32) -> u32 {
    // SAFETY: `values` is NULL or by the conventions `count` floats.
    unsafe { argmax(values, count, |value| value.is_nan()) }
}

/// Index of the largest of `count` int8 values, the first one if there are several.
///
/// - values: count values.
/// - count: number of values.
///
/// Returns 0 for NULL and for no values. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_argmax_i8(values: *const i8, count: u32) -> u32 {
    // SAFETY: `values` is NULL or by the conventions `count` values.
    unsafe { argmax(values, count, |_| false) }
}

/// # Safety
/// `values` is null or points to `count` values.
unsafe fn argmax<T: Copy + PartialOrd>(values: *const T, count: u32, is_skipped: impl Fn(T) -> bool) -> u32 {
    let count = if values.is_null() { 0 } else { count };
    let mut best: Option<(u32, T)> = None;
    for index in 0..count {
        // SAFETY: by this function's contract.
        let candidate = unsafe { values.add(index as usize).read_unaligned() };
        if !is_skipped(candidate) && best.is_none_or(|(_, largest)| candidate > largest) {
            best = Some((index, candidate));
        }
    }
    best.map_or(0, |(index, _)| index)
}

fn dtype(loaded: Option<Loaded>) -> nk_dtype_t {
    let is_int8 = loaded.is_some_and(|loaded| loaded.facts.is_quantized());
    if is_int8 { nk_dtype::NK_DTYPE_INT8 } else { nk_dtype::NK_DTYPE_FLOAT32 }
}

fn bytes(facts: &Facts, elements: u32) -> usize {
    elements as usize * if facts.is_quantized() { size_of::<i8>() } else { size_of::<f32>() }
}

/// # Safety
/// `model` is null or points to a handle.
unsafe fn facts(model: *const nk_model_t) -> Result<Facts, Error> {
    required(model, "model is NULL")?;
    // SAFETY: by this function's contract.
    unsafe { handle::get(model) }.map(|loaded| loaded.facts).ok_or(handle::NOT_LOADED)
}

/// # Safety
/// Each pointer is null or as the header says: a handle, room for a rank, room for NK_MAX_TENSOR_RANK extents.
unsafe fn write_shape(
    model: *const nk_model_t,
    rank: *mut u32,
    shape: *mut u32,
    choose: impl Fn(&Facts) -> (u8, [u32; NK_MAX_TENSOR_RANK]),
) -> Result<(), Error> {
    required(rank, "rank is NULL")?;
    required(shape, "shape is NULL")?;
    // SAFETY: by this function's contract.
    let (chosen_rank, extents) = choose(&unsafe { facts(model) }?);
    // SAFETY: not null, and by this function's contract room for the values.
    unsafe {
        rank.write_unaligned(u32::from(chosen_rank));
        shape.cast::<[u32; NK_MAX_TENSOR_RANK]>().write_unaligned(extents);
    }
    Ok(())
}
