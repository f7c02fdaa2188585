//! The steps in float32.

use super::{DAMAGED, Element, Io, Memory, packed_part, packed_range, part};
use crate::fault::Fault;
use crate::kernels::args::Columns;
use crate::kernels::{self, Conv2d, Dense, DepthwiseConv2d, Epilogue, Grn, Kernels, Pool2d};
use crate::network::SharedNetwork;
use crate::plan::lowering::{Packing, float_packed_bytes};
use crate::plan::steps::{FLAG_ACCUMULATE, FLAG_NORM, Op, Step};

impl Element for f32 {
    const IS_INT8: bool = false;

    fn run_steps(network: &SharedNetwork<'_>, steps: &[Step], mut memory: Memory<'_, f32>) -> Result<(), Fault> {
        let payload = network.float_weights()?;
        let packed = network.packed();
        let kernels = kernels::active();
        for step in steps {
            run_step(kernels, step, Weights { payload, packed }, memory.reborrow()).ok_or(DAMAGED)?;
        }
        Ok(())
    }

    fn pack(network: &SharedNetwork<'_>, steps: &[Step], packed: &mut [u8]) -> Result<(), Fault> {
        let payload = network.float_weights()?;
        for step in steps.iter().filter(|step| step.packed > 0) {
            pack_step(step, payload, packed).ok_or(DAMAGED)?;
        }
        Ok(())
    }
}

/// Weights as the file has them, and as they were packed when the model was loaded, which may not have happened.
#[derive(Clone, Copy)]
struct Weights<'w> {
    payload: &'w [f32],
    packed: &'w [u8],
}

impl<'w> Weights<'w> {
    fn packed_part(&self, step: &Step) -> Option<&'w [f32]> {
        let bytes = packed_part(step, self.packed, float_packed_bytes(step))?;
        // No bytes may lie at any address.
        if bytes.is_empty() { Some(&[]) } else { bytemuck::try_cast_slice(bytes).ok() }
    }
}

fn pack_step(step: &Step, payload: &[f32], packed: &mut [u8]) -> Option<()> {
    let packed = bytemuck::try_cast_slice_mut(packed.get_mut(packed_range(step, float_packed_bytes(step)))?).ok()?;
    let pack = match Packing::of(step)? {
        Packing::Panels => kernels::pack,
        Packing::Row => kernels::pack_row,
        Packing::Winograd => kernels::pack_winograd,
    };
    pack(&step.filters(payload)?, &epilogue(step, payload)?, packed);
    Some(())
}

/// Computes one step; `None` when the step does not fit the memory.
fn run_step(kernels: &Kernels, step: &Step, all: Weights<'_>, memory: Memory<'_, f32>) -> Option<()> {
    let weights = all.payload;
    let io = memory.borrow(step)?;
    match step.op()? {
        Op::Copy => io.output.copy_from_slice(io.input.get(..io.output.len())?),
        Op::Dense => dense(kernels, step, all, io)?,
        Op::Conv2d => conv2d(kernels, step, all, io)?,
        Op::DepthwiseConv2d => depthwise_conv2d(kernels, step, weights, io)?,
        Op::MaxPool2d => (kernels.max_pool2d)(&mut pool2d(step, io)),
        Op::AvgPool2d => (kernels.avg_pool2d)(&mut pool2d(step, io)),
        Op::BatchNorm2d | Op::LayerNorm2d | Op::Grn => normalise(kernels, step, weights, io)?,
        Op::Lookup => return None,
        Op::Softmax => (kernels.softmax)(io.output, step.window.in_c as usize),
        Op::Add => (kernels.add)(io.output, io.input),
        Op::AddUpsampled2x => {
            (kernels.add_upsampled2x)(io.output, io.input, step.window.in_w as usize, step.window.in_c as usize);
        }
    }
    Some(())
}

fn dense(kernels: &Kernels, step: &Step, weights: Weights<'_>, io: Io<'_, f32>) -> Option<()> {
    let w = &step.window;
    (kernels.dense)(&mut Dense {
        rows: w.in_h as usize,
        input: io.input,
        weights: channel_weights(step, weights.payload)?,
        packed: weights.packed_part(step)?,
        epilogue: epilogue(step, weights.payload)?,
        columns: columns(step),
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn conv2d(kernels: &Kernels, step: &Step, weights: Weights<'_>, io: Io<'_, f32>) -> Option<()> {
    (kernels.conv2d)(&mut Conv2d {
        window: step.window,
        input: io.input,
        weights: channel_weights(step, weights.payload)?,
        kernel_pitch: step.kernel_pitch(),
        packed: weights.packed_part(step)?,
        epilogue: epilogue(step, weights.payload)?,
        columns: columns(step),
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn depthwise_conv2d(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_, f32>) -> Option<()> {
    let w = &step.window;
    (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
        window: *w,
        input: io.input,
        weights: channel_weights(step, weights)?,
        epilogue: epilogue(step, weights)?,
        scratch: io.scratch,
        output: io.output,
    });
    Some(())
}

fn pool2d<'r>(step: &Step, io: Io<'r, f32>) -> Pool2d<'r> {
    Pool2d { window: step.window, input: io.input, output: io.output }
}

fn normalise(kernels: &Kernels, step: &Step, weights: &[f32], io: Io<'_, f32>) -> Option<()> {
    let channels = step.window.in_c as usize;
    let (gamma, beta) = (part(weights, step.weights, channels)?, part(weights, step.bias, channels)?);
    match step.op()? {
        Op::BatchNorm2d => (kernels.batch_norm2d)(io.output, gamma, beta),
        Op::LayerNorm2d => (kernels.layernorm2d)(io.output, gamma, beta, step.alpha),
        _ => (kernels.grn)(&mut Grn { data: io.output, gamma, beta, eps: step.alpha, scratch: io.scratch }),
    }
    Some(())
}

/// The weights of all output channels.
fn channel_weights<'w>(step: &Step, weights: &'w [f32]) -> Option<&'w [f32]> {
    step.filters(weights).map(|filters| filters.weights)
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
