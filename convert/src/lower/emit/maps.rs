//! Layers over maps.

use netkit::format::records::{BatchNorm2d, ChannelsEps, Conv2d, DepthwiseConv2d, Layer};

use super::{Fitted, Unfit, array, blocks, code, extents, geometry, quant, vector};
use crate::lower::ir::{Activation, Affine, Conv, Depthwise, Id, Ir, Kind, PoolKind, Window};

/// Most weights that a kernel may have because it is grown with zeros,
const MOST_GROWN: usize = 1 << 22;
/// unless they are at most as many times more.
const MOST_GROWTH: usize = 4;

/// The layer that computes an operation.
pub fn fit(ir: &Ir, id: Id) -> Fitted {
    let op = &ir.ops[id];
    if let Some(zero_point) = quant::of(ir, id).iter().map(|of| of.entry.weights.zero_point).find(|&zero| zero != 0) {
        return Err(Unfit {
            found: format!("weights around {zero_point} over a map"),
            reason: "layers over maps have weights around 0, and shifted by the zero point these leave int8",
            advice: "quantise the weights symmetrically",
        });
    }
    let channels = op.extent.c as u32;
    match &op.kind {
        Kind::Conv(conv) => convolution(ir, id, conv),
        Kind::Depthwise(conv) => depthwise(ir, id, conv),
        Kind::Affine(affine) => scale_and_shift(ir, id, affine),
        Kind::Pool(kind, window) => pool(ir, id, *kind, *window),
        Kind::LayerNorm(norm) => {
            let record = Layer::LayerNorm2d(ChannelsEps { channels, eps: norm.eps as f32 });
            Ok((record, vec![(vector(&norm.gamma), vector(&norm.beta))], None))
        }
        Kind::ResnetBlock(convolutions, shortcut) => Ok(blocks::resnet(ir, id, convolutions, shortcut.as_deref())),
        Kind::Uib(block) => blocks::uib(ir, id, block),
        Kind::ConvNextBlock(block) => Ok(blocks::convnext(ir, id, block)),
        other => Err(Unfit {
            found: format!("{other:?}").chars().take(40).collect(),
            reason: "no layer computes it",
            advice: "leave it to the program that uses the model",
        }),
    }
}

fn convolution(ir: &Ir, id: Id, conv: &Conv) -> Fitted {
    let (input, output) = extents(ir, id);
    let fits = geometry::square(conv.window, input, output).ok_or_else(|| unfit_window(conv.window))?;
    let [rows, columns] = fits;
    let grown_elements = output.c.saturating_mul(rows.kernel * columns.kernel).saturating_mul(input.c);
    if grown_elements > conv.weights.len().saturating_mul(MOST_GROWTH).max(MOST_GROWN) {
        return Err(Unfit {
            found: format!("a kernel of {:?} that grows to {grown_elements} weights", conv.window.kernel),
            reason: "kernels of a .nk convolution are square",
            advice: "use a kernel that is closer to a square",
        });
    }
    let (activation, alpha) = code(conv.activation);
    let record = Conv2d {
        kernel_size: rows.kernel as u32,
        stride: conv.window.stride as u32,
        filters: output.c as u32,
        activation,
        pad_h: rows.pad,
        pad_w: columns.pad,
        pad_extra: geometry::extra_byte(fits),
        alpha,
    };
    let weights = geometry::grow(&conv.weights, conv.window, fits, input.c);
    let tensors = vec![(array(&[output.c, rows.kernel, rows.kernel, input.c], &weights), vector(&conv.bias))];
    Ok((Layer::Conv2d(record), tensors, grown((rows.kernel, columns.kernel), conv.window)))
}

fn depthwise(ir: &Ir, id: Id, conv: &Depthwise) -> Fitted {
    let (input, output) = extents(ir, id);
    let (activation, alpha) = code(conv.activation);
    let record = DepthwiseConv2d {
        kernel_h: 0,
        stride: conv.window.stride as u32,
        channels: output.c as u32,
        activation,
        pad_h: 0,
        pad_w: 0,
        kernel_w: 0,
        alpha,
    };
    let fitted = geometry::depthwise(record, conv.window, input, output);
    let (record, fits) = fitted.ok_or_else(|| unfit_window(conv.window))?;
    let [rows, columns] = fits;
    let weights = geometry::grow(&conv.weights, conv.window, fits, 1);
    let tensors = vec![(array(&[output.c, rows.kernel, columns.kernel], &weights), vector(&conv.bias))];
    Ok((Layer::DepthwiseConv2d(record), tensors, grown((rows.kernel, columns.kernel), conv.window)))
}

fn grown(kernel: (usize, usize), window: Window) -> Option<&'static str> {
    (kernel != window.kernel).then_some("kernel grown with zeros to what a record can express")
}

fn unfit_window(window: Window) -> Unfit {
    Unfit {
        found: format!(
            "a kernel of {:?} with {:?} rows and columns of padding before it",
            window.kernel, window.before
        ),
        reason: "padding of a .nk layer is at most 255, and at its end at most 15 more than at its begin",
        advice: "use less padding, or the same on both sides",
    }
}

/// A batch norm; with an activation, a depthwise convolution of single pixels.
fn scale_and_shift(ir: &Ir, id: Id, affine: &Affine) -> Fitted {
    let extent = ir.ops[id].extent;
    if affine.scale.len() != extent.c {
        return Err(Unfit {
            found: format!("numbers for each of {} elements of a map", affine.scale.len()),
            reason: "layers over maps have one for each channel",
            advice: "move it behind the Flatten, before a matrix product",
        });
    }
    if affine.activation == Activation::None {
        let record = Layer::BatchNorm2d(BatchNorm2d { channels: extent.c as u32 });
        return Ok((record, vec![(vector(&affine.scale), vector(&affine.shift))], None));
    }
    let conv = Depthwise {
        window: Window::POINT,
        weights: affine.scale.clone(),
        bias: affine.shift.clone(),
        activation: affine.activation,
        quant: None,
    };
    let (record, tensors, _) = depthwise(ir, id, &conv)?;
    Ok((record, tensors, Some("activation on a depthwise convolution of single pixels")))
}

fn pool(ir: &Ir, id: Id, kind: PoolKind, window: Window) -> Fitted {
    let (input, output) = extents(ir, id);
    let record = geometry::pool(window, input, output).ok_or_else(|| Unfit {
        found: format!(
            "a pool of {:?} with {:?} rows and columns of padding before it, {}x{} to {}x{}",
            window.kernel, window.before, input.h, input.w, output.h, output.w
        ),
        reason: "a .nk pool is at most 255 wide and has 0 to 15 more padding at its end than at its begin",
        advice: "use the same padding on both sides",
    })?;
    Ok((if kind == PoolKind::Max { Layer::MaxPool2d(record) } else { Layer::AvgPool2d(record) }, Vec::new(), None))
}
