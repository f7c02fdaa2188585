//! What a plan makes of each layer. Costs one pass of lowering and no memory, so it can be told again at any time.

use core::cell::Cell;

use super::lowering::{Lowering, StepSink, input_params};
use super::memory::{input_shape, lower_layers, next_table};
use super::placement::Scheme;
use super::steps::{Operand, Step};
use crate::error::Error;
use crate::fault::Fault;
use crate::format::Model;
use crate::format::quant::QuantParams;
use crate::layers;
use crate::tensor::Shape;

/// A layer in its network.
#[derive(Clone, Copy, Debug)]
pub struct LayerFacts {
    /// Index in the model, from 0.
    pub index: usize,
    /// Kind byte.
    pub kind: u8,
    /// Shape of its input.
    pub input: Shape,
    /// Shape of its output.
    pub output: Shape,
    /// Shape of the result that its steps leave: that of the next layer where it has been merged into this one.
    pub result_shape: Shape,
    /// Scale and zero point of the input of an int8 layer.
    pub input_quant: Option<QuantParams>,
    /// Scale and zero point of the output of an int8 layer.
    pub output_quant: Option<QuantParams>,
    /// Bytes of its weights and biases.
    pub payload_bytes: usize,
    /// Multiply-accumulate operations of its steps.
    pub macs: u64,
    /// Where its result lies once its steps have run.
    pub(crate) result: Operand,
}

/// Calls `visit` for each layer in execution order, until it fails. With the placement of a plan the results lie where
/// the plan puts them.
pub(crate) fn for_each_layer(
    model: &Model<'_>,
    scheme: Scheme,
    visit: &mut dyn FnMut(&LayerFacts) -> Result<(), Error>,
) -> Result<(), Error> {
    let macs = Cell::new(0);
    let mut sink = Macs { sum: &macs, tables: 0 };
    let (mut input, mut running_quant) = (input_shape(model)?, input_params(model));
    let mut next_tensor = 0;
    let mut lowering = Lowering::new(model, input, scheme, &mut sink);
    lower_layers(model, &mut lowering, &mut |record, lowering| {
        let first_tensor = next_tensor;
        next_tensor += layers::tensor_pairs(&record.layer, model.is_quantized()) as usize;
        // A layer without tensors in front of the first one with some has the input of the model.
        let described = if first_tensor == 0 || next_tensor > first_tensor { Some(first_tensor) } else { None };
        let entry = |quant: crate::format::QuantSection<'_>| described.and_then(|index| quant.entry(index));
        let input_quant = model.quant().map(|quant| entry(quant).map_or(running_quant, |entry| entry.input));
        visit(&LayerFacts {
            index: record.index,
            kind: record.layer.kind(),
            input,
            output: lowering.merged.unwrap_or(lowering.shape),
            result_shape: lowering.shape,
            input_quant,
            output_quant: model.quant().map(|_| match next_tensor {
                0 => input_quant.unwrap_or(lowering.quant),
                _ => lowering.quant,
            }),
            payload_bytes: payload_bytes(model, first_tensor..next_tensor),
            macs: macs.take(),
            result: lowering.operand(lowering.value),
        })?;
        (input, running_quant) = (lowering.merged.unwrap_or(lowering.shape), lowering.quant);
        Ok(())
    })
}

fn payload_bytes(model: &Model<'_>, tensors: core::ops::Range<usize>) -> usize {
    let pairs = tensors.flat_map(|index| [model.entry_at(false, index), model.entry_at(true, index)]);
    pairs.flatten().map(|entry| entry.num_bytes() as usize).sum()
}

/// Adds up the work of the steps and forgets them.
struct Macs<'c> {
    sum: &'c Cell<u64>,
    tables: u32,
}

impl StepSink for Macs<'_> {
    fn push(&mut self, step: Step) -> Result<(), Fault> {
        self.sum.set(self.sum.get().saturating_add(step.macs()));
        Ok(())
    }

    fn table(&mut self, bytes: u32) -> Result<(u32, Option<&mut [u8]>), Fault> {
        Ok((next_table(&mut self.tables, bytes)?, None))
    }
}
