//! One struct per layer kind: the fields of its record, and what they mean.

use super::reader::Reader;
use super::write::Sink;
use crate::error::ErrorKind;
use crate::fault::text;
use crate::layers::groups::{self, BLOCKS, YOLOX};
use crate::tensor::Padding;

/// Name of a layer kind byte, as the specification spells it; `None` outside 1 to 14.
pub const fn kind_name(kind: u8) -> Option<&'static str> {
    Some(match kind {
        1 => "dense",
        2 => "conv2d",
        3 => "max_pool2d",
        4 => "flatten",
        5 => "avg_pool2d",
        6 => "batch_norm2d",
        7 => "depthwise_conv2d",
        8 => "convnextv2_block",
        9 => "mobilenetv4_uib",
        10 => "resnet_basic_block",
        11 => "layernorm2d",
        12 => "yolox_decoupled_head",
        13 => "feature_tap",
        14 => "yolox_pafpn_multiscale",
        _ => return None,
    })
}

/// Activation byte of dense, conv2d and depthwise_conv2d records. Bytes above 6 mean no activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivationCode(pub u8);

impl ActivationCode {
    /// No activation.
    pub const NONE: Self = Self(0);
    /// Rectified linear unit.
    pub const RELU: Self = Self(1);
    /// Logistic function.
    pub const SIGMOID: Self = Self(2);
    /// Hyperbolic tangent.
    pub const TANH: Self = Self(3);
    /// Leaky rectified linear unit with the record's alpha.
    pub const LEAKY_RELU: Self = Self(4);
    /// Rectified linear unit clamped at 6.
    pub const RELU6: Self = Self(5);
    /// Softmax over the whole tensor, or over each row of a batch.
    pub const SOFTMAX: Self = Self(6);

    /// Name as the specification spells it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            1 => "relu",
            2 => "sigmoid",
            3 => "tanh",
            4 => "leaky_relu",
            5 => "relu6",
            6 => "softmax",
            _ => "none",
        }
    }

    /// True when the layer's result is its accumulator.
    pub const fn is_none(self) -> bool {
        self.0 == 0 || self.0 > 6
    }
}

/// Fully connected layer (kind 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dense {
    /// Output features.
    pub units: u32,
    /// Activation of the result.
    pub activation: ActivationCode,
    /// Slope of leaky_relu for negative inputs.
    pub alpha: f32,
}

/// Convolution with a square kernel (kind 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conv2d {
    /// Kernel height and width.
    pub kernel_size: u32,
    /// Stride of both axes.
    pub stride: u32,
    /// Output channels.
    pub filters: u32,
    /// Activation of the result.
    pub activation: ActivationCode,
    /// Padding above.
    pub pad_h: u8,
    /// Padding to the left.
    pub pad_w: u8,
    /// Extra padding below (low four bits) and to the right (high four bits).
    pub pad_extra: u8,
    /// Slope of leaky_relu for negative inputs.
    pub alpha: f32,
}

impl Conv2d {
    /// The four paddings.
    pub fn pads(&self) -> Padding {
        pads(self.pad_h, self.pad_w, self.pad_extra & 15, self.pad_extra >> 4)
    }
}

/// Depthwise convolution (kind 7).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthwiseConv2d {
    /// Kernel height.
    pub kernel_h: u32,
    /// Stride of both axes.
    pub stride: u32,
    /// Input and output channels.
    pub channels: u32,
    /// Activation of the result.
    pub activation: ActivationCode,
    /// Padding above.
    pub pad_h: u8,
    /// Padding to the left.
    pub pad_w: u8,
    /// Kernel width or extra padding; [`DepthwiseConv2d::kernel_and_pads`] tells which.
    pub kernel_w: u8,
    /// Slope of leaky_relu for negative inputs.
    pub alpha: f32,
}

impl DepthwiseConv2d {
    /// Kernel `(height, width)` and paddings.
    ///
    /// The byte `kernel_w` holds either the kernel's width or the extra padding of a square kernel; only the number of
    /// weights per channel (`area`) tells which. `None` when no reading gives that area.
    pub fn kernel_and_pads(&self, area: u32) -> Option<((u32, u32), Padding)> {
        let (kh, byte) = (self.kernel_h, u32::from(self.kernel_w));
        let plain = pads(self.pad_h, self.pad_w, 0, 0);
        let extra = pads(self.pad_h, self.pad_w, self.kernel_w & 15, self.kernel_w >> 4);
        let has_area = |kw: u32| kh.checked_mul(kw) == Some(area);
        if has_area(kh) {
            return Some(((kh, kh), if byte == kh { plain } else { extra }));
        }
        let literal = if byte == 0 { kh } else { byte };
        if has_area(literal) {
            return Some(((kh, literal), plain));
        }
        let kw = area.checked_div(kh).filter(|&kw| has_area(kw))?;
        (extra != plain).then_some(((kh, kw), extra))
    }
}

/// Maximum or average pooling (kinds 3 and 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool2d {
    /// Pool height.
    pub pool_size: u32,
    /// Stride of both axes.
    pub stride: u32,
    /// Padding above.
    pub pad_h: u8,
    /// Padding to the left.
    pub pad_w: u8,
    /// Pool width (low byte, 0 means square), extra padding below (bits 8-11) and to the right (bits 12-15).
    pub packed: u16,
}

impl Pool2d {
    /// Pool `(height, width)`.
    pub fn pool(&self) -> (u32, u32) {
        let width = u32::from(self.packed & 0xFF);
        (self.pool_size, if width == 0 { self.pool_size } else { width })
    }

    /// The four paddings.
    pub fn pads(&self) -> Padding {
        let [_, extra] = self.packed.to_le_bytes();
        pads(self.pad_h, self.pad_w, extra & 15, extra >> 4)
    }
}

fn pads(top: u8, left: u8, extra_bottom: u8, extra_right: u8) -> Padding {
    let (top, left) = (u32::from(top), u32::from(left));
    Padding { top, left, bottom: top + u32::from(extra_bottom), right: left + u32::from(extra_right) }
}

/// Folded batch normalisation (kind 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BatchNorm2d {
    /// Channels.
    pub channels: u32,
}

/// Block with a channel count and an epsilon: convnextv2_block (kind 8) and layernorm2d (kind 11).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelsEps {
    /// Channels.
    pub channels: u32,
    /// Added to variances and mean norms.
    pub eps: f32,
}

/// MobileNetV4 universal inverted bottleneck (kind 9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MobilenetV4Uib {
    /// Input channels.
    pub in_channels: u32,
    /// Output channels.
    pub out_channels: u32,
    /// Kernel of the depthwise convolution before the expansion; 0 = none.
    pub start_dw_kernel: u8,
    /// Kernel of the depthwise convolution after the expansion; 0 = none.
    pub middle_dw_kernel: u8,
    /// Stride of the block.
    pub stride: u8,
    /// Non-zero when the middle depthwise convolution carries the stride.
    pub middle_dw_downsample: u8,
    /// Expanded channels = this times the input channels, rounded to a multiple of 8.
    pub expand_ratio: f32,
}

/// ResNet basic block (kind 10).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResnetBasicBlock {
    /// Input channels.
    pub in_channels: u32,
    /// Output channels.
    pub out_channels: u32,
    /// Stride of the first convolution and of the shortcut.
    pub stride: u8,
}

/// YOLOX decoupled head (kind 12).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YoloxDecoupledHead {
    /// Input channels.
    pub in_channels: u32,
    /// Channels inside the head.
    pub hidden_dim: u32,
    /// Classes.
    pub num_classes: u32,
    /// 3x3 convolutions in each of the two branches.
    pub num_convs: u8,
}

/// Marks a map for the PAFPN (kind 13).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureTap {
    /// Channels.
    pub channels: u32,
    /// 0 to 3; the PAFPN reads 0 (C3) and 1 (C4).
    pub tap_id: u8,
}

/// YOLOX feature pyramid with three heads (kind 14).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YoloxPafpnMultiscale {
    /// Channels of tap 0.
    pub c3_channels: u32,
    /// Channels of tap 1.
    pub c4_channels: u32,
    /// Channels of the input.
    pub c5_channels: u32,
    /// Channels inside the pyramid and the heads.
    pub hidden_dim: u32,
    /// Classes.
    pub num_classes: u32,
    /// 3x3 convolutions in each branch of a head.
    pub num_convs: u8,
}

/// A layer record.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant carries the documented struct of the same name")]
pub enum Layer {
    Dense(Dense),
    Conv2d(Conv2d),
    MaxPool2d(Pool2d),
    Flatten,
    AvgPool2d(Pool2d),
    BatchNorm2d(BatchNorm2d),
    DepthwiseConv2d(DepthwiseConv2d),
    ConvNextV2Block(ChannelsEps),
    MobilenetV4Uib(MobilenetV4Uib),
    ResnetBasicBlock(ResnetBasicBlock),
    LayerNorm2d(ChannelsEps),
    YoloxDecoupledHead(YoloxDecoupledHead),
    FeatureTap(FeatureTap),
    YoloxPafpnMultiscale(YoloxPafpnMultiscale),
}

impl Layer {
    /// The kind byte, 1 to 14.
    pub const fn kind(&self) -> u8 {
        match self {
            Self::Dense(_) => 1,
            Self::Conv2d(_) => 2,
            Self::MaxPool2d(_) => 3,
            Self::Flatten => 4,
            Self::AvgPool2d(_) => 5,
            Self::BatchNorm2d(_) => 6,
            Self::DepthwiseConv2d(_) => 7,
            Self::ConvNextV2Block(_) => 8,
            Self::MobilenetV4Uib(_) => 9,
            Self::ResnetBasicBlock(_) => 10,
            Self::LayerNorm2d(_) => 11,
            Self::YoloxDecoupledHead(_) => 12,
            Self::FeatureTap(_) => 13,
            Self::YoloxPafpnMultiscale(_) => 14,
        }
    }

    /// Reads one record: four prefix bytes and the body of its kind.
    #[inline(never)]
    pub fn read(r: &mut Reader<'_>) -> Self {
        let at = r.offset();
        let kind = r.u8("layer kind");
        let text = text!(LayerKind: at_most, field "layer kind");
        r.require(kind_name(kind).is_some(), text, [kind.into(), 14], at);
        r.reserved(3, ErrorKind::Layer);
        let layer = match kind {
            1 => Self::Dense(Dense::read(r)),
            2 => Self::Conv2d(Conv2d::read(r)),
            3 => Self::MaxPool2d(Pool2d::read(r)),
            4 => Self::Flatten,
            5 => Self::AvgPool2d(Pool2d::read(r)),
            6 => Self::BatchNorm2d(BatchNorm2d::read(r)),
            7 => Self::DepthwiseConv2d(DepthwiseConv2d::read(r)),
            8 if BLOCKS => Self::ConvNextV2Block(ChannelsEps::read(r)),
            9 if BLOCKS => Self::MobilenetV4Uib(MobilenetV4Uib::read(r)),
            10 if BLOCKS => Self::ResnetBasicBlock(ResnetBasicBlock::read(r)),
            11 if BLOCKS => Self::LayerNorm2d(ChannelsEps::read(r)),
            12 if YOLOX => Self::YoloxDecoupledHead(YoloxDecoupledHead::read(r)),
            13 if YOLOX => Self::FeatureTap(FeatureTap::read(r)),
            14 if YOLOX => Self::YoloxPafpnMultiscale(YoloxPafpnMultiscale::read(r)),
            _ => {
                // Unknown kinds were refused above.
                r.refuse(groups::left_out(kind), [0; 2], at);
                Self::Flatten
            }
        };
        r.fault_in_kind(kind);
        layer
    }

    /// Writes the record.
    pub fn write(&self, sink: &mut dyn Sink) {
        sink.bytes(&[self.kind(), 0, 0, 0]);
        match self {
            Self::Dense(record) => record.write(sink),
            Self::Conv2d(record) => record.write(sink),
            Self::MaxPool2d(record) | Self::AvgPool2d(record) => record.write(sink),
            Self::Flatten => {}
            Self::BatchNorm2d(record) => record.write(sink),
            Self::DepthwiseConv2d(record) => record.write(sink),
            Self::ConvNextV2Block(record) | Self::LayerNorm2d(record) => record.write(sink),
            Self::MobilenetV4Uib(record) => record.write(sink),
            Self::ResnetBasicBlock(record) => record.write(sink),
            Self::YoloxDecoupledHead(record) => record.write(sink),
            Self::FeatureTap(record) => record.write(sink),
            Self::YoloxPafpnMultiscale(record) => record.write(sink),
        }
    }
}
