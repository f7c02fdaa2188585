//! Models: int8
//!
//! An int8 model takes and gives integers q that stand for real values: real = scale * (q - zero_point).
//! nk_model_run_int8() works on them; nk_model_run_auto() takes and gives floats and converts both ways.

use super::arena::nk_arena_t;
use super::errors::nk_status_t;
use super::handle::{self, Loaded};
use super::last_error::report;
use super::model::nk_model_t;
use super::raw::{Span, invalid, required};
use super::run::{self, Call, Target};
use crate::error::Error;
use crate::format::quant::QuantParams;

/// What the integers of an int8 tensor stand for: real = scale * (q - zero_point).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct nk_quant_params {
    /// Real value of one step; above 0.
    pub scale: f32,
    /// Integer that stands for 0; -128 to 127.
    pub zero_point: i32,
}

/// What the integers of an int8 tensor stand for.
pub type nk_quant_params_t = nk_quant_params;

impl From<QuantParams> for nk_quant_params {
    fn from(params: QuantParams) -> Self {
        Self { scale: params.scale, zero_point: params.zero_point }
    }
}

impl From<nk_quant_params> for QuantParams {
    fn from(params: nk_quant_params) -> Self {
        Self { scale: params.scale, zero_point: params.zero_point }
    }
}

/// Scale and zero point of an int8 model's input.
///
/// - model: a loaded int8 model.
/// - out: filled in on success.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL and for a float model, or NK_ERR_MODEL_NOT_LOADED. Threads: any.
/// Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_input_quant(model: *const nk_model_t, out: *mut nk_quant_params_t) -> nk_status_t {
    // SAFETY: the conventions of the header, which `write_quant` repeats.
    report(unsafe { write_quant(model, out, Loaded::input_quant) })
}

/// Scale and zero point of an int8 model's output; otherwise as nk_model_input_quant().
///
/// While nk_model_set_omit_final_softmax() leaves the softmax out, these are the parameters of the logits. That setting
/// is in the arena, whose memory must therefore still be there; after a reset the answer is the one with softmax.
///
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_output_quant(model: *const nk_model_t, out: *mut nk_quant_params_t) -> nk_status_t {
    let choose = |loaded: &Loaded| {
        // SAFETY: by this function's documentation and the conventions.
        let omits = unsafe { loaded.shared() }.is_ok_and(|network| network.omits_final_softmax());
        loaded.output_quant(omits)
    };
    // SAFETY: the conventions of the header, which `write_quant` repeats.
    report(unsafe { write_quant(model, out, choose) })
}

/// Converts floats to int8: round(x / scale) + zero_point, halves away from zero, cut to -128..127. NaN becomes the zero
/// point, an infinity the nearest end.
///
/// - src: n floats, at any address.
/// - dst: receives n values; must not overlap `src`.
/// - n: number of values.
/// - q: scale and zero point. A scale that is not above 0 gives values without a meaning.
///
/// Nothing happens when a pointer is NULL. Threads: any. Cost: linear, one float division each. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_quantize_f32(src: *const f32, dst: *mut i8, n: usize, q: nk_quant_params_t) {
    if src.is_null() || dst.is_null() {
        return;
    }
    let params = QuantParams::from(q);
    for index in 0..n {
        // SAFETY: not NULL, and by the conventions `n` values each.
        unsafe { dst.add(index).write(params.quantize(src.add(index).read_unaligned())) };
    }
}

/// Converts int8 values to floats: scale * (x - zero_point).
///
/// - src: n values.
/// - dst: receives n floats, at any address; must not overlap `src`.
/// - n: number of values.
/// - q: scale and zero point.
///
/// Nothing happens when a pointer is NULL. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_dequantize_i8(src: *const i8, dst: *mut f32, n: usize, q: nk_quant_params_t) {
    if src.is_null() || dst.is_null() {
        return;
    }
    let params = QuantParams::from(q);
    for index in 0..n {
        // SAFETY: not NULL, and by the conventions `n` values each.
        unsafe { dst.add(index).write_unaligned(params.dequantize(src.add(index).read())) };
    }
}

/// Runs a model of either type on floats.
///
/// For a float model this is nk_model_run(). The input of an int8 model is converted as by nk_quantize_f32(), its output
/// as by nk_dequantize_i8(), with the parameters of the model. The integers lie in the free memory of `arena` for the
/// duration of the call: one byte for each value of input and output. Nothing is taken from it. Input and output may
/// overlap each other, but not that memory.
///
/// - model: a loaded model.
/// - arena: an arena with nk_model_input_bytes() + nk_model_output_bytes() bytes free, if the model is int8.
/// - input: input_count floats; row-major, [height, width, channels] for a CNN.
/// - input_count: must be nk_model_input_count().
/// - output: receives nk_model_output_count() floats; on success only.
/// - output_capacity: floats that fit into `output`.
/// - output_count: receives the number of floats written.
///
/// Returns NK_OK, any of 8 to 11 in the order of nk_model_run(), or NK_ERR_STOPPED; NK_ERR_ARENA_OVERFLOW tells how many
/// bytes are needed and how many there are. Threads: any. Cost: the model's arithmetic and the conversions; no heap, no
/// system call. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_run_auto(
    model: *const nk_model_t,
    arena: *mut nk_arena_t,
    input: *const f32,
    input_count: u32,
    output: *mut f32,
    output_capacity: u32,
    output_count: *mut u32,
) -> nk_status_t {
    let call = Call { model, arena, input, input_count, output, output_capacity, output_count };
    // SAFETY: the conventions of the header, which `run_auto` repeats.
    report(unsafe { run_auto(call) })
}

/// # Safety
/// Each pointer is null or as the header says. Buffers need to be valid only for the counts that pass the checks.
unsafe fn run_auto(call: Call<f32>) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let mut target = unsafe { call.target() }?;
    let output_quant = target.loaded.output_quant(target.network.omits_final_softmax());
    let (Some(input_quant), Some(output_quant)) = (target.loaded.input_quant(), output_quant) else {
        // SAFETY: by this function's contract.
        return unsafe { call.run() };
    };
    call.check_buffers(&target)?;
    // SAFETY: by this function's contract.
    let (input, output) = unsafe { staging(&call, &mut target) }?.split_at_mut(target.inputs);
    // SAFETY: the input is valid for its count and apart from the staging memory, like the output below.
    unsafe { nk_quantize_f32(call.input, input.as_mut_ptr(), input.len(), input_quant.into()) };
    // SAFETY: by this function's contract.
    unsafe { target.run::<i8>(input, output) }?;
    // SAFETY: as above; nobody looks at the input any more.
    unsafe {
        nk_dequantize_i8(output.as_ptr(), call.output, output.len(), output_quant.into());
        call.finish(&target);
    }
    Ok(())
}

/// Free memory of the arena for input and output as integers, apart from everything else that the call touches.
///
/// # Safety
/// `arena` points to a handle of an arena with valid memory.
unsafe fn staging<'a>(call: &Call<f32>, target: &mut Target<'_>) -> Result<&'a mut [i8], Error> {
    let bytes = target.inputs + target.outputs;
    // SAFETY: by this function's contract.
    let memory = unsafe { run::borrow(call.arena, bytes, 1, "the input and output of an int8 model need it") }?;
    // SAFETY: by this function's contract.
    unsafe { target.reopen() }?;
    let place = Span::of(memory, bytes);
    let (region, blob) = run::spans(&target.loaded);
    if [region, blob, call.input_span(target), call.output_span(target)].into_iter().any(|used| place.overlaps(used)) {
        return Err(invalid("the model, input or output lies in the free memory of the arena"));
    }
    // SAFETY: the arena's free memory is valid by this function's contract, and nothing else uses these bytes.
    Ok(unsafe { core::slice::from_raw_parts_mut(memory.cast(), bytes) })
}

/// # Safety
/// Each pointer is null or as the header says: a handle, room for the parameters.
unsafe fn write_quant(
    model: *const nk_model_t,
    out: *mut nk_quant_params_t,
    choose: impl Fn(&Loaded) -> Option<QuantParams>,
) -> Result<(), Error> {
    required(model, "model is NULL")?;
    required(out, "out is NULL")?;
    // SAFETY: not null, and by this function's contract a handle.
    let loaded = unsafe { handle::get(model) }.ok_or(handle::NOT_LOADED)?;
    let params = choose(&loaded).ok_or(invalid("the model is float and has no scale and zero point"))?;
    // SAFETY: not null, and by this function's contract room for the parameters.
    unsafe { out.write_unaligned(params.into()) };
    Ok(())
}

const _: () = assert!(size_of::<nk_quant_params>() == 8 && align_of::<nk_quant_params>() == 4);

#[cfg(test)]
mod tests {
    use super::*;

    const HALVES: QuantParams = QuantParams { scale: 0.5, zero_point: 3 };

    #[test]
    fn quantize_rounds_halves_away_from_zero_and_saturates() {
        let cases = [
            (0.0, 3),
            (-0.0, 3),
            (0.25, 4),
            (-0.25, 2),
            (0.249_999_97, 3),
            (0.75, 5),
            (62.0, 127),
            (62.25, 127),
            (1e30, 127),
            (-65.5, -128),
            (-66.0, -128),
            (f32::INFINITY, 127),
            (f32::NEG_INFINITY, -128),
            (f32::NAN, 3),
        ];
        for (value, wanted) in cases {
            assert_eq!(HALVES.quantize(value), wanted, "{value}");
        }
    }

    #[test]
    fn every_code_survives_the_way_there_and_back() {
        for scale in [1.0, 0.5, 0.1, 1.0 / 255.0, 3e-5, 7e20, f32::MIN_POSITIVE] {
            for zero_point in [-128, -1, 0, 1, 127] {
                let q = QuantParams { scale, zero_point };
                (i8::MIN..=i8::MAX).for_each(|code| assert_eq!(q.quantize(q.dequantize(code)), code, "{q:?}"));
            }
        }
    }

    #[test]
    fn parameters_without_a_meaning_do_no_harm() {
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            for zero_point in [i32::MIN, -129, 128, i32::MAX] {
                let q = QuantParams { scale, zero_point };
                for value in [0.0, 1.0, f32::NAN, f32::MAX, f32::NEG_INFINITY] {
                    q.quantize(value);
                }
                (i8::MIN..=i8::MAX).for_each(|code| _ = q.dequantize(code));
            }
        }
    }
}
