//! The executor: goes through the steps of a plan. It decides nothing and allocates nothing; a plan that came from
//! [`crate::plan`] cannot fail here. The checks that remain turn a plan that was overwritten in the arena into an error.

use core::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::kernels::args::Columns;
use crate::kernels::{self, Conv2d, Dense, DepthwiseConv2d, Epilogue, Grn, Kernels, Pool2d};
use crate::plan::steps::{FLAG_ACCUMULATE, FLAG_NORM, Op, Operand, Place, Step};

/// Runs `steps` with the float payload `weights`.
pub(crate) fn run(
    steps: &[Step],
    weights: &[f32],
    activations: &mut [f32],
    input: &[f32],
    output: &mut [f32],
) -> Result<(), Error> {
    let kernels = kernels::active();
    for step in steps {
        let memory = Memory { activations: &mut *activations, input, output: &mut *output };
        run_step(kernels, step, weights, memory).ok_or(DAMAGED)?;
    }
    Ok(())
}

const DAMAGED: Error = Error::new(ErrorKind::NotLoaded).note("the network in the arena is damaged or was overwritten");

/// Everything a step can read and write.
struct Memory<'r> {
    activations: &'r mut [f32],
    input: &'r [f32],
    output: &'r mut [f32],
}

/// The slices of one step. `input` is empty when the step works in place.
struct Io<'r> {
    input: &'r [f32],
    output: &'r mut [f32],
    scratch: &'r mut [f32],
}

impl<'r> Memory<'r> {
    /// Borrows the operands of a step, which never overlap.
    fn borrow(self, step: &Step) -> Option<Io<'r>> {
        let in_arena = |operand: &Operand| match operand.place() {
            Place::Arena => operand.range(),
            Place::Input | Place::Output => EMPTY,
        };
        let reads = if step.is_in_place() { EMPTY } else { in_arena(&step.input) };
        let [arena_input, arena_output, scratch] =
            disjoint(self.activations, [reads, in_arena(&step.output), in_arena(&step.scratch)])?;
        let (output_input, output) = match (step.input.place(), step.output.place()) {
            (Place::Output, Place::Output) if !step.is_in_place() => {
                let [read, write] = disjoint(self.output, [step.input.range(), step.output.range()])?;
                (&*read, write)
            }
            (_, Place::Output) => (&[][..], self.output.get_mut(step.output.range())?),
            (Place::Output, _) => (&*self.output.get(step.input.range())?, arena_output),
            _ => (&[][..], arena_output),
        };
        let input = match step.input.place() {
            _ if step.is_in_place() => &[][..],
            Place::Input => self.input.get(step.input.range())?,
            Place::Output => output_input,
            Place::Arena => arena_input,
        };
        Some(Io { input, output, scratch })
    }
}

const EMPTY: Range<usize> = 0..0;

/// Disjoint parts of one slice; empty ranges give empty parts.
fn disjoint<const N: usize>(slice: &mut [f32], ranges: [Range<usize>; N]) -> Option<[&mut [f32]; N]> {
    slice.get_disjoint_mut(ranges).ok()
}

/// Computes one step; `None` when the step does not fit the memory.
fn run_step(kernels: &Kernels, step: &Step, weights: &[f32], memory: Memory<'_>) -> Option<()> {
    let io = memory.borrow(step)?;
    match step.op()? {
        Op::Copy => io.output.copy_from_slice(io.input.get(..io.output.len())?),
        Op::Dense => dense(kernels, step, weights, io)?,
        Op::Conv2d => conv2d(kernels, step, weights, io)?,
        Op::DepthwiseConv2d => depthwise_conv2d(kernels, step, weights, io)?,
        Op::MaxPool2d => (kernels.max_pool2d)(&mut pool2d(step, io)),
        Op::AvgPool2d => (kernels.avg_pool2d)(&mut pool2d(step, io)),
        Op::BatchNorm2d | Op::LayerNorm2d | Op::Grn => normalise(kernels, step, weights, io)?,
        Op::Softmax => (kernels.softmax)(io.output, step.window.in_c as usize),
        Op::Add => (kernels.add)(io.output, io.input),
        Op::AddUpsampled2x => {
            (kernels.add_upsampled2x)(io.output, io.input, step.window.in_w as usize, step.window.in_c as usize);
        }
    }
    Some(())
}

fn dense(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_>) -> Option<()> {
    let w = &step.window;
    let len = (w.in_c as usize).checked_mul(w.out_c as usize)?;
    (kernels.dense)(&mut Dense {
        rows: w.in_h as usize,
        input: io.input,
        weights: part(weights, step.weights, len)?,
        epilogue: epilogue(step, weights)?,
        columns: columns(step),
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn conv2d(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_>) -> Option<()> {
    let w = &step.window;
    let len =
        [w.kernel_w, w.in_c, w.out_c].iter().try_fold(w.kernel_h as usize, |len, &n| len.checked_mul(n as usize))?;
    (kernels.conv2d)(&mut Conv2d {
        window: *w,
        input: io.input,
        weights: part(weights, step.weights, len)?,
        epilogue: epilogue(step, weights)?,
        columns: columns(step),
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn depthwise_conv2d(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_>) -> Option<()> {
    let w = &step.window;
    let len = (w.kernel_h as usize).checked_mul(w.kernel_w as usize)?.checked_mul(w.out_c as usize)?;
    (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
        window: *w,
        input: io.input,
        weights: part(weights, step.weights, len)?,
        epilogue: epilogue(step, weights)?,
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn pool2d<'r>(step: &Step, io: Io<'r>) -> Pool2d<'r> {
    Pool2d { window: step.window, input: io.input, output: io.output }
}

fn normalise(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_>) -> Option<()> {
    let channels = step.window.in_c as usize;
    let (gamma, beta) = (part(weights, step.weights, channels)?, part(weights, step.bias, channels)?);
    match step.op()? {
        Op::BatchNorm2d => (kernels.batch_norm2d)(io.output, gamma, beta),
        Op::LayerNorm2d => (kernels.layernorm2d)(io.output, gamma, beta, step.alpha),
        _ => (kernels.grn)(&mut Grn { data: io.output, gamma, beta, eps: step.alpha, scratch: io.scratch }),
    }
    Some(())
}

fn epilogue<'w>(step: &Step, weights: &'w [f32]) -> Option<Epilogue<'w>> {
    let channels = step.window.out_c as usize;
    let norm = if step.flags & FLAG_NORM == 0 {
        None
    } else {
        Some((part(weights, step.norm_scale, channels)?, part(weights, step.norm_shift, channels)?))
    };
    Some(Epilogue {
        bias: part(weights, step.bias, channels)?,
        norm,
        accumulate: step.flags & FLAG_ACCUMULATE != 0,
        activation: step.activation(),
    })
}

fn columns(step: &Step) -> Columns {
    Columns { pitch: step.pitch as usize, first: step.column as usize }
}

fn part(weights: &[f32], first: u32, len: usize) -> Option<&[f32]> {
    weights.get(first as usize..)?.get(..len)
}
