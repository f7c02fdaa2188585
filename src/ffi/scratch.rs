//! Models: bytes, and one model on several threads
//!
//! nk_run() and nk_model_run_scratch() take models of either type: input and output are bytes, that is
//! nk_model_input_bytes() and nk_model_output_bytes() of them, in native floats or in int8 values.
//!
//! A run writes to memory of the model in its arena, so that one model runs on one thread at a time.
//! nk_model_run_scratch() writes to memory of yours instead: any number of threads may use it with one model at the same
//! time, each with scratch memory of its own, as long as none of them changes, unloads or otherwise runs the model.

use core::ffi::c_void;

use super::errors::nk_status_t;
use super::handle::{self, Loaded};
use super::last_error::report;
use super::model::nk_model_t;
use super::raw::{Span, invalid, required};
use super::run::{self, Target};
use super::{hooks, packing};
use crate::element::ONLY_INT8;
use crate::error::{Error, ErrorKind};
use crate::network::SharedNetwork;
use crate::run::Element;

/// Runs a model of either type once, on bytes.
///
/// - model: a loaded model. Its own arena must be as it was; the run writes to the model's memory there.
/// - input: the input; aligned to 4 if the model is one of floats.
/// - input_bytes: must be nk_model_input_bytes().
/// - output: receives nk_model_output_bytes() bytes, aligned as the input; must not overlap it.
/// - output_bytes: bytes that fit into `output`.
/// - output_written: receives the number of bytes written, on success only; may be NULL.
///
/// Checks in this order: NULL (NK_ERR_INVALID_ARGUMENT), model loaded (NK_ERR_MODEL_NOT_LOADED), input_bytes
/// (NK_ERR_INVALID_ARGUMENT), output_bytes (NK_ERR_BUFFER_TOO_SMALL), alignment and overlaps (NK_ERR_INVALID_ARGUMENT). A
/// layer hook that stops the run makes it NK_ERR_STOPPED. Threads: any. Cost: the model's arithmetic; no heap, no system
/// call. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_run(
    model: *const nk_model_t,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    output_written: *mut usize,
) -> nk_status_t {
    let call = ByteCall { model, input, input_bytes, output, output_bytes, output_written };
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { call.run() })
}

/// Bytes of scratch memory that nk_model_run_scratch() needs: the same for every run of a model, and part of what
/// nk_plan_memory() tells as scratch_bytes.
///
/// - model: a loaded model whose arena is as it was.
///
/// Returns bytes; 0 without a model, and for one that computes straight from input to output. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_scratch_bytes(model: *const nk_model_t) -> usize {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    let Some(loaded) = (unsafe { handle::get(model) }) else { return 0 };
    // SAFETY: by this function's documentation the arena is as it was, and by the conventions nobody changes the model.
    unsafe { loaded.shared() }.map_or(0, |network| network.scratch_bytes())
}

/// Alignment of the scratch memory in bytes, a power of two; 1 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_scratch_align(model: *const nk_model_t) -> usize {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    if unsafe { handle::get(model) }.is_some() { SharedNetwork::SCRATCH_ALIGN } else { 1 }
}

/// Runs a model of either type once, on bytes and in scratch memory of yours. Nothing else is written to, so that several
/// threads can run one model at the same time; the answers are those of nk_run().
///
/// - model: a loaded model. Its own arena must be as it was.
/// - scratch: memory that this run alone uses, at a multiple of nk_model_scratch_align(). What it holds does not matter,
///   neither before nor afterwards. May be NULL when nk_model_scratch_bytes() is 0.
/// - scratch_bytes: at least nk_model_scratch_bytes().
/// - input, input_bytes, output, output_bytes, output_written: as in nk_run(); input and output must not overlap the
///   scratch memory either.
///
/// Returns NK_OK, any of 9 to 11 in the order of nk_run(), or NK_ERR_STOPPED; NK_ERR_BUFFER_TOO_SMALL and
/// NK_ERR_INVALID_ARGUMENT also when size or alignment of the scratch memory is wrong. Threads: any, and any number at
/// the same time. Cost: the model's arithmetic; no heap, no system call. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_run_scratch(
    model: *const nk_model_t,
    scratch: *mut c_void,
    scratch_bytes: usize,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    output_written: *mut usize,
) -> nk_status_t {
    let call = ByteCall { model, input, input_bytes, output, output_bytes, output_written };
    // SAFETY: the conventions of the header, which `run` repeats.
    report(unsafe { call.run_in(scratch.cast(), scratch_bytes) })
}

/// The arguments of a run on bytes, as C passes them.
#[derive(Clone, Copy, Debug)]
struct ByteCall {
    model: *const nk_model_t,
    input: *const c_void,
    input_bytes: usize,
    output: *mut c_void,
    output_bytes: usize,
    output_written: *mut usize,
}

impl ByteCall {
    /// Runs the model in its own memory.
    ///
    /// # Safety
    /// Each pointer is null or as the header says. Buffers need to be valid only for the sizes that pass the checks.
    unsafe fn run(self) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        unsafe {
            let loaded = self.loaded()?;
            if ONLY_INT8.unwrap_or(loaded.facts.is_quantized()) {
                self.run_as::<i8>(&loaded)
            } else {
                self.run_as::<f32>(&loaded)
            }
        }
    }

    /// Runs the model in the caller's scratch memory, of so many bytes.
    ///
    /// # Safety
    /// As for [`ByteCall::run`].
    unsafe fn run_in(self, scratch: *mut u8, scratch_bytes: usize) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        unsafe {
            let loaded = self.loaded()?;
            if ONLY_INT8.unwrap_or(loaded.facts.is_quantized()) {
                self.run_in_as::<i8>(&loaded, scratch, scratch_bytes)
            } else {
                self.run_in_as::<f32>(&loaded, scratch, scratch_bytes)
            }
        }
    }

    /// Refuses null pointers, then finds the model.
    ///
    /// # Safety
    /// `model` is null or a handle.
    unsafe fn loaded(&self) -> Result<Loaded, Error> {
        required(self.model, "model is NULL")?;
        required(self.input, "input is NULL")?;
        required(self.output, "output is NULL")?;
        // SAFETY: not null, and by this function's contract a handle.
        unsafe { handle::get(self.model) }.ok_or(handle::NOT_LOADED)
    }

    /// # Safety
    /// As for [`ByteCall::run`].
    unsafe fn run_as<T: Element>(&self, loaded: &Loaded) -> Result<(), Error> {
        // SAFETY: by this function's contract this thread alone uses the model.
        let network = unsafe { loaded.network() }?;
        let (inputs, outputs) = self.check::<T>(loaded)?;
        let mut target = Target { loaded: *loaded, network, inputs, outputs };
        // SAFETY: the buffers were checked; by this function's contract this thread alone uses the model.
        unsafe {
            let (input, output) = self.buffers::<T>(inputs, outputs);
            target.run(input, output)?;
            self.finish::<T>(outputs);
        }
        Ok(())
    }

    /// # Safety
    /// As for [`ByteCall::run_in`].
    unsafe fn run_in_as<T: Element>(&self, loaded: &Loaded, scratch: *mut u8, bytes: usize) -> Result<(), Error> {
        // SAFETY: by this function's contract nobody changes the model.
        let network = unsafe { loaded.shared() }?;
        let needed = network.scratch_bytes();
        let (inputs, outputs) = self.check::<T>(loaded)?;
        self.check_scratch::<T>(loaded, scratch, bytes, needed)?;
        let scratch = if needed == 0 { core::ptr::NonNull::dangling().as_ptr() } else { scratch };
        // SAFETY: the buffers were checked, and the scratch memory unless nothing of it is needed; by this function's
        // contract this run alone uses it.
        let (input, output, scratch) = unsafe {
            let (input, output) = self.buffers::<T>(inputs, outputs);
            (input, output, core::slice::from_raw_parts_mut(scratch, needed))
        };
        packing::refuse_use(&network, &[Span::of_slice(scratch), Span::of_slice(input), Span::of_slice(output)])?;
        // SAFETY: by this function's contract the arena stays as it was.
        let network = unsafe { packing::attach(&network) };
        hooks::run(&network, scratch, input, output)?;
        // SAFETY: by this function's contract.
        unsafe { self.finish::<T>(outputs) };
        Ok(())
    }

    /// Input and output as values.
    ///
    /// # Safety
    /// The buffers passed [`ByteCall::check`] for values of this type, and are valid for these counts.
    unsafe fn buffers<'b, T>(&self, inputs: usize, outputs: usize) -> (&'b [T], &'b mut [T]) {
        // SAFETY: aligned, and apart from each other and the model by the checks; valid by this function's contract.
        unsafe {
            let output = core::slice::from_raw_parts_mut(self.output.cast(), outputs);
            (core::slice::from_raw_parts(self.input.cast(), inputs), output)
        }
    }

    /// Tells the caller how many bytes were written.
    ///
    /// # Safety
    /// `output_written` is null or has room for a size, and no slice that is still used overlaps it.
    unsafe fn finish<T>(&self, outputs: usize) {
        if !self.output_written.is_null() {
            // SAFETY: not null, and by this function's contract room for a size.
            unsafe { self.output_written.write_unaligned(outputs * size_of::<T>()) };
        }
    }

    /// Everything that can be wrong with sizes and buffers, before a buffer is looked at. Gives the number of values of both.
    fn check<T>(&self, loaded: &Loaded) -> Result<(usize, usize), Error> {
        let (inputs, outputs) = (loaded.facts.input_elements() as usize, loaded.facts.output_elements() as usize);
        let (input_bytes, output_bytes) = (inputs * size_of::<T>(), outputs * size_of::<T>());
        if self.input_bytes != input_bytes {
            let error = Error::new(ErrorKind::Argument).field("input_bytes");
            return Err(error.found(self.input_bytes as u64).expected(input_bytes as u64));
        }
        if self.output_bytes < output_bytes {
            let error = Error::new(ErrorKind::Buffer).field("output_bytes");
            return Err(error.found(self.output_bytes as u64).at_least(output_bytes as u64));
        }
        if !self.input.cast::<T>().is_aligned() || !self.output.cast::<T>().is_aligned() {
            return Err(invalid("input and output must be aligned to 4 bytes"));
        }
        let (region, blob) = run::spans(loaded);
        let (input, output) = self.spans::<T>(loaded);
        if input.overlaps(region) || output.overlaps(region) || output.overlaps(blob) {
            return Err(invalid("input or output lies in the memory of the model"));
        }
        if input.overlaps(output) {
            return Err(invalid("input and output overlap"));
        }
        Ok((inputs, outputs))
    }

    fn check_scratch<T>(
        &self,
        loaded: &Loaded,
        scratch: *mut u8,
        scratch_bytes: usize,
        needed: usize,
    ) -> Result<(), Error> {
        if needed == 0 {
            return Ok(());
        }
        required(scratch, "scratch is NULL")?;
        if scratch_bytes < needed {
            let error = Error::new(ErrorKind::Buffer).field("scratch_bytes");
            return Err(error.found(scratch_bytes as u64).at_least(needed as u64));
        }
        if !scratch.addr().is_multiple_of(SharedNetwork::SCRATCH_ALIGN) {
            return Err(invalid("scratch is not aligned to nk_model_scratch_align()"));
        }
        let place = Span::of(scratch, needed);
        let ((region, blob), (input, output)) = (run::spans(loaded), self.spans::<T>(loaded));
        if [region, blob].into_iter().any(|used| place.overlaps(used)) {
            return Err(invalid("the scratch memory lies in the memory of the model"));
        }
        if place.overlaps(input) || place.overlaps(output) {
            return Err(invalid("input or output lies in the scratch memory"));
        }
        Ok(())
    }

    /// The bytes of input and output.
    fn spans<T>(&self, loaded: &Loaded) -> (Span, Span) {
        let (inputs, outputs) = (loaded.facts.input_elements() as usize, loaded.facts.output_elements() as usize);
        (Span::of(self.input.cast::<T>(), inputs), Span::of(self.output.cast::<T>(), outputs))
    }
}
