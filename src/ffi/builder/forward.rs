//! One run of a network on tensors.

use super::super::arena::{self, nk_arena_t};
use super::super::dtype::nk_dtype;
use super::super::handle::Loaded;
use super::super::raw::{Span, invalid, required};
use super::super::run::{self, Call};
use super::super::tensor::{self, nk_tensor, nk_tensor_t};
use super::Root;
use super::assemble::finish_mlp;
use super::values::Values;
use crate::error::{Error, ErrorKind};
use crate::run::Element;

/// Runs an MLP into the caller's tensor. An input of several times the rows that the buffers are for runs several times.
///
/// # Safety
/// Each pointer is null or as the header says, and the network's memory and weights are as they were.
pub(in crate::ffi) unsafe fn forward_mlp(
    root: &mut Root,
    arena: *mut nk_arena_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let (input, output) = unsafe {
        check_pointers(arena, input, output)?;
        (Values::of(input)?, Values::of(output)?)
    };
    if root.loaded().is_some() || root.slots().len() != 1 {
        // SAFETY: by this function's contract.
        return unsafe { run_mlp(root, arena, &input, &output) };
    }
    // A single layer needs no call for its buffers. They go back when there is no run.
    // SAFETY: by this function's contract.
    unsafe {
        let before = arena::get_or_empty(arena);
        finish_mlp(root, arena, 1)?;
        run_mlp(root, arena, &input, &output).inspect_err(|_| {
            root.forget_buffers();
            arena::store(arena, before.with_peak_of(&arena::get_or_empty(arena)));
        })
    }
}

/// Runs an MLP that has its buffers.
///
/// # Safety
/// As for [`forward_mlp`]; the tensors are what they say.
unsafe fn run_mlp(root: &Root, arena: *mut nk_arena_t, input: &Values, output: &Values) -> Result<(), Error> {
    let run = Run::new(root, arena, input)?;
    if !output.is(run.dtype) {
        return Err(invalid("output has another type than the network"));
    }
    required(output.data, "output has no data")?;
    let wanted = run.times as u64 * run.outputs as u64;
    if u64::from(output.elements) < wanted {
        let error = Error::new(ErrorKind::Buffer).field("elements of output");
        return Err(error.found(u64::from(output.elements)).at_least(wanted));
    }
    // SAFETY: by this function's contract.
    unsafe { run.run(input.data, output.data, output.elements) }
}

/// Runs a CNN into its own output, and makes the caller's tensor a view of that.
///
/// # Safety
/// As for [`forward_mlp`].
pub(in crate::ffi) unsafe fn forward_cnn(
    root: &mut Root,
    arena: *mut nk_arena_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let input = unsafe {
        check_pointers(arena, input, output)?;
        Values::of(input)?
    };
    let run = Run::new(root, arena, &input)?;
    if run.times != 1 {
        return Err(run.wrong_count(&input));
    }
    let (data, facts) = (root.output, run.loaded.facts);
    // SAFETY: the network's output has room for one result, the rest is this function's contract.
    unsafe { run.run(input.data, data.cast(), facts.output_elements()) }?;
    let shape = facts.output_shape();
    let extents = shape.get(..usize::from(facts.output_rank)).unwrap_or_default();
    // SAFETY: `output` is not null and by this function's contract room for a tensor.
    unsafe { output.write_unaligned(dense_view(data, run.dtype, extents)) };
    Ok(())
}

fn dense_view(data: *mut u8, dtype: nk_dtype, extents: &[u32]) -> nk_tensor {
    match *extents {
        [rows, features] => tensor::view(data.cast(), dtype, &[rows, features]),
        [h, w, c] => tensor::view(data.cast(), dtype, &[h, w, c]),
        _ => tensor::view(data.cast(), dtype, &[0]),
    }
}

/// # Safety
/// The pointers are null or as the header says.
unsafe fn check_pointers(
    arena: *const nk_arena_t,
    input: *const nk_tensor_t,
    output: *const nk_tensor_t,
) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    required(input, "input is NULL")?;
    required(output, "output is NULL")
}

/// A network with buffers and an input that fits.
struct Run<'a> {
    root: &'a Root,
    arena: *mut nk_arena_t,
    loaded: Loaded,
    dtype: nk_dtype,
    inputs: usize,
    outputs: usize,
    times: usize,
}

impl<'a> Run<'a> {
    fn new(root: &'a Root, arena: *mut nk_arena_t, input: &Values) -> Result<Self, Error> {
        let missing = Error::new(ErrorKind::NotInitialized).note("the network has no activation buffers yet");
        let loaded = root.loaded().ok_or(missing)?;
        let facts = &loaded.facts;
        let dtype = if facts.is_quantized() { nk_dtype::NK_DTYPE_INT8 } else { nk_dtype::NK_DTYPE_FLOAT32 };
        if !input.is(dtype) {
            let [int8, float] = ["the network is int8: give it an int8 tensor", "the network is float: give it floats"];
            return Err(invalid(if facts.is_quantized() { int8 } else { float }));
        }
        required(input.data, "input has no data")?;
        let (inputs, outputs) = (facts.input_elements() as usize, facts.output_elements() as usize);
        let times = input.elements as usize / inputs.max(1);
        let run = Self { root, arena, loaded, dtype, inputs, outputs, times };
        if times == 0 || times * inputs != input.elements as usize {
            return Err(run.wrong_count(input));
        }
        Ok(run)
    }

    /// Refuses what the run of a later batch would refuse, before the first one writes.
    fn check_batches(&self, input: Span, output: Span) -> Result<(), Error> {
        let (region, blob) = run::spans(&self.loaded);
        if input.overlaps(region) || output.overlaps(region) || output.overlaps(blob) {
            return Err(invalid("input or output lies in the memory of the model"));
        }
        if input.overlaps(output) { Err(invalid("input and output overlap")) } else { Ok(()) }
    }

    fn wrong_count(&self, input: &Values) -> Error {
        let error = Error::new(ErrorKind::Argument).field("elements of input");
        error.found(u64::from(input.elements)).expected(self.inputs as u64)
    }

    /// # Safety
    /// `input` and `output` are valid for the counts that were checked.
    unsafe fn run(
        &self,
        input: *const core::ffi::c_void,
        output: *mut core::ffi::c_void,
        room: u32,
    ) -> Result<(), Error> {
        // SAFETY: by this function's contract.
        unsafe {
            match self.loaded.facts.is_quantized() {
                true => self.run_as::<i8>(input.cast(), output.cast(), room),
                false => self.run_as::<f32>(input.cast(), output.cast(), room),
            }
        }
    }

    /// # Safety
    /// As for [`Run::run`].
    unsafe fn run_as<T: Element>(&self, input: *const T, output: *mut T, room: u32) -> Result<(), Error> {
        if self.times > 1 {
            self.check_batches(Span::of(input, self.times * self.inputs), Span::of(output, self.times * self.outputs))?;
        }
        let mut written = 0u32;
        for index in 0..self.times {
            let call = Call {
                model: &raw const self.root.model,
                arena: self.arena,
                input: input.wrapping_add(index * self.inputs),
                input_count: self.inputs as u32,
                output: output.wrapping_add(index * self.outputs),
                output_capacity: room - (index * self.outputs) as u32,
                output_count: &raw mut written,
            };
            // SAFETY: by this function's contract; the root holds the handle of a network.
            unsafe { call.run() }?;
        }
        Ok(())
    }
}
