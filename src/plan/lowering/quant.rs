//! What an int8 step has besides: zero points, clamps, and integer tables computed once, whose form is
//! [`crate::plan::tables`].
//!
//! `docs/quantization.md` gives the arithmetic.

use super::emit::flat_window;
use super::params::{SIGMOID_OUTPUT, table_activation};
use super::{Lowering, Residual, Value, Weighted};
use crate::fault::{Fault, text};
use crate::format::Model;
use crate::format::quant::{QuantEntry, QuantParams};
use crate::format::records::ActivationCode;
use crate::kernels::Activation;
use crate::kernels::int8::activation::code_of;
use crate::kernels::int8::args::{
    Term, conv2d_can_pool, conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_can_pool,
    depthwise_conv2d_scratch_elems,
};
use crate::kernels::int8::requantize::{self, Multiplier};
use crate::kernels::int8::{depthwise_packed_bytes, packed_bytes as packed_bytes_of};
use crate::plan::steps::{FLAG_POOLED, Op, Step};
use crate::plan::tables::{AddTable, SoftmaxTable, TermWords};
use crate::tensor::Shape;

impl From<Term> for TermWords {
    fn from(term: Term) -> Self {
        Self { multiplier: term.multiplier, shift: i32::from(term.shift), zero_point: term.zero_point }
    }
}

impl From<TermWords> for Term {
    fn from(words: TermWords) -> Self {
        Self { multiplier: words.multiplier, shift: words.shift as i8, zero_point: words.zero_point }
    }
}

/// Bytes of the table of a step with `channels` output channels.
const fn requantize_table_bytes(channels: u32) -> u32 {
    (5 * channels).next_multiple_of(4)
}

/// Bytes of scratch memory that the int8 kernels need for a step.
pub(super) fn scratch_bytes(op: Op, step: &Step) -> u32 {
    let window = &step.window;
    match op {
        Op::Conv2d => 2 * conv2d_scratch_elems(window, step.flags & FLAG_POOLED != 0),
        Op::Dense => 2 * dense_scratch_elems(window.in_h, window.in_c, window.out_c),
        Op::DepthwiseConv2d => 2 * depthwise_conv2d_scratch_elems(window),
        _ => 0,
    }
}

/// int8 kernels gain nothing from more scratch.
pub(super) fn spare_scratch_bytes(_: &Step) -> Option<(u32, u32)> {
    None
}

/// Bytes of the packed weights of a step; 0 where its kernel cannot use any.
pub(crate) fn packed_bytes(step: &Step) -> usize {
    match step.op() {
        Some(Op::Conv2d | Op::Dense) if step.quant.weight_zero_point == 0 => {
            let (rows, row_elems) = step.filter_extents();
            packed_bytes_of(step.pixels(), step.window.out_c as usize, rows, row_elems)
        }
        Some(Op::DepthwiseConv2d) => depthwise_packed_bytes(&step.window),
        _ => 0,
    }
}

impl<'m> Lowering<'m, '_> {
    /// Emits the int8 form of a step with weights, and the table activation behind it.
    pub(super) fn quantized(
        &mut self,
        mut step: Step,
        weighted: &Weighted,
        input: Value,
        output: Value,
    ) -> Result<(), Fault> {
        let entry = self.descriptor(weighted)?;
        let (min, max) = clamp_range(weighted.activation, entry.output);
        step.quant.input_zero_point = entry.input.zero_point as i8;
        step.quant.weight_zero_point = entry.weights.zero_point as i8;
        step.quant.output_zero_point = entry.output.zero_point as i8;
        (step.quant.min, step.quant.max) = (min, max);
        step.quant.table = self.requantize_table(&step, weighted, &entry)?;
        self.quant = entry.output;
        self.push_with_scratch(step, input)?;
        match table_activation(weighted.activation, &entry) {
            Some((activation, params)) => self.lookup(activation, entry.output, params, output),
            None => Ok(()),
        }
    }

    /// Whether the kernels can pool the output of a convolution (`Op::Conv2d` or `Op::DepthwiseConv2d`): the activation must
    /// be a clamp.
    pub(super) fn can_pool(&self, op: Op, step: &Weighted) -> Result<bool, Fault> {
        let kernels_can = match op {
            Op::DepthwiseConv2d => depthwise_conv2d_can_pool(&step.window),
            _ => conv2d_can_pool(&self.without_zero_edges(step).0),
        };
        Ok(kernels_can && table_activation(step.activation, &self.descriptor(step)?).is_none())
    }

    /// Refuses a weight zero point, which only dense layers can have.
    pub(super) fn require_symmetric_weights(&self, weighted: &Weighted) -> Result<(), Fault> {
        if !self.is_quantized() {
            return Ok(());
        }
        match self.descriptor(weighted)?.weights.zero_point {
            0 => Ok(()),
            _ => Err(text!(Layer, field "weight zero point", note "must be 0 for convolutions").fault()),
        }
    }

    /// Descriptor of a step's weights.
    fn descriptor(&self, weighted: &Weighted) -> Result<QuantEntry, Fault> {
        let index = weighted.tensors.index as usize;
        let missing = text!(Quant: at_least, field "QUAN count").told(index, index + 1);
        self.model.quant().and_then(|quant| quant.entry(index)).ok_or(missing)
    }

    /// Scale and zero point of a residual sum, which the descriptor of the block's last convolution states in place of its
    /// bias scale.
    pub fn sum_params(&self, last: &Weighted) -> Result<QuantParams, Fault> {
        let params = self.descriptor(last)?.bias;
        if params.scale <= 0.0 {
            return Err(
                text!(Quant, field "bias scale of conv2", note "must be the scale of the block's output, above 0")
                    .fault(),
            );
        }
        if !(-128..=127).contains(&params.zero_point) {
            let text = text!(
                Quant,
                field "bias zero point of conv2",
                note "must be the zero point of the block's output, -128 to 127"
            );
            return Err(text.fault());
        }
        Ok(params)
    }

    /// Per-channel weight scales of a step: none, or one for each channel.
    fn channel_scales(&self, weighted: &Weighted) -> Result<&'m [[u8; 4]], Fault> {
        let index = weighted.tensors.index as usize;
        let scales = self.model.quant().map_or(&[][..], |quant| quant.channel_scales(index)).as_chunks::<4>().0;
        let channels = weighted.window.out_c as usize;
        if scales.is_empty() || scales.len() == channels {
            return Ok(scales);
        }
        Err(text!(Weights: expected, field "channel scale count").told(scales.len(), channels))
    }

    /// Computes the multipliers of a step, and refuses weights whose sums can leave 32 bits.
    fn requantize_table(&mut self, step: &Step, weighted: &Weighted, entry: &QuantEntry) -> Result<u32, Fault> {
        let scales = self.channel_scales(weighted)?;
        let (offset, table) = self.sink.table(requantize_table_bytes(step.window.out_c))?;
        let channels = step.window.out_c as usize;
        let Some((multipliers, shifts)) = table.and_then(|table| table.split_at_mut_checked(4 * channels)) else {
            return Ok(offset);
        };
        let mut scales = scales.iter().map(|&bytes| f32::from_le_bytes(bytes));
        for (multiplier, shift) in multipliers.as_chunks_mut::<4>().0.iter_mut().zip(shifts) {
            let scale = scales.next().unwrap_or(entry.weights.scale);
            let factor = Multiplier::of_scales(entry.input.scale, scale, entry.output.scale);
            *multiplier = factor.multiplier.to_ne_bytes();
            *shift = factor.shift as u8;
        }
        check_accumulators(self.model, step, weighted, entry)?;
        Ok(offset)
    }

    /// The sum of a block's result in `value` and its residual, in place, with the residual's activation.
    pub(super) fn add_quantized(&mut self, value: Value, residual: &Residual, shape: Shape) -> Result<(), Fault> {
        let own = self.quant;
        let sum = residual.sum_quant.unwrap_or(own);
        let mut step = self.step(Op::Add, flat_window(shape), residual.value, value);
        (step.quant.min, step.quant.max) = clamp_range(residual.activation, sum);
        let (offset, table) = self.sink.table(size_of::<AddTable>() as u32)?;
        step.quant.table = offset;
        if let Some(table) = table {
            let (a, b) = (own, residual.quant);
            let (a, b, out) =
                requantize::add_terms(a.scale, a.zero_point, b.scale, b.zero_point, sum.scale, sum.zero_point);
            table.copy_from_slice(bytemuck::bytes_of(&AddTable { own: a.into(), other: b.into(), sum: out.into() }));
        }
        self.quant = sum;
        self.sink.push(step)
    }

    /// Table of a softmax over the running result, whose scale then is that of probabilities.
    pub(super) fn softmax_table(&mut self) -> Result<u32, Fault> {
        let logits = self.quant;
        self.quant = SIGMOID_OUTPUT;
        let (offset, table) = self.sink.table(size_of::<SoftmaxTable>() as u32)?;
        if let Some(table) = table {
            let (multiplier, shift, diff_min) = requantize::softmax_params(logits.scale);
            let words = SoftmaxTable { multiplier, shift: i32::from(shift), diff_min };
            table.copy_from_slice(bytemuck::bytes_of(&words));
        }
        Ok(offset)
    }

    /// An elementwise activation of `value` in place, from `input` to `output` parameters.
    fn lookup(
        &mut self,
        activation: Activation,
        input: QuantParams,
        output: QuantParams,
        value: Value,
    ) -> Result<(), Fault> {
        let mut step = self.step(Op::Lookup, flat_window(Shape::rows(1, value.elems)), value, value);
        let (offset, table) = self.sink.table(256)?;
        step.quant.table = offset;
        for (entry, code) in table.into_iter().flatten().zip(i8::MIN..=i8::MAX) {
            *entry = code_of(activation, code, input, output) as u8;
        }
        self.quant = output;
        self.sink.push(step)
    }
}

/// Refuses a channel whose accumulator could leave 32 bits for some input: `|bias| + sum |w| * max |q - zero point|`.
fn check_accumulators(model: &Model<'_>, step: &Step, weighted: &Weighted, entry: &QuantEntry) -> Result<(), Fault> {
    let (weights, biases) = model.payload().split_at_checked(model.header().weights_bytes as usize).unwrap_or_default();
    let biases = biases.as_chunks::<4>().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes)));
    // All of a kernel, also what is zero in every filter.
    let elems = step.kernel_pitch().filter;
    let rows = weights.get(weighted.tensors.weights as usize..).unwrap_or(&[]).chunks_exact(elems.max(1));
    let channels = rows.zip(biases.skip(step.bias as usize)).take(step.window.out_c as usize);
    let (input, weight) = (i64::from(entry.input.zero_point), i64::from(entry.weights.zero_point));
    let reach = (127 - input).max(input + 128);
    for (channel, (row, bias)) in channels.enumerate() {
        let sum: i64 = row.iter().map(|&byte| (i64::from(byte as i8) - weight).abs()).sum();
        if sum * reach + bias.abs() > i64::from(i32::MAX) {
            let text = text!(Layer: found, field "channel whose sums can leave 32 bits", note "its weights or bias are too large");
            return Err(text.told(channel, 0));
        }
    }
    Ok(())
}

/// Least and largest output of a step with this activation.
fn clamp_range(activation: Activation, output: QuantParams) -> (i8, i8) {
    let code = match activation {
        Activation::Relu => ActivationCode::RELU,
        Activation::Relu6 => ActivationCode::RELU6,
        _ => ActivationCode::NONE,
    };
    requantize::clamp_range(code.0, output.scale, output.zero_point)
}
