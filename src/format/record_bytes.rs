//! The bytes of each layer kind's record: the tables of the specification's section 3.2, field by field, read and written.

use super::reader::Reader;
use super::records::{
    ActivationCode, BatchNorm2d, ChannelsEps, Conv2d, Dense, DepthwiseConv2d, FeatureTap, MobilenetV4Uib, Pool2d,
    ResnetBasicBlock, YoloxDecoupledHead, YoloxPafpnMultiscale,
};
use super::write::Sink;
use crate::error::ErrorKind;

impl Dense {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let units = r.u32("units");
        let activation = ActivationCode(r.u8("activation"));
        r.reserved(3, ErrorKind::Layer);
        Self { units, activation, alpha: r.finite_f32("alpha", ErrorKind::Layer) }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.units);
        sink.bytes(&[self.activation.0, 0, 0, 0]);
        sink.f32(self.alpha);
    }
}

impl Conv2d {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        Self {
            kernel_size: r.u32("kernel_size"),
            stride: r.u32("stride"),
            filters: r.u32("filters"),
            activation: ActivationCode(r.u8("activation")),
            pad_h: r.u8("pad_h"),
            pad_w: r.u8("pad_w"),
            pad_extra: r.u8("pad_extra"),
            alpha: r.finite_f32("alpha", ErrorKind::Layer),
        }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.kernel_size);
        sink.u32(self.stride);
        sink.u32(self.filters);
        sink.bytes(&[self.activation.0, self.pad_h, self.pad_w, self.pad_extra]);
        sink.f32(self.alpha);
    }
}

impl DepthwiseConv2d {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let conv = Conv2d::read(r);
        Self {
            kernel_h: conv.kernel_size,
            stride: conv.stride,
            channels: conv.filters,
            activation: conv.activation,
            pad_h: conv.pad_h,
            pad_w: conv.pad_w,
            kernel_w: conv.pad_extra,
            alpha: conv.alpha,
        }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.kernel_h);
        sink.u32(self.stride);
        sink.u32(self.channels);
        sink.bytes(&[self.activation.0, self.pad_h, self.pad_w, self.kernel_w]);
        sink.f32(self.alpha);
    }
}

impl Pool2d {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        Self {
            pool_size: r.u32("pool_size"),
            stride: r.u32("stride"),
            pad_h: r.u8("pad_h"),
            pad_w: r.u8("pad_w"),
            packed: r.u16("pool width and extra padding"),
        }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.pool_size);
        sink.u32(self.stride);
        sink.bytes(&[self.pad_h, self.pad_w]);
        sink.u16(self.packed);
    }
}

impl BatchNorm2d {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let channels = r.u32("channels");
        r.reserved(4, ErrorKind::Layer);
        Self { channels }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.channels);
        sink.u32(0);
    }
}

impl ChannelsEps {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let channels = r.u32("channels");
        r.reserved(4, ErrorKind::Layer);
        Self { channels, eps: r.finite_f32("eps", ErrorKind::Layer) }
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.channels);
        sink.u32(0);
        sink.f32(self.eps);
    }
}

impl MobilenetV4Uib {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let record = Self {
            in_channels: r.u32("in_channels"),
            out_channels: r.u32("out_channels"),
            start_dw_kernel: r.u8("start_dw_kernel"),
            middle_dw_kernel: r.u8("middle_dw_kernel"),
            stride: r.u8("stride"),
            middle_dw_downsample: r.u8("middle_dw_downsample"),
            expand_ratio: r.finite_f32("expand_ratio", ErrorKind::Layer),
        };
        r.reserved(4, ErrorKind::Layer);
        record
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.in_channels);
        sink.u32(self.out_channels);
        sink.bytes(&[self.start_dw_kernel, self.middle_dw_kernel, self.stride, self.middle_dw_downsample]);
        sink.f32(self.expand_ratio);
        sink.u32(0);
    }
}

impl ResnetBasicBlock {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let record =
            Self { in_channels: r.u32("in_channels"), out_channels: r.u32("out_channels"), stride: r.u8("stride") };
        r.reserved(3, ErrorKind::Layer);
        record
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.in_channels);
        sink.u32(self.out_channels);
        sink.bytes(&[self.stride, 0, 0, 0]);
    }
}

impl YoloxDecoupledHead {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let record = Self {
            in_channels: r.u32("in_channels"),
            hidden_dim: r.u32("hidden_dim"),
            num_classes: r.u32("num_classes"),
            num_convs: r.u8("num_convs"),
        };
        r.reserved(3, ErrorKind::Layer);
        record
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.in_channels);
        sink.u32(self.hidden_dim);
        sink.u32(self.num_classes);
        sink.bytes(&[self.num_convs, 0, 0, 0]);
    }
}

impl FeatureTap {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let record = Self { channels: r.u32("channels"), tap_id: r.u8("tap_id") };
        r.reserved(3, ErrorKind::Layer);
        record
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        sink.u32(self.channels);
        sink.bytes(&[self.tap_id, 0, 0, 0]);
    }
}

impl YoloxPafpnMultiscale {
    pub(super) fn read(r: &mut Reader<'_>) -> Self {
        let record = Self {
            c3_channels: r.u32("c3_channels"),
            c4_channels: r.u32("c4_channels"),
            c5_channels: r.u32("c5_channels"),
            hidden_dim: r.u32("hidden_dim"),
            num_classes: r.u32("num_classes"),
            num_convs: r.u8("num_convs"),
        };
        r.reserved(3, ErrorKind::Layer);
        record
    }

    pub(super) fn write(&self, sink: &mut dyn Sink) {
        for value in [self.c3_channels, self.c4_channels, self.c5_channels, self.hidden_dim, self.num_classes] {
            sink.u32(value);
        }
        sink.bytes(&[self.num_convs, 0, 0, 0]);
    }
}
