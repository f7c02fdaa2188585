//! One run of a model: the checks of the arguments, and buffers that do not overlap.

use super::arena::{self, nk_arena_t};
use super::handle::{self, Loaded};
use super::model::nk_model_t;
use super::raw::{Span, invalid, required};
use super::{hooks, packing, raw};
use crate::error::{Error, ErrorKind};
use crate::network::Network;
use crate::run::Element;

/// The arguments of a run, as C passes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<T> {
    pub(super) model: *const nk_model_t,
    pub(super) arena: *mut nk_arena_t,
    pub(super) input: *const T,
    pub(super) input_count: u32,
    pub(super) output: *mut T,
    pub(super) output_capacity: u32,
    pub(super) output_count: *mut u32,
}

/// A model that is there, and how many values it takes and gives.
pub(super) struct Target<'a> {
    pub(super) loaded: Loaded,
    pub(super) network: Network<'a, 'a>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

impl Target<'_> {
    /// Looks at the network again after memory of the arena was taken.
    ///
    /// # Safety
    /// As for [`Loaded::network`].
    pub(super) unsafe fn reopen(&mut self) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        self.network = unsafe { self.loaded.network() }?;
        Ok(())
    }

    /// Runs the network once, watched by its hook if it has one.
    ///
    /// # Safety
    /// The memory of the model's arena is valid, and this thread alone uses it.
    pub(super) unsafe fn run<T: Element>(&mut self, input: &[T], output: &mut [T]) -> Result<(), Error> {
        packing::make_way(&mut self.network, &[raw::Span::of_slice(input), raw::Span::of_slice(output)]);
        let (network, scratch) = self.network.split();
        // SAFETY: by this function's contract; a hook does not take memory of the arena.
        let network = unsafe { packing::attach(&network) };
        hooks::run(&network, scratch, input, output)
    }
}

impl<T: Element> Call<T> {
    /// Runs a model of this type.
    ///
    /// # Safety
    /// Each pointer is null or as the header says. Buffers need to be valid only for the counts that pass the checks.
    pub(super) unsafe fn run(self) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        let mut target = unsafe { self.target() }?;
        if target.loaded.facts.is_quantized() != T::IS_INT8 {
            let [int8, float] = ["the model is int8 and takes no floats", "the model is float and takes no int8"];
            return Err(invalid(if T::IS_INT8 { float } else { int8 }));
        }
        self.check_buffers(&target)?;
        // SAFETY: not null, a handle; the ranges were checked.
        let input = unsafe { self.disjoint_input(&mut target) }?;
        // SAFETY: aligned, valid for their counts, apart from each other and from the model: checked above.
        let (input, output) = unsafe {
            let output = core::slice::from_raw_parts_mut(self.output, target.outputs);
            (core::slice::from_raw_parts(input, target.inputs), output)
        };
        // SAFETY: by this function's contract.
        unsafe { target.run(input, output) }?;
        // SAFETY: by this function's contract, and the slices that the count may overlap are not used any more.
        unsafe { self.finish(&target) };
        Ok(())
    }

    /// Refuses null pointers, then finds the model.
    ///
    /// # Safety
    /// `model` is null or a handle. The arena of its model is as it was, and this thread alone uses the model.
    pub(super) unsafe fn target<'a>(&self) -> Result<Target<'a>, Error> {
        required(self.model, "model is NULL")?;
        required(self.arena, "arena is NULL")?;
        required(self.input, "input is NULL")?;
        required(self.output, "output is NULL")?;
        required(self.output_count, "output_count is NULL")?;
        // SAFETY: not null, and by this function's contract a handle.
        let loaded = unsafe { handle::get(self.model) }.ok_or(handle::NOT_LOADED)?;
        // SAFETY: by this function's contract.
        let network = unsafe { loaded.network() }?;
        let (inputs, outputs) = (loaded.facts.input_elements() as usize, loaded.facts.output_elements() as usize);
        Ok(Target { loaded, network, inputs, outputs })
    }

    /// Everything that can be wrong with counts and buffers, before a buffer is looked at.
    pub(super) fn check_buffers(&self, target: &Target<'_>) -> Result<(), Error> {
        if self.input_count as usize != target.inputs {
            let error = Error::new(ErrorKind::Argument).field("input_count");
            return Err(error.found(u64::from(self.input_count)).expected(target.inputs as u64));
        }
        if (self.output_capacity as usize) < target.outputs {
            let error = Error::new(ErrorKind::Buffer).field("output_capacity");
            return Err(error.found(u64::from(self.output_capacity)).at_least(target.outputs as u64));
        }
        if !self.input.is_aligned() || !self.output.is_aligned() {
            return Err(invalid("input and output must be aligned to 4 bytes"));
        }
        let (region, blob) = spans(&target.loaded);
        let output = self.output_span(target);
        if self.input_span(target).overlaps(region) || output.overlaps(region) || output.overlaps(blob) {
            return Err(invalid("input or output lies in the memory of the model"));
        }
        Ok(())
    }

    /// The bytes of the input.
    pub(super) fn input_span(&self, target: &Target<'_>) -> Span {
        Span::of(self.input, target.inputs)
    }

    /// The bytes of the output.
    pub(super) fn output_span(&self, target: &Target<'_>) -> Span {
        Span::of(self.output, target.outputs)
    }

    /// The input at a place that the output does not touch: where it is, or copied to the free memory of the arena.
    ///
    /// # Safety
    /// `arena` points to a handle, `input` and `output` are valid for the counts of the target.
    unsafe fn disjoint_input(&self, target: &mut Target<'_>) -> Result<*const T, Error> {
        let output = self.output_span(target);
        if !self.input_span(target).overlaps(output) {
            return Ok(self.input);
        }
        let bytes = target.inputs * size_of::<T>();
        // SAFETY: by this function's contract.
        let copy =
            unsafe { borrow(self.arena, bytes, align_of::<T>(), "input and output overlap; the input needs a copy") }?;
        // SAFETY: by this function's contract.
        unsafe { target.reopen() }?;
        let (copy, place) = (copy.cast::<T>(), Span::of(copy, bytes));
        let (region, blob) = spans(&target.loaded);
        if place.overlaps(output) || place.overlaps(region) || place.overlaps(blob) {
            return Err(invalid("input and output overlap in the free memory of the arena"));
        }
        // SAFETY: `input` is valid for its count, the arena's free memory too, and `copy` allows that they overlap.
        unsafe { core::ptr::copy(self.input, copy, target.inputs) };
        Ok(copy)
    }

    /// Tells the caller how many values were written.
    ///
    /// # Safety
    /// `output_count` has room for a count, and no slice overlaps it.
    pub(super) unsafe fn finish(&self, target: &Target<'_>) {
        // SAFETY: by this function's contract.
        unsafe { self.output_count.write_unaligned(target.outputs as u32) };
    }
}

/// Free memory of an arena, for the duration of a call: nothing is taken from it. `why` ends the error for too little.
///
/// # Safety
/// `arena` points to a handle.
pub(super) unsafe fn borrow(
    arena: *mut nk_arena_t,
    bytes: usize,
    alignment: usize,
    why: &'static str,
) -> Result<*mut u8, Error> {
    // SAFETY: by this function's contract.
    let unchanged = unsafe { arena::get_or_empty(arena) };
    let mut state = unchanged;
    let memory = state.request(bytes, alignment, why)?;
    // SAFETY: by this function's contract; the allocation succeeded, so there is an arena.
    unsafe { arena::store(arena, unchanged.with_peak_of(&state)) };
    Ok(memory)
}

/// The memory of a model: its part of the arena, and its own bytes.
pub(super) fn spans(loaded: &Loaded) -> (Span, Span) {
    let ((region, region_bytes), (blob, blob_bytes)) = (loaded.region(), loaded.blob());
    (Span::of(region, region_bytes), Span::of(blob, blob_bytes))
}
