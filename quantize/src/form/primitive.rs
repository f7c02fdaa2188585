//! Layers with one weight tensor, and batch norm.

use netkit::format::Layer;
use netkit::format::records::{ActivationCode, DepthwiseConv2d};

use super::{Former, Linear, Tensor, activation};

impl Linear {
    /// A layer of its own.
    pub(super) fn alone(record: Layer, (weights, bias): (Tensor, Tensor)) -> Self {
        let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
        Self { role: "", record, dims: weights.dims, weights: wide(weights.values), bias: wide(bias.values) }
    }
}

impl Former<'_> {
    /// Takes a dense layer or convolution, and the batch norms behind it; gives the index of the next layer.
    pub(super) fn weighted(&mut self, index: usize) -> usize {
        let record = self.records[index];
        let Some(pair) = self.pairs.next() else { return self.records.len() };
        let mut linear = Linear::alone(record, pair);
        let mut next = index + 1;
        while activation(&record).is_none() && matches!(self.records.get(next), Some(Layer::BatchNorm2d(_))) {
            if let Some((scale, shift)) = self.pairs.next() {
                linear.fold(&scale.values, &shift.values);
            }
            next += 1;
        }
        if activation(&record) == ActivationCode::SOFTMAX && !matches!(record, Layer::Dense(_)) {
            self.refuse(
                index,
                "int8 has softmax behind dense layers only; leave it out, the largest output stays the same",
            );
        }
        self.push(index, record, next - 1, vec![linear]);
        next
    }

    /// A batch norm that no weights can take is a depthwise convolution of single pixels.
    pub(super) fn norm(&mut self, index: usize, channels: u32) {
        let Some((mut scale, shift)) = self.pairs.next() else { return };
        let record = Layer::DepthwiseConv2d(DepthwiseConv2d {
            kernel_h: 1,
            stride: 1,
            channels,
            activation: ActivationCode::NONE,
            pad_h: 0,
            pad_w: 0,
            kernel_w: 1,
            alpha: 0.0,
        });
        scale.dims = vec![channels, 1, 1];
        self.push(index, record, index, vec![Linear::alone(record, (scale, shift))]);
    }
}
