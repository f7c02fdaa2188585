//! Fonts, colors and number formats of the drawings.

use netkit::format::Layer;
use netkit::plan::steps::Op;

use super::svg::Font;

/// The first that the viewer has.
pub(crate) const FONT: &str = "Helvetica, Arial, 'Liberation Sans', 'Nimbus Sans', sans-serif";
pub(crate) const INK: &str = "#1f2933";
pub(crate) const SOFT_INK: &str = "#5b6672";
pub(crate) const FAINT: &str = "#c9cfd6";
pub(crate) const PAPER: &str = "#ffffff";
pub(crate) const ALARM: &str = "#b3261e";

pub(crate) const TITLE: Font = Font::bold(20.0, INK);
pub(crate) const SUBTITLE: Font = Font::new(12.0, SOFT_INK);
pub(crate) const HEADING: Font = Font::bold(12.0, INK);
pub(crate) const NOTE: Font = Font::new(10.5, SOFT_INK);
pub(crate) const SMALL: Font = Font::new(9.5, SOFT_INK);

/// Kinds of layers and steps that share a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    Convolution,
    Depthwise,
    Block,
    Dense,
    Pooling,
    Normalization,
    Head,
    Shape,
    Scratch,
}

impl Family {
    pub(crate) const ALL: [Self; 9] = [
        Self::Convolution,
        Self::Depthwise,
        Self::Block,
        Self::Dense,
        Self::Pooling,
        Self::Normalization,
        Self::Head,
        Self::Shape,
        Self::Scratch,
    ];

    pub(crate) const fn of_layer(layer: &Layer) -> Self {
        match layer {
            Layer::Dense(_) => Self::Dense,
            Layer::Conv2d(_) => Self::Convolution,
            Layer::DepthwiseConv2d(_) => Self::Depthwise,
            Layer::MaxPool2d(_) | Layer::AvgPool2d(_) => Self::Pooling,
            Layer::BatchNorm2d(_) | Layer::LayerNorm2d(_) => Self::Normalization,
            Layer::ConvNextV2Block(_) | Layer::MobilenetV4Uib(_) | Layer::ResnetBasicBlock(_) => Self::Block,
            Layer::YoloxDecoupledHead(_) | Layer::YoloxPafpnMultiscale(_) => Self::Head,
            Layer::Flatten | Layer::FeatureTap(_) => Self::Shape,
        }
    }

    /// Of the step that writes a tensor first. A matrix product over the pixels of a map is a 1x1 convolution.
    pub(crate) const fn of_step(op: Op, rows: u32) -> Self {
        match op {
            Op::Dense if rows == 1 => Self::Dense,
            Op::Dense | Op::Conv2d => Self::Convolution,
            Op::DepthwiseConv2d => Self::Depthwise,
            Op::MaxPool2d | Op::AvgPool2d => Self::Pooling,
            Op::BatchNorm2d | Op::LayerNorm2d | Op::Grn => Self::Normalization,
            Op::Copy | Op::Softmax | Op::Add | Op::AddUpsampled2x | Op::Lookup => Self::Shape,
        }
    }

    /// Name in the legend.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Convolution => "convolution",
            Self::Depthwise => "depthwise convolution",
            Self::Block => "fused block",
            Self::Dense => "dense",
            Self::Pooling => "pooling",
            Self::Normalization => "normalization",
            Self::Head => "detection head",
            Self::Shape => "data movement",
            Self::Scratch => "scratch of one step",
        }
    }

    /// Color of areas.
    pub(crate) const fn tint(self) -> &'static str {
        match self {
            Self::Convolution => "#dfe9f4",
            Self::Depthwise => "#d9eeec",
            Self::Block => "#e9e4f2",
            Self::Dense => "#fbe5d8",
            Self::Pooling => "#f7eecd",
            Self::Normalization => "#e4eedb",
            Self::Head => "#f6dfe5",
            Self::Shape => "#eef0f2",
            Self::Scratch => "#ffffff",
        }
    }

    /// Color of outlines and marks.
    pub(crate) const fn line(self) -> &'static str {
        match self {
            Self::Convolution => "#3b6ea5",
            Self::Depthwise => "#2a827b",
            Self::Block => "#66529b",
            Self::Dense => "#b85f27",
            Self::Pooling => "#957620",
            Self::Normalization => "#56803a",
            Self::Head => "#a83d5a",
            Self::Shape => "#7b8794",
            Self::Scratch => "#9aa5b1",
        }
    }
}

/// `224 × 224 × 3`.
pub(crate) fn shape(dims: &[u32]) -> String {
    dims.iter().map(u32::to_string).collect::<Vec<_>>().join(" × ")
}

/// A count with three digits and a prefix from 10,000 on.
pub(crate) fn count(value: u64) -> String {
    match value {
        0..1000 => value.to_string(),
        1000..10_000 => format!("{},{:03}", value / 1000, value % 1000),
        _ => scaled(value, 1000.0, [" k", " M", " G", " T"]),
    }
}

/// Bytes in binary units.
pub(crate) fn bytes(value: u64) -> String {
    if value < 1024 { format!("{value} B") } else { scaled(value, 1024.0, [" KiB", " MiB", " GiB", " TiB"]) }
}

/// Bytes of the unit in which a number of bytes is written, and its name.
pub(crate) const fn byte_unit(value: u64) -> (u64, &'static str) {
    match value {
        0..1024 => (1, "bytes"),
        1024..1_048_576 => (1 << 10, "KiB"),
        1_048_576..1_073_741_824 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    }
}

/// Three digits and the unit that keeps the number below `base`.
fn scaled(value: u64, base: f64, units: [&str; 4]) -> String {
    let mut number = value as f64 / base;
    let mut unit = 0;
    while number >= 999.5 && unit < 3 {
        number /= base;
        unit += 1;
    }
    let decimals = match number {
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.decimals$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let cases =
            [(0, "0"), (999, "999"), (1056, "1,056"), (10_000, "10.0 k"), (99_960, "100 k"), (999_600, "1.00 M")];
        for (value, text) in cases.into_iter().chain([(186_005_568, "186 M"), (3_781_576, "3.78 M")]) {
            assert_eq!(count(value), text);
        }
        let cases = [(1023, "1023 B"), (1024, "1.00 KiB"), (2_017_343, "1.92 MiB"), (1 << 40, "1.00 TiB")];
        for (value, text) in cases {
            assert_eq!(bytes(value), text);
        }
        assert_eq!(shape(&[7, 7, 960]), "7 × 7 × 960");
    }
}
