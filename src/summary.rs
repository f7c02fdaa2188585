//! The Network Summary of the specification's section 11.1.

use core::fmt::{self, Write};

use crate::format::{Layer, Model, NETWORK_CNN, NETWORK_MLP};
use crate::plan;
use crate::text::{Dims, General};

const DOUBLE_RULE: &str = "=====================================================";
const SINGLE_RULE: &str = "-----------------------------------------------------";

/// Writes the summary of a model called `name`.
pub fn write(model: &Model<'_>, name: &str, out: &mut dyn Write) -> fmt::Result {
    let header = model.header();
    let kind = match header.network {
        NETWORK_MLP => "MLP",
        NETWORK_CNN => "CNN",
        _ => "Unknown",
    };
    let dims = header.input_shape.get(..usize::from(header.input_rank)).unwrap_or(&[]);
    let floats = model.payload_bytes() / 4;
    writeln!(out, "{DOUBLE_RULE}\nNetwork Summary\n{DOUBLE_RULE}\n")?;
    writeln!(out, "Name        : {name}\nType        : {kind}\nVersion     : {}\n", header.version)?;
    writeln!(out, "Input Shape : {}\n", Dims(dims))?;
    writeln!(out, "Layers ({})\n{SINGLE_RULE}", header.num_layers)?;
    for record in model.layers() {
        writeln!(out, "  [{}] {}", record.index, LayerText(&record.layer))?;
    }
    writeln!(out, "{SINGLE_RULE}")?;
    match plan::shapes(model).and_then(|(input, output)| Ok((input.elements()?, output.elements()?))) {
        Ok((input, output)) => writeln!(out, "Input elements : {input}\nOutput elements: {output}")?,
        Err(error) => writeln!(out, "Output elements: unknown ({error})")?,
    }
    writeln!(out, "Weight floats  : {floats}\n{DOUBLE_RULE}")
}

/// File name of a path without its folders and its last extension.
pub fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').or_else(|| path.rsplit_once('\\')).map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// One line about a layer: its name and its fields.
#[derive(Clone, Copy, Debug)]
pub struct LayerText<'a>(pub &'a Layer);

impl fmt::Display for LayerText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Layer::Dense(r) => write!(f, "Dense units={} activation={}", r.units, r.activation.name()),
            Layer::Conv2d(r) => {
                write!(f, "Conv2D kernel={} stride={} filters={} ", r.kernel_size, r.stride, r.filters)?;
                write!(f, "pad={},{} activation={}", r.pad_h, r.pad_w, r.activation.name())
            }
            Layer::DepthwiseConv2d(r) => {
                write!(f, "DepthwiseConv2D kernel={}x{} stride={} ", r.kernel_h, r.kernel_w, r.stride)?;
                write!(f, "channels={} pad={},{} activation={}", r.channels, r.pad_h, r.pad_w, r.activation.name())
            }
            Layer::MaxPool2d(r) => write!(f, "MaxPool2D pool={} stride={}", r.pool_size, r.stride),
            Layer::AvgPool2d(r) => write!(f, "AvgPool2D pool={} stride={}", r.pool_size, r.stride),
            Layer::Flatten => f.write_str("Flatten"),
            Layer::BatchNorm2d(r) => write!(f, "BatchNorm2d channels={}", r.channels),
            Layer::LayerNorm2d(r) => write!(f, "LayerNorm2d channels={} eps={}", r.channels, General(r.eps)),
            Layer::ConvNextV2Block(r) => write!(f, "ConvNeXtV2Block channels={} eps={}", r.channels, General(r.eps)),
            Layer::MobilenetV4Uib(r) => {
                write!(f, "MobilenetV4Uib in={} out={} ", r.in_channels, r.out_channels)?;
                write!(f, "start_dw={} middle_dw={} ", r.start_dw_kernel, r.middle_dw_kernel)?;
                write!(f, "stride={} expand={}", r.stride, General(r.expand_ratio))
            }
            Layer::ResnetBasicBlock(r) => {
                write!(f, "ResNetBasicBlock in={} out={} stride={}", r.in_channels, r.out_channels, r.stride)
            }
            Layer::YoloxDecoupledHead(r) => {
                write!(f, "YoloxDecoupledHead in={} hidden={} ", r.in_channels, r.hidden_dim)?;
                write!(f, "classes={} convs={}", r.num_classes, r.num_convs)
            }
            Layer::FeatureTap(r) => write!(f, "FeatureTap channels={} tap_id={}", r.channels, r.tap_id),
            Layer::YoloxPafpnMultiscale(r) => {
                write!(f, "YoloxPafpnMultiscale c3={} c4={} c5={} ", r.c3_channels, r.c4_channels, r.c5_channels)?;
                write!(f, "hidden={} classes={} convs={}", r.hidden_dim, r.num_classes, r.num_convs)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stem_drops_folders_and_the_last_extension() {
        assert_eq!(stem("models/test_mlp.nk"), "test_mlp");
        assert_eq!(stem("C:\\models\\a.b.nk"), "a.b");
        assert_eq!(stem("plain"), "plain");
    }
}
