//! What stands in the box of a layer.

use netkit::format::records::{ActivationCode, DepthwiseConv2d, MobilenetV4Uib, Pool2d, ResnetBasicBlock};
use netkit::format::{Layer, TensorEntry};
use netkit::layers::{mobilenetv4_uib, resnet_basic_block};

use super::theme::Family;

/// The words of a box.
pub(crate) struct Words {
    pub(crate) family: Family,
    /// The operation.
    pub(crate) title: String,
    /// Its activation, or a short remark.
    pub(crate) aside: &'static str,
    /// The operations of a fused block in order, each with its activation or remark.
    pub(crate) inner: Vec<(String, &'static str)>,
    /// Whether the block adds its input to its result.
    pub(crate) has_residual: bool,
}

/// The words for a layer whose first weight tensor is `weights`.
pub(crate) fn words(layer: &Layer, weights: Option<&TensorEntry>) -> Words {
    let (title, aside) = heading(layer, weights);
    let (inner, has_residual) = inside(layer);
    Words { family: Family::of_layer(layer), title, aside, inner, has_residual }
}

fn heading(layer: &Layer, weights: Option<&TensorEntry>) -> (String, &'static str) {
    match layer {
        Layer::Dense(r) => (format!("Dense {}", r.units), activation(r.activation)),
        Layer::Conv2d(r) => (conv((r.kernel_size, r.kernel_size), r.stride, r.filters), activation(r.activation)),
        Layer::DepthwiseConv2d(r) => (depthwise(r, weights), activation(r.activation)),
        Layer::MaxPool2d(r) => (pool("Max pool", r), ""),
        Layer::AvgPool2d(r) => (pool("Average pool", r), ""),
        Layer::Flatten => ("Flatten".to_owned(), ""),
        Layer::BatchNorm2d(_) => ("Batch norm".to_owned(), ""),
        Layer::LayerNorm2d(_) => ("Layer norm".to_owned(), ""),
        Layer::ConvNextV2Block(r) => (format!("ConvNeXt V2 block, {}", r.channels), ""),
        Layer::MobilenetV4Uib(r) => (strided(format!("UIB, {}", r.out_channels), r.stride), ""),
        Layer::ResnetBasicBlock(r) => (strided(format!("ResNet block, {}", r.out_channels), r.stride), ""),
        Layer::YoloxDecoupledHead(r) => (format!("YOLOX head, {} classes", r.num_classes), ""),
        Layer::FeatureTap(r) => (format!("Feature tap {}", r.tap_id), tap_name(r.tap_id)),
        Layer::YoloxPafpnMultiscale(r) => (format!("YOLOX PAFPN, {} classes", r.num_classes), ""),
    }
}

/// Pyramid level that the tap feeds.
const fn tap_name(id: u8) -> &'static str {
    match id {
        0 => "→ C3",
        1 => "→ C4",
        _ => "",
    }
}

fn inside(layer: &Layer) -> (Vec<(String, &'static str)>, bool) {
    match layer {
        Layer::MobilenetV4Uib(record) => (uib(record), mobilenetv4_uib::has_residual(record)),
        Layer::ResnetBasicBlock(record) => (resnet(record), true),
        Layer::ConvNextV2Block(record) => {
            let (channels, wide) = (record.channels, 4 * u64::from(record.channels));
            let inner = vec![
                ("depthwise 7 × 7".to_owned(), ""),
                ("layer norm".to_owned(), ""),
                (format!("1 × 1, {channels} → {wide}"), "GELU"),
                ("response norm (GRN)".to_owned(), ""),
                (format!("1 × 1, {wide} → {channels}"), ""),
            ];
            (inner, true)
        }
        Layer::YoloxDecoupledHead(record) => {
            let stem = (format!("stem 1 × 1, {} → {}", record.in_channels, record.hidden_dim), "SiLU");
            ([vec![stem], branches(record.num_convs, record.hidden_dim, record.num_classes)].concat(), false)
        }
        Layer::YoloxPafpnMultiscale(record) => {
            let (c3, c4, c5) = (record.c3_channels, record.c4_channels, record.c5_channels);
            let pyramid = vec![
                (format!("reads C3 ({c3}), C4 ({c4}), C5 ({c5})"), ""),
                ("top-down and bottom-up paths".to_owned(), ""),
                (format!("three heads, {} channels:", record.hidden_dim), ""),
            ];
            ([pyramid, branches(record.num_convs, record.hidden_dim, record.num_classes)].concat(), false)
        }
        _ => (Vec::new(), false),
    }
}

fn uib(record: &MobilenetV4Uib) -> Vec<(String, &'static str)> {
    let carries = |is_middle: bool| {
        let by_middle = record.middle_dw_downsample != 0 && record.middle_dw_kernel != 0;
        if is_middle == by_middle { record.stride } else { 1 }
    };
    let depthwise = |kernel: u8, is_middle, activation| {
        (kernel != 0).then(|| (strided(format!("depthwise {kernel} × {kernel}"), carries(is_middle)), activation))
    };
    let wide = mobilenetv4_uib::expanded_channels(record).unwrap_or(0);
    let expand = (format!("expand 1 × 1, {} → {wide}", record.in_channels), "ReLU");
    let project = (format!("project 1 × 1, {wide} → {}", record.out_channels), "");
    let start = depthwise(record.start_dw_kernel, false, "");
    let middle = depthwise(record.middle_dw_kernel, true, "ReLU");
    [start, Some(expand), middle, Some(project)].into_iter().flatten().collect()
}

fn resnet(record: &ResnetBasicBlock) -> Vec<(String, &'static str)> {
    let (from, to) = (record.in_channels, record.out_channels);
    let mut inner =
        vec![(strided(format!("3 × 3, {from} → {to}"), record.stride), "ReLU"), (format!("3 × 3, {to} → {to}"), "")];
    if resnet_basic_block::has_projection(record) {
        inner.push((strided(format!("shortcut 1 × 1, {from} → {to}"), record.stride), ""));
    }
    inner.push(("sum".to_owned(), "ReLU"));
    inner
}

fn branches(convs: u8, hidden: u32, classes: u32) -> Vec<(String, &'static str)> {
    vec![
        (format!("class: {convs} × conv 3 × 3, {hidden}"), "SiLU"),
        (format!("box: {convs} × conv 3 × 3, {hidden}"), "SiLU"),
        (format!("1 × 1 to 4 + 1 + {classes}"), ""),
    ]
}

fn conv(kernel: (u32, u32), stride: u32, filters: u32) -> String {
    let (height, width) = kernel;
    let text = format!("Conv {height} × {width}, {filters}");
    if stride == 1 { text } else { format!("{text}, stride {stride}") }
}

/// Only the weights tell the kernel's width.
fn depthwise(record: &DepthwiseConv2d, weights: Option<&TensorEntry>) -> String {
    let area = weights.map_or(0, |entry| entry.num_elements() / record.channels.max(1));
    let ((height, width), _) = record
        .kernel_and_pads(area)
        .unwrap_or(((record.kernel_h, record.kernel_h), netkit::tensor::Padding::default()));
    let text = format!("Depthwise {height} × {width}");
    if record.stride == 1 { text } else { format!("{text}, stride {}", record.stride) }
}

fn pool(name: &str, record: &Pool2d) -> String {
    let (height, width) = record.pool();
    let text = format!("{name} {height} × {width}");
    if (height, width) == (record.stride, record.stride) { text } else { format!("{text}, stride {}", record.stride) }
}

fn strided(text: String, stride: u8) -> String {
    if stride == 1 { text } else { format!("{text}, stride {stride}") }
}

const fn activation(code: ActivationCode) -> &'static str {
    match code {
        ActivationCode::RELU => "ReLU",
        ActivationCode::SIGMOID => "sigmoid",
        ActivationCode::TANH => "tanh",
        ActivationCode::LEAKY_RELU => "leaky ReLU",
        ActivationCode::RELU6 => "ReLU6",
        ActivationCode::SOFTMAX => "softmax",
        _ => "",
    }
}
