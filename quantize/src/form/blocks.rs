//! The convolutions of blocks, as layers of their own with their batch norm folded into them.

use netkit::format::Layer;
use netkit::format::records::{ActivationCode, Conv2d, DepthwiseConv2d, MobilenetV4Uib, ResnetBasicBlock};
use netkit::layers::{mobilenetv4_uib, resnet_basic_block};

use super::{Linear, Tensor, same_padding};

type Pairs = std::vec::IntoIter<(Tensor, Tensor)>;

/// Start, expand, middle and project, as far as the block has them.
pub(super) fn uib(block: &MobilenetV4Uib, pairs: &mut Pairs) -> Vec<Linear> {
    let (start_stride, middle_stride) = mobilenetv4_uib::strides(block);
    // The library has checked the block.
    let expanded = mobilenetv4_uib::expanded_channels(block).unwrap_or(block.in_channels);
    let (start, middle) = (u32::from(block.start_dw_kernel), u32::from(block.middle_dw_kernel));
    let mut linears = Vec::new();
    if start != 0 {
        let record = depthwise(start, start_stride, block.in_channels, ActivationCode::NONE);
        linears.extend(take("start", record, pairs));
    }
    linears.extend(take("expand", conv2d(1, 1, expanded, ActivationCode::RELU), pairs));
    if middle != 0 {
        let record = depthwise(middle, middle_stride, expanded, ActivationCode::RELU);
        linears.extend(take("middle", record, pairs));
    }
    linears.extend(take("project", conv2d(1, 1, block.out_channels, ActivationCode::NONE), pairs));
    linears
}

/// Both convolutions, and the projection of the shortcut if there is one.
pub(super) fn resnet(block: &ResnetBasicBlock, pairs: &mut Pairs) -> Vec<Linear> {
    let (stride, channels) = (u32::from(block.stride), block.out_channels);
    let mut linears = Vec::new();
    linears.extend(take("conv1", conv2d(3, stride, channels, ActivationCode::RELU), pairs));
    linears.extend(take("conv2", conv2d(3, 1, channels, ActivationCode::NONE), pairs));
    if resnet_basic_block::has_projection(block) {
        linears.extend(take("shortcut", conv2d(1, stride, channels, ActivationCode::NONE), pairs));
    }
    linears
}

/// A convolution and the batch norm behind it.
fn take(role: &'static str, record: Layer, pairs: &mut Pairs) -> Option<Linear> {
    let mut linear = Linear { role, ..Linear::alone(record, pairs.next()?) };
    let (scale, shift) = pairs.next()?;
    linear.fold(&scale.values, &shift.values);
    Some(linear)
}

fn conv2d(kernel: u32, stride: u32, filters: u32, activation: ActivationCode) -> Layer {
    let pad = same_padding(kernel);
    Layer::Conv2d(Conv2d {
        kernel_size: kernel,
        stride,
        filters,
        activation,
        pad_h: pad.top as u8,
        pad_w: pad.left as u8,
        pad_extra: 0,
        alpha: 0.0,
    })
}

fn depthwise(kernel: u32, stride: u32, channels: u32, activation: ActivationCode) -> Layer {
    let pad = same_padding(kernel);
    Layer::DepthwiseConv2d(DepthwiseConv2d {
        kernel_h: kernel,
        stride,
        channels,
        activation,
        pad_h: pad.top as u8,
        pad_w: pad.left as u8,
        kernel_w: kernel as u8,
        alpha: 0.0,
    })
}
