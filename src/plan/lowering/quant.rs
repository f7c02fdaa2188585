//! What an int8 step has besides: zero points, clamps, and integer tables computed once.
//!
//! `docs/quantization.md` gives the arithmetic. Tables lie in the arena, in the order of the steps:
//!
//! | step | table |
//! |---|---|
//! | conv2d, depthwise_conv2d, dense | multipliers (i32 per channel), shifts (i8 per channel) |
//! | add | [`AddTable`] |
//! | softmax | [`SoftmaxTable`] |
//! | lookup | 256 int8 values |

use bytemuck::{Pod, Zeroable};

use super::emit::flat_window;
use super::{Lowering, Residual, Value, Weighted};
use crate::error::{Error, ErrorKind};
use crate::format::quant::{QuantEntry, QuantParams};
use crate::format::records::ActivationCode;
use crate::format::{Layer, Model};
use crate::kernels::Activation;
use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::{self, Multiplier};
use crate::plan::steps::{Op, Step};
use crate::tensor::Shape;

/// Output of sigmoid and softmax: 0 to 255/256.
pub const SIGMOID_OUTPUT: QuantParams = QuantParams { scale: 1.0 / 256.0, zero_point: -128 };
/// Output of tanh: -1 to 127/128.
pub const TANH_OUTPUT: QuantParams = QuantParams { scale: 1.0 / 128.0, zero_point: 0 };

/// Parameters of an int8 addition.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct AddTable {
    /// Of the step's output, which is the first term.
    pub own: TermWords,
    /// Of the step's input, the second term.
    pub other: TermWords,
    /// Of the sum.
    pub sum: TermWords,
}

/// A [`Term`] as plain words.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct TermWords {
    multiplier: i32,
    shift: i32,
    zero_point: i32,
}

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

/// Parameters of an int8 softmax.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SoftmaxTable {
    /// Q31 multiplier of differences of logits.
    pub multiplier: i32,
    /// Its exponent.
    pub shift: i32,
    /// Least difference that counts.
    pub diff_min: i32,
}

/// Bytes of the table of a step with `channels` output channels.
pub const fn requantize_table_bytes(channels: u32) -> u32 {
    (5 * channels).next_multiple_of(4)
}

/// Scale and zero point that an int8 model starts with, for pools and residuals before the first convolution. A model that
/// starts with another layer has none; as in the reference engine its pools then round around 0.
pub(in crate::plan) fn input_params(model: &Model<'_>) -> QuantParams {
    let has_input_params = model.layers().next().is_some_and(|record| {
        matches!(
            record.layer,
            Layer::Conv2d(_) | Layer::DepthwiseConv2d(_) | Layer::MobilenetV4Uib(_) | Layer::ResnetBasicBlock(_)
        )
    });
    let entry = model.quant().filter(|_| has_input_params).and_then(|quant| quant.entry(0));
    entry.map_or(QuantParams { scale: 1.0, zero_point: 0 }, |entry| entry.input)
}

/// The activation that a table computes for a layer, if its descriptor asks for one.
///
/// The format has no place for the output parameters of such an activation, and the reference engine ignores it. A
/// descriptor asks for the table by stating them in its bias scale and bias zero point, which nothing else uses.
pub fn table_activation(activation: Activation, entry: &QuantEntry) -> Option<(Activation, QuantParams)> {
    let output = match activation {
        Activation::Sigmoid => SIGMOID_OUTPUT,
        Activation::Tanh => TANH_OUTPUT,
        Activation::LeakyRelu(_) => entry.output,
        _ => return None,
    };
    (entry.bias == output).then_some((activation, output))
}

impl<'m> Lowering<'m, '_> {
    /// Emits the int8 form of a step with weights, and the table activation behind it.
    pub(super) fn quantized(
        &mut self,
        mut step: Step,
        scratch: u32,
        weighted: &Weighted,
        input: Value,
        output: Value,
    ) -> Result<(), Error> {
        let entry = self.descriptor(weighted)?;
        let (min, max) = clamp_range(weighted.activation, entry.output);
        step.quant.input_zero_point = entry.input.zero_point as i8;
        step.quant.weight_zero_point = entry.weights.zero_point as i8;
        step.quant.output_zero_point = entry.output.zero_point as i8;
        (step.quant.min, step.quant.max) = (min, max);
        step.quant.table = self.requantize_table(&step, weighted, &entry)?;
        self.quant = entry.output;
        self.push_with_scratch(step, scratch, input)?;
        match table_activation(weighted.activation, &entry) {
            Some((activation, params)) => self.lookup(activation, entry.output, params, output),
            None => Ok(()),
        }
    }

    /// Refuses a weight zero point, which only dense layers can have.
    pub(super) fn require_symmetric_weights(&self, weighted: &Weighted) -> Result<(), Error> {
        if !self.is_quantized() {
            return Ok(());
        }
        match self.descriptor(weighted)?.weights.zero_point {
            0 => Ok(()),
            _ => Err(Error::new(ErrorKind::Layer).field("weight zero point").note("must be 0 for convolutions")),
        }
    }

    /// Descriptor of a step's weights.
    pub fn descriptor(&self, weighted: &Weighted) -> Result<QuantEntry, Error> {
        let index = weighted.tensors.index as usize;
        let missing = Error::new(ErrorKind::Quant).field("QUAN count").found(index as u64).at_least(index as u64 + 1);
        self.model.quant().and_then(|quant| quant.entry(index)).ok_or(missing)
    }

    /// Scale and zero point of a residual sum, which the descriptor of the block's last convolution states in place of its
    /// bias scale.
    pub fn sum_params(&self, last: &Weighted) -> Result<QuantParams, Error> {
        let params = self.descriptor(last)?.bias;
        if params.scale > 0.0 && (-128..=127).contains(&params.zero_point) {
            return Ok(params);
        }
        let error = Error::new(ErrorKind::Quant).field("bias scale and zero point of conv2");
        Err(error.note("must hold those of the block's output"))
    }

    /// Per-channel weight scales of a step: none, or one for each channel.
    fn channel_scales(&self, weighted: &Weighted) -> Result<&'m [[u8; 4]], Error> {
        let index = weighted.tensors.index as usize;
        let scales = self.model.quant().map_or(&[][..], |quant| quant.channel_scales(index)).as_chunks::<4>().0;
        let channels = weighted.window.out_c as usize;
        if scales.is_empty() || scales.len() == channels {
            return Ok(scales);
        }
        let error = Error::new(ErrorKind::Weights).field("channel scale count").found(scales.len() as u64);
        Err(error.expected(channels as u64))
    }

    /// Computes the multipliers of a step, and refuses weights whose sums can leave 32 bits.
    fn requantize_table(&mut self, step: &Step, weighted: &Weighted, entry: &QuantEntry) -> Result<u32, Error> {
        let scales = self.channel_scales(weighted)?;
        let (offset, table) = self.sink.table(requantize_table_bytes(step.window.out_c))?;
        let channels = step.window.out_c as usize;
        let Some((multipliers, shifts)) = table.and_then(|table| table.split_at_mut_checked(4 * channels)) else {
            return Ok(offset);
        };
        let mut scales = scales.iter().map(|&bytes| f32::from_le_bytes(bytes));
        for (multiplier, shift) in multipliers.as_chunks_mut::<4>().0.iter_mut().zip(shifts) {
            let scale = scales.next().unwrap_or(entry.weights.scale);
            let real = f64::from(entry.input.scale) * f64::from(scale) / f64::from(entry.output.scale);
            let real = Multiplier::from_real(real);
            *multiplier = real.multiplier.to_ne_bytes();
            *shift = real.shift as u8;
        }
        check_accumulators(&self.model, step, entry)?;
        Ok(offset)
    }

    /// The sum of a block's result in `value` and its residual, in place, with the residual's activation.
    pub(super) fn add_quantized(&mut self, value: Value, residual: &Residual, shape: Shape) -> Result<(), Error> {
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
    pub(super) fn softmax_table(&mut self) -> Result<u32, Error> {
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
    ) -> Result<(), Error> {
        let mut step = self.step(Op::Lookup, flat_window(Shape::rows(1, value.elems)), value, value);
        let (offset, table) = self.sink.table(256)?;
        step.quant.table = offset;
        for (entry, q) in table.into_iter().flatten().zip(-128..=127) {
            *entry = table_entry(activation, q, input, output) as u8;
        }
        self.quant = output;
        self.sink.push(step)
    }
}

/// Refuses a channel whose accumulator could leave 32 bits for some input: `|bias| + sum |w| * max |q - zero point|`.
fn check_accumulators(model: &Model<'_>, step: &Step, entry: &QuantEntry) -> Result<(), Error> {
    let (weights, biases) = model.payload().split_at_checked(model.header().weights_bytes as usize).unwrap_or_default();
    let biases = biases.as_chunks::<4>().0.iter().map(|&bytes| i64::from(i32::from_le_bytes(bytes)));
    let rows = weights.get(step.weights as usize..).unwrap_or(&[]).chunks_exact(step.weights_per_channel().max(1));
    let channels = rows.zip(biases.skip(step.bias as usize)).take(step.window.out_c as usize);
    let (input, weight) = (i64::from(entry.input.zero_point), i64::from(entry.weights.zero_point));
    let reach = (127 - input).max(input + 128);
    for (channel, (row, bias)) in channels.enumerate() {
        let sum: i64 = row.iter().map(|&byte| (i64::from(byte as i8) - weight).abs()).sum();
        if sum * reach + bias.abs() > i64::from(i32::MAX) {
            let error =
                Error::new(ErrorKind::Layer).field("channel whose sums can leave 32 bits").found(channel as u64);
            return Err(error.note("its weights or bias are too large"));
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

/// Entry of an activation's table: the activation of the real value of `q`, rounded half away from zero to a step of the
/// output. Computed in float64, at load only.
pub fn table_entry(activation: Activation, q: i32, input: QuantParams, output: QuantParams) -> i8 {
    let x = f64::from(input.scale) * f64::from(q - input.zero_point);
    let y = match activation {
        Activation::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        Activation::Tanh => 1.0 - 2.0 / (libm::exp(2.0 * x) + 1.0),
        Activation::LeakyRelu(alpha) if x < 0.0 => x * f64::from(alpha),
        _ => x,
    };
    let steps = y / f64::from(output.scale);
    let rounded = if steps < 0.0 { steps - 0.5 } else { steps + 0.5 } as i64;
    rounded.saturating_add(i64::from(output.zero_point)).clamp(-128, 127) as i8
}
