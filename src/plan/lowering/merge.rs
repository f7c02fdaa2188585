//! What a step takes over from the layer behind it.

use super::{Lowering, Tensors, Weighted};
use crate::fault::Fault;
use crate::format::Layer;
use crate::format::records::{ActivationCode, Pool2d};
use crate::plan::steps::Op;
use crate::tensor::{Padding, Shape, Window};

impl Lowering<'_, '_> {
    /// Takes the batch norm that directly follows in the model, when it can become part of the present layer exactly.
    pub fn take_following_norm(&mut self, activation: ActivationCode, channels: u32) -> Result<Option<Tensors>, Fault> {
        match self.next {
            Some(Layer::BatchNorm2d(norm))
                if norm.channels == channels && activation.is_none() && !self.is_quantized() =>
            {
                self.fused_next = true;
                self.take(&[channels], channels).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Lets a convolution (`Op::Conv2d` or `Op::DepthwiseConv2d`) end with the max pool of the next layer, where that halves
    /// height and width and the kernels can do both at once. Gives the shape of the result.
    ///
    /// Requantising keeps the order of sums, so the largest sum of a block is requantised instead of all four. A last row
    /// or column that no block contains is not computed.
    pub fn merge_following_pool(&mut self, op: Op, step: &mut Weighted) -> Result<Shape, Fault> {
        let shape = step.window.output();
        let window = Window { out_h: shape.h / 2 * 2, out_w: shape.w / 2 * 2, ..step.window };
        let halves = matches!(&self.next, Some(Layer::MaxPool2d(pool)) if halves(pool)) && shape.h >= 2 && shape.w >= 2;
        if !halves || !self.is_quantized() || !self.can_pool(op, &Weighted { window, ..*step })? {
            return Ok(shape);
        }
        (step.window, step.pooled) = (window, true);
        (self.fused_next, self.merged) = (true, Some(shape));
        Ok(Shape { h: window.out_h / 2, w: window.out_w / 2, ..shape })
    }
}

/// Whether a pool takes 2 x 2 blocks that lie next to each other.
fn halves(pool: &Pool2d) -> bool {
    pool.pool() == (2, 2) && pool.stride == 2 && pool.pads() == Padding::default()
}
