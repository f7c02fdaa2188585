//! Taking tensors from the catalog in order.

use super::Lowering;
use crate::error::Error;
use crate::fault::{Fault, Text, text};
use crate::format::{Model, TensorDesc};
use crate::tensor::checked_product;

/// A weight tensor and its bias.
///
/// Offsets count elements: float32 from the start of the payload, or in int8 models int8 from the start of the weights and
/// int32 from the start of the biases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tensors {
    /// First weight element.
    pub weights: u32,
    /// First bias element.
    pub bias: u32,
    /// Index in the catalogs, and of the descriptor of an int8 model.
    pub index: u32,
}

/// Position in both catalogs, which are always taken from in pairs.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    index: usize,
    weights: usize,
    biases: usize,
}

impl Cursor {
    pub(super) fn start(model: &Model<'_>) -> Self {
        let biases = model.payload_offset() + model.header().weights_bytes as usize;
        Self { index: 0, weights: model.payload_offset(), biases }
    }
}

impl Lowering<'_, '_> {
    /// Position in the catalogs, to come back to with [`Lowering::seek`].
    pub fn position(&self) -> Cursor {
        self.cursor
    }

    /// Goes back to a position.
    pub fn seek(&mut self, position: Cursor) {
        self.cursor = position;
    }

    /// Number of elements of the next weight tensor, for records that do not say their whole geometry.
    pub fn next_weight_elems(&self) -> Result<u32, Fault> {
        self.peek(false).map(|desc| desc.entry.num_elements())
    }

    /// Takes the next weight tensor, whose extents are `weights`, and the next bias of `biases` elements.
    pub fn take(&mut self, weights: &[u32], biases: u32) -> Result<Tensors, Fault> {
        let expected = checked_product(weights)
            .ok_or(text!(SizeOverflow, note "the weights of this layer are too large").fault())?;
        let (weight, bias) = (self.peek(false)?, self.peek(true)?);
        check_elems(text!(Weights: expected, field "elements of the weight tensor"), &weight, expected)?;
        check_elems(text!(Weights: expected, field "elements of the bias tensor"), &bias, biases)?;
        self.cursor = Cursor {
            index: self.cursor.index + 1,
            weights: weight.offset + weight.entry.num_bytes() as usize,
            biases: bias.offset + bias.entry.num_bytes() as usize,
        };
        let start = Cursor::start(self.model);
        let bias_origin = if self.is_quantized() { start.biases } else { start.weights };
        Ok(Tensors {
            weights: elements(&weight, start.weights),
            bias: elements(&bias, bias_origin),
            index: (self.cursor.index - 1) as u32,
        })
    }

    /// Takes the batch norm of `channels` that a block keeps behind each of its convolutions. int8 blocks have none: their
    /// batch norm was folded into the convolution before quantisation.
    pub fn take_block_norm(&mut self, channels: u32) -> Result<Option<Tensors>, Fault> {
        if self.is_quantized() { Ok(None) } else { self.take(&[channels], channels).map(Some) }
    }

    /// Refuses tensors that no layer has taken.
    pub(super) fn check_all_taken(&self) -> Result<(), Error> {
        let header = self.model.header();
        let weights =
            text!(Weights: expected, field "weight tensors used by the layers", note "the catalog holds more");
        leftover(weights, self.cursor.index, header.num_weight_tensors, 32)?;
        let biases = text!(Weights: expected, field "bias tensors used by the layers", note "the catalog holds more");
        leftover(biases, self.cursor.index, header.num_bias_tensors, 36)
    }

    fn peek(&self, is_bias: bool) -> Result<TensorDesc, Fault> {
        let offset = if is_bias { self.cursor.biases } else { self.cursor.weights };
        let missing = if is_bias {
            text!(Weights: at_least, field "number of bias tensors")
        } else {
            text!(Weights: at_least, field "number of weight tensors")
        };
        let count = self.cursor.index;
        let entry = self.model.entry_at(is_bias, count).ok_or(missing.told(count, count + 1))?;
        Ok(TensorDesc { entry, offset })
    }
}

fn elements(desc: &TensorDesc, origin: usize) -> u32 {
    ((desc.offset - origin) / desc.entry.dtype.bytes() as usize) as u32
}

fn check_elems(text: &'static Text, desc: &TensorDesc, expected: u32) -> Result<(), Fault> {
    let found = desc.entry.num_elements();
    if found == expected { Ok(()) } else { Err(text.told(found as usize, expected as usize)) }
}

fn leftover(text: &'static Text, used: usize, have: u32, at: usize) -> Result<(), Error> {
    if used == have as usize { Ok(()) } else { Err(text.told(used, have as usize).error().at(at)) }
}
