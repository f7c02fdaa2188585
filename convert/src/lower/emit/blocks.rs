//! Layers that are blocks: every convolution is followed by the scale and shift of a batch norm, which are 1 and 0 because
//! what the model had is folded into the convolution.

use netkit::format::records::{ChannelsEps, Layer, MobilenetV4Uib, ResnetBasicBlock};
use netkit::layers::mobilenetv4_uib::expanded_channels;

use super::geometry::{self, Fit};
use super::{Fitted, Unfit, array, extents, vector};
use crate::lower::ir::{Conv, ConvNext, Depthwise, Id, Ir, Quant, Uib, Window};
use crate::network::Array;

type Tensors = Vec<(Array, Array)>;

/// A ResNet basic block.
pub fn resnet(
    ir: &Ir,
    id: Id,
    convolutions: &[Conv; 2],
    shortcut: Option<&Conv>,
) -> (Layer, Tensors, Option<&'static str>) {
    let (input, output) = extents(ir, id);
    let record = ResnetBasicBlock {
        in_channels: input.c as u32,
        out_channels: output.c as u32,
        stride: convolutions[0].window.stride as u8,
    };
    let [first, second] = convolutions;
    let (first, is_shifted) = padded_before(first);
    let tensors = [&first, second].into_iter().chain(shortcut).flat_map(convolution).collect();
    let rewrite = is_shifted.then_some("kernel of 4x4 because the padding lies behind the map only");
    (Layer::ResnetBasicBlock(record), tensors, rewrite)
}

/// The first convolution of an int8 block, which has one row and column of padding before the map: a kernel of 4x4 has zeros there.
fn padded_before(conv: &Conv) -> (Conv, bool) {
    let Window { kernel, before, .. } = conv.window;
    let missing = |before: usize| 1 - before.min(1);
    if before == (1, 1) {
        return (conv.clone(), false);
    }
    let axis = |before: usize| Fit { grown: missing(before), kernel: 4, pad: 1, extra: 1 };
    let fits = [axis(before.0), axis(before.1)];
    debug_assert_eq!(kernel, (3, 3));
    let weights = geometry::grow(&conv.weights, conv.window, fits, conv.channels());
    let window = Window { kernel: (4, 4), before: (1, 1), ..conv.window };
    (Conv { window, weights, ..conv.clone() }, true)
}

/// A universal inverted bottleneck; the format wants a multiple of 8 expanded channels, so there may be more, all zero.
pub fn uib(ir: &Ir, id: Id, block: &Uib) -> Fitted {
    let (input, output) = extents(ir, id);
    let own = block.project.quant.as_ref().map(|quant| quant.output);
    if own.is_some() && own != ir.params.get(&id).copied() {
        return Err(Unfit {
            found: "a sum whose scale and zero point are not those of the last convolution".into(),
            reason: "an int8 inverted bottleneck adds in the scale of its last convolution",
            advice: "quantise so that both have the same scale",
        });
    }
    let expanded = block.expand.bias.len();
    let padded = expanded.next_multiple_of(8);
    let kernel = |conv: &Option<Depthwise>| conv.as_ref().map_or(0, |conv| conv.window.kernel.0 as u8);
    let record = MobilenetV4Uib {
        in_channels: input.c as u32,
        out_channels: output.c as u32,
        start_dw_kernel: kernel(&block.start),
        middle_dw_kernel: kernel(&block.middle),
        stride: 1,
        middle_dw_downsample: u8::from(block.middle.is_some()),
        expand_ratio: (padded as f64 / input.c as f64) as f32,
    };
    if expanded_channels(&record).ok() != Some(padded as u32) {
        return Err(Unfit {
            found: format!("{} channels expanded to {expanded}", input.c),
            reason: "the expand ratio of a .nk record does not give that number",
            advice: "expand to a multiple of 8",
        });
    }
    let mut tensors = Tensors::new();
    tensors.extend(block.start.iter().flat_map(depthwise));
    tensors.extend(convolution(&with_filters(&block.expand, padded)));
    tensors.extend(block.middle.iter().flat_map(|conv| depthwise(&with_channels(conv, padded))));
    tensors.extend(convolution(&with_inputs(&block.project, padded)));
    let rewrite = (padded != expanded).then_some("expanded channels filled up to a multiple of 8");
    Ok((Layer::MobilenetV4Uib(record), tensors, rewrite))
}

/// A ConvNeXt V2 block.
pub fn convnext(ir: &Ir, id: Id, block: &ConvNext) -> (Layer, Tensors, Option<&'static str>) {
    let channels = ir.ops[id].extent.c;
    let wide = block.expand.bias.len();
    let record = ChannelsEps { channels: channels as u32, eps: block.norm.eps as f32 };
    let tensors = vec![
        (array(&[channels, 7, 7], &block.mix.weights), vector(&block.mix.bias)),
        (vector(&block.norm.gamma), vector(&block.norm.beta)),
        (array(&[wide, channels], &block.expand.weights), vector(&block.expand.bias)),
        (vector(&block.grn.gamma), vector(&block.grn.beta)),
        (array(&[channels, wide], &block.project.weights), vector(&block.project.bias)),
    ];
    (Layer::ConvNextV2Block(record), tensors, None)
}

fn convolution(conv: &Conv) -> Tensors {
    let (filters, kernel) = (conv.bias.len(), conv.window.kernel);
    let weights = array(&[filters, kernel.0, kernel.1, conv.channels()], &conv.weights);
    with_norm(weights, &conv.bias, conv.quant.is_some())
}

fn depthwise(conv: &Depthwise) -> Tensors {
    let (channels, kernel) = (conv.bias.len(), conv.window.kernel);
    let weights = array(&[channels, kernel.0, kernel.1], &conv.weights);
    with_norm(weights, &conv.bias, conv.quant.is_some())
}

/// Weights and bias, and in float models a batch norm that changes nothing.
fn with_norm(weights: Array, bias: &[f64], is_quantized: bool) -> Tensors {
    let norm = (vector(&vec![1.0; bias.len()]), vector(&vec![0.0; bias.len()]));
    std::iter::once((weights, vector(bias))).chain((!is_quantized).then_some(norm)).collect()
}

/// A scale for filters of nothing but zeros.
fn grow_scales(quant: &mut Option<Quant>, filters: usize) {
    if let Some(quant) = quant.as_mut().filter(|quant| quant.scales.len() > 1) {
        quant.scales.resize(filters, 1.0);
    }
}

/// More filters, all zero.
fn with_filters(conv: &Conv, filters: usize) -> Conv {
    let mut grown = conv.clone();
    grown.weights.resize(conv.weights.len() / conv.bias.len() * filters, 0.0);
    grown.bias.resize(filters, 0.0);
    grow_scales(&mut grown.quant, filters);
    grown
}

/// More channels, all zero.
fn with_channels(conv: &Depthwise, channels: usize) -> Depthwise {
    let mut grown = conv.clone();
    grown.weights.resize(conv.window.area() * channels, 0.0);
    grown.bias.resize(channels, 0.0);
    grow_scales(&mut grown.quant, channels);
    grown
}

/// More input channels with zero weights, of a 1x1 convolution.
fn with_inputs(conv: &Conv, channels: usize) -> Conv {
    let pad = |row: &[f64]| row.iter().copied().chain(std::iter::repeat(0.0)).take(channels).collect::<Vec<f64>>();
    let weights = conv.weights.chunks_exact(conv.channels()).flat_map(pad).collect();
    Conv { weights, ..conv.clone() }
}
