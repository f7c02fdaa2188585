//! The layer kinds: one file each, with its shape rule and its lowering to primitive steps.
//!
//! This is the only place that knows what a fused block is. A file offers
//!
//! * `output_shape(record, input, ...)`: the shape rule, which refuses an input the layer cannot take;
//! * `lower(record, lowering)`: takes the layer's tensors in catalog order and emits its steps.
//!
//! `docs/adding-a-layer.md` lists every place that a new kind touches.

pub mod avg_pool2d;
pub mod batch_norm2d;
pub mod conv2d;
pub mod convnextv2_block;
pub mod dense;
pub mod depthwise_conv2d;
pub mod feature_tap;
pub mod flatten;
pub(crate) mod groups;
pub mod layernorm2d;
pub mod max_pool2d;
pub mod mobilenetv4_uib;
pub mod resnet_basic_block;
pub mod yolox_decoupled_head;
pub mod yolox_pafpn_multiscale;

use crate::fault::{Fault, Text, text};
use crate::format::Layer;
use crate::format::records::ActivationCode;
use crate::kernels::Activation;
use crate::plan::lowering::Lowering;
use crate::tensor::Shape;
use groups::{BLOCKS, FLOAT, YOLOX};

/// Shape after `layer`. `weight_elems` is the element count of the layer's first weight tensor, 0 if it has none.
pub fn output_shape(layer: &Layer, input: Shape, weight_elems: u32) -> Result<Shape, Fault> {
    match layer {
        Layer::Dense(record) => dense::output_shape(record, input),
        Layer::Conv2d(record) => conv2d::output_shape(record, input),
        Layer::MaxPool2d(record) => max_pool2d::output_shape(record, input),
        Layer::Flatten => flatten::output_shape(input),
        Layer::AvgPool2d(record) => avg_pool2d::output_shape(record, input),
        Layer::BatchNorm2d(record) => batch_norm2d::output_shape(record, input),
        Layer::DepthwiseConv2d(record) => depthwise_conv2d::output_shape(record, input, weight_elems),
        Layer::ConvNextV2Block(record) => convnextv2_block::output_shape(record, input),
        Layer::MobilenetV4Uib(record) => mobilenetv4_uib::output_shape(record, input),
        Layer::ResnetBasicBlock(record) => resnet_basic_block::output_shape(record, input),
        Layer::LayerNorm2d(record) => layernorm2d::output_shape(record, input),
        Layer::YoloxDecoupledHead(record) => yolox_decoupled_head::output_shape(record, input),
        Layer::FeatureTap(record) => feature_tap::output_shape(record, input),
        Layer::YoloxPafpnMultiscale(record) => yolox_pafpn_multiscale::output_shape(record, input),
    }
}

/// Emits the steps of `layer`.
pub fn lower(layer: &Layer, lowering: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    match layer {
        Layer::Dense(record) => dense::lower(record, lowering),
        Layer::Conv2d(record) => conv2d::lower(record, lowering),
        Layer::MaxPool2d(record) => max_pool2d::lower(record, lowering),
        Layer::Flatten => flatten::lower(lowering),
        Layer::AvgPool2d(record) => avg_pool2d::lower(record, lowering),
        Layer::BatchNorm2d(record) if FLOAT => batch_norm2d::lower(record, lowering),
        Layer::DepthwiseConv2d(record) => depthwise_conv2d::lower(record, lowering),
        Layer::ConvNextV2Block(record) if BLOCKS && FLOAT => convnextv2_block::lower(record, lowering),
        Layer::MobilenetV4Uib(record) if BLOCKS => mobilenetv4_uib::lower(record, lowering),
        Layer::ResnetBasicBlock(record) if BLOCKS => resnet_basic_block::lower(record, lowering),
        Layer::LayerNorm2d(record) if BLOCKS && FLOAT => layernorm2d::lower(record, lowering),
        Layer::YoloxDecoupledHead(record) if YOLOX && FLOAT => yolox_decoupled_head::lower(record, lowering),
        Layer::FeatureTap(record) if YOLOX && FLOAT => feature_tap::lower(record, lowering),
        Layer::YoloxPafpnMultiscale(record) if YOLOX && FLOAT => yolox_pafpn_multiscale::lower(record, lowering),
        _ => Err(text!(Unsupported, note "int8 has no form of this layer; keep this model in float").fault()),
    }
}

/// Pairs of a weight and a bias tensor that a layer owns.
///
/// int8 blocks have their batch norm folded into the convolutions, so they own fewer pairs than float blocks.
pub fn tensor_pairs(layer: &Layer, is_quantized: bool) -> u32 {
    let norms = if is_quantized { 1 } else { 2 };
    match layer {
        Layer::Dense(_) | Layer::Conv2d(_) | Layer::DepthwiseConv2d(_) => 1,
        Layer::BatchNorm2d(_) | Layer::LayerNorm2d(_) => 1,
        Layer::MaxPool2d(_) | Layer::AvgPool2d(_) | Layer::Flatten | Layer::FeatureTap(_) => 0,
        Layer::ConvNextV2Block(_) => convnextv2_block::TENSOR_PAIRS,
        Layer::MobilenetV4Uib(record) => norms * mobilenetv4_uib::convolutions(record),
        Layer::ResnetBasicBlock(record) => norms * resnet_basic_block::convolutions(record),
        Layer::YoloxDecoupledHead(record) => yolox_decoupled_head::tensor_pairs(record.num_convs),
        Layer::YoloxPafpnMultiscale(record) => yolox_pafpn_multiscale::tensor_pairs(record.num_convs),
    }
}

/// The activation of a record that can be part of a kernel's epilogue. Softmax is not elementwise: it becomes a step of
/// its own behind the layer ([`lower_softmax`]).
#[inline(never)]
pub(crate) fn epilogue_activation(code: ActivationCode, alpha: f32) -> Activation {
    match code {
        ActivationCode::RELU => Activation::Relu,
        ActivationCode::SIGMOID => Activation::Sigmoid,
        ActivationCode::TANH => Activation::Tanh,
        ActivationCode::LEAKY_RELU => Activation::LeakyRelu(alpha),
        ActivationCode::RELU6 => Activation::Relu6,
        _ => Activation::None,
    }
}

/// Emits the softmax of a record that asks for it, over the running result. int8 convolutions ignore it, as in the
/// reference engine: only a dense layer's logits are scaled for one.
#[inline(never)]
pub(crate) fn lower_softmax(code: ActivationCode, lowering: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let is_ignored = lowering.is_quantized() && !lowering.shape.is_rows;
    if code != ActivationCode::SOFTMAX || is_ignored {
        return Ok(());
    }
    lowering.softmax(lowering.shape, lowering.value)
}

/// Refuses rows: most kinds work on maps, before a flatten layer.
#[inline(never)]
pub(crate) fn require_map(input: Shape) -> Result<(), Fault> {
    if !input.is_rows {
        return Ok(());
    }
    Err(text!(Layer, note "needs a [height, width, channels] map, but its input is flat").fault())
}

/// Refuses a map with another number of channels than the record says; `text` tells what is expected.
#[inline(never)]
pub(crate) fn require_channels(text: &'static Text, record: u32, input: Shape) -> Result<(), Fault> {
    require_map(input)?;
    if record == input.c {
        return Ok(());
    }
    Err(text.told(record as usize, input.c as usize))
}

/// Refuses 0 for a count that a record states; `text` tells the least right one.
#[inline(never)]
pub(crate) fn require_positive(text: &'static Text, value: u32) -> Result<(), Fault> {
    if value > 0 {
        return Ok(());
    }
    Err(text.told(0, 1))
}
