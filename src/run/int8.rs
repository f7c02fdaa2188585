//! The steps in int8: integers only.

use super::{DAMAGED, Element, Io, Memory, packed_part, packed_range, part};
use crate::fault::Fault;
use crate::kernels::active_level;
use crate::kernels::int8::{self, Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Requantize, Softmax};
use crate::layers::groups::BLOCKS;
use crate::network::SharedNetwork;
use crate::plan::lowering::int8_packed_bytes;
use crate::plan::steps::{FLAG_POOLED, Op, Step};
use crate::plan::tables::{AddTable, SoftmaxTable};

impl Element for i8 {
    const IS_INT8: bool = true;

    fn run_steps(network: &SharedNetwork<'_>, steps: &[Step], mut memory: Memory<'_, i8>) -> Result<(), Fault> {
        let constants = network.int8_constants()?;
        let kernels = int8::active();
        for step in steps {
            run_step(kernels, step, &constants, memory.reborrow()).ok_or(DAMAGED)?;
        }
        Ok(())
    }

    fn pack(network: &SharedNetwork<'_>, steps: &[Step], packed: &mut [u8]) -> Result<(), Fault> {
        let constants = network.int8_constants()?;
        for step in steps.iter().filter(|step| step.packed > 0) {
            pack_step(step, &constants, packed).ok_or(DAMAGED)?;
        }
        Ok(())
    }
}

/// Everything that stays the same from run to run.
#[derive(Clone, Copy)]
pub(crate) struct Constants<'c> {
    /// Weight payload.
    pub(crate) weights: &'c [i8],
    /// Bias payload.
    pub(crate) biases: &'c [i32],
    /// Integer tables in the arena.
    pub(crate) tables: &'c [u8],
    /// Packed weights, if there are any.
    pub(crate) packed: &'c [u8],
}

impl<'c> Constants<'c> {
    fn packed_part(&self, step: &Step) -> Option<&'c [i8]> {
        packed_part(step, self.packed, int8_packed_bytes(step)).map(bytemuck::cast_slice)
    }
}

fn pack_step(step: &Step, constants: &Constants<'_>, packed: &mut [u8]) -> Option<()> {
    let packed = bytemuck::cast_slice_mut(packed.get_mut(packed_range(step, int8_packed_bytes(step)))?);
    let (filters, requantize) = (step.filters(constants.weights)?, requantize(step, constants)?);
    match step.op()? {
        Op::DepthwiseConv2d => int8::pack_depthwise(&step.window, filters.weights, &requantize, packed),
        _ => int8::pack(active_level(), &filters, &requantize, packed),
    }
    Some(())
}

/// Computes one step; `None` when the step does not fit the memory. The kinds are functions of their own, so that the stack holds
/// the arguments of one kernel, not of all.
fn run_step(kernels: &Kernels, step: &Step, constants: &Constants<'_>, memory: Memory<'_, i8>) -> Option<()> {
    let io = memory.borrow(step)?;
    match step.op()? {
        Op::Copy => copy(io)?,
        Op::Dense => dense(kernels, step, constants, io)?,
        Op::Conv2d => conv2d(kernels, step, constants, io)?,
        Op::DepthwiseConv2d => depthwise_conv2d(kernels, step, constants, io)?,
        Op::MaxPool2d => pool2d(kernels.max_pool2d, step, io),
        Op::AvgPool2d => pool2d(kernels.avg_pool2d, step, io),
        Op::Add if BLOCKS => add(kernels, step, constants, io)?,
        Op::Softmax => softmax(kernels, step, constants, io)?,
        Op::Lookup => (kernels.lookup)(io.output, bytemuck::try_from_bytes(table(step, constants, 256)?).ok()?),
        Op::Add | Op::BatchNorm2d | Op::LayerNorm2d | Op::Grn | Op::AddUpsampled2x => return None,
    }
    Some(())
}

/// Elements one by one: lengths that differ have nothing to panic about.
fn copy(io: Io<'_, i8>) -> Option<()> {
    let input = io.input.get(..io.output.len())?;
    for (output, &code) in io.output.iter_mut().zip(input) {
        *output = code;
    }
    Some(())
}

#[inline(never)]
fn dense(kernels: &Kernels, step: &Step, constants: &Constants<'_>, io: Io<'_, i8>) -> Option<()> {
    (kernels.dense)(&mut Dense {
        rows: step.window.in_h as usize,
        input: io.input,
        weights: channel_weights(step, constants)?,
        packed: constants.packed_part(step)?,
        requantize: requantize(step, constants)?,
        scratch: bytemuck::try_cast_slice_mut(io.scratch).ok()?,
        output: io.output,
    });
    Some(())
}

#[inline(never)]
fn conv2d(kernels: &Kernels, step: &Step, constants: &Constants<'_>, io: Io<'_, i8>) -> Option<()> {
    (kernels.conv2d)(&mut Conv2d {
        window: step.window,
        input: io.input,
        weights: channel_weights(step, constants)?,
        kernel_pitch: step.kernel_pitch(),
        packed: constants.packed_part(step)?,
        requantize: requantize(step, constants)?,
        pooled: step.flags & FLAG_POOLED != 0,
        scratch: bytemuck::try_cast_slice_mut(io.scratch).ok()?,
        output: io.output,
    });
    Some(())
}

#[inline(never)]
fn depthwise_conv2d(kernels: &Kernels, step: &Step, constants: &Constants<'_>, io: Io<'_, i8>) -> Option<()> {
    (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
        window: step.window,
        input: io.input,
        weights: channel_weights(step, constants)?,
        packed: constants.packed_part(step)?,
        requantize: requantize(step, constants)?,
        pooled: step.flags & FLAG_POOLED != 0,
        scratch: bytemuck::try_cast_slice_mut(io.scratch).ok()?,
        output: io.output,
    });
    Some(())
}

#[inline(never)]
fn pool2d(kernel: fn(&mut Pool2d<'_>), step: &Step, io: Io<'_, i8>) {
    let zero_point = i32::from(step.quant.input_zero_point);
    kernel(&mut Pool2d { window: step.window, input: io.input, zero_point, output: io.output });
}

#[inline(never)]
fn add(kernels: &Kernels, step: &Step, constants: &Constants<'_>, io: Io<'_, i8>) -> Option<()> {
    let table: &AddTable = bytemuck::try_from_bytes(table(step, constants, size_of::<AddTable>())?).ok()?;
    (kernels.add)(&mut Add {
        data: io.output,
        other: io.input,
        own: table.own.into(),
        other_term: table.other.into(),
        output: table.sum.into(),
        min: step.quant.min,
        max: step.quant.max,
    });
    Some(())
}

#[inline(never)]
fn softmax(kernels: &Kernels, step: &Step, constants: &Constants<'_>, io: Io<'_, i8>) -> Option<()> {
    let table: &SoftmaxTable = bytemuck::try_from_bytes(table(step, constants, size_of::<SoftmaxTable>())?).ok()?;
    (kernels.softmax)(&mut Softmax {
        data: io.output,
        row_elems: step.window.in_c as usize,
        multiplier: table.multiplier,
        shift: table.shift as i8,
        diff_min: table.diff_min,
    });
    Some(())
}

/// The weights of all output channels.
fn channel_weights<'c>(step: &Step, constants: &Constants<'c>) -> Option<&'c [i8]> {
    step.filters(constants.weights).map(|filters| filters.weights)
}

fn requantize<'c>(step: &Step, constants: &Constants<'c>) -> Option<Requantize<'c>> {
    let channels = step.window.out_c as usize;
    let (multipliers, shifts) = table(step, constants, channels.checked_mul(5)?)?.split_at_checked(4 * channels)?;
    Some(Requantize {
        bias: part(constants.biases, step.bias, channels)?,
        multipliers: bytemuck::try_cast_slice(multipliers).ok()?,
        shifts: bytemuck::cast_slice(shifts),
        input_zero_point: i32::from(step.quant.input_zero_point),
        weight_zero_point: i32::from(step.quant.weight_zero_point),
        output_zero_point: i32::from(step.quant.output_zero_point),
        min: step.quant.min,
        max: step.quant.max,
    })
}

fn table<'c>(step: &Step, constants: &Constants<'c>, bytes: usize) -> Option<&'c [u8]> {
    part(constants.tables, step.quant.table, bytes)
}
