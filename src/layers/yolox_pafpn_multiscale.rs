//! Feature pyramid of YOLOX over three scales with a decoupled head on each: additive PAFPN with depthwise separable
//! refinements. `U` is nearest-neighbour upsampling by 2, `R` a 3x3 depthwise convolution, a 1x1 convolution and SiLU.
//!
//! ```text
//! p5 = lat5(C5)           p4 = R(lat4(C4) + U(p5))      p3 = R(lat3(C3) + U(p4))
//! n4 = R2(p3) + p4        n5 = R2(n4) + p5              output = head(p3) ++ head(n4) ++ head(n5)
//! ```

use super::yolox_decoupled_head::{self, Head, Predictions, head_shape, lower_head, take};
use super::{require_channels, require_positive};
use crate::fault::{Fault, Text, text};
use crate::format::records::YoloxPafpnMultiscale;
use crate::kernels::Activation;
use crate::plan::lowering::{Lowering, Tensors, Value, Weighted};
use crate::tensor::{Padding, Shape, Window};

/// Tap that holds C3, four times the input's height and width.
const TAP_C3: u8 = 0;
/// Tap that holds C4, twice the input's height and width.
const TAP_C4: u8 = 1;

/// `[h, w, c5]` to `[1, 1, (16 + 4 + 1) * h * w * (5 + classes)]`.
pub fn output_shape(record: &YoloxPafpnMultiscale, input: Shape) -> Result<Shape, Fault> {
    require_channels(text!(Layer: expected, field "c5_channels"), record.c5_channels, input)?;
    require_positive(text!(Layer: at_least, field "c3_channels"), record.c3_channels)?;
    require_positive(text!(Layer: at_least, field "c4_channels"), record.c4_channels)?;
    let [p3, p4, p5] = scales(input)?;
    let mut elems = 0u32;
    for scale in [p3, p4, p5] {
        elems = elems.saturating_add(head_shape(scale, record.hidden_dim, record.num_classes)?.elements()?);
    }
    let shape = Shape::map(1, 1, elems);
    shape.elements()?;
    Ok(shape)
}

/// Pairs of weight and bias tensors.
pub fn tensor_pairs(num_convs: u8) -> u32 {
    3 + 4 * 2 + 3 * yolox_decoupled_head::tensor_pairs(num_convs)
}

/// The maps of the three scales, with the input's channels.
fn scales(c5: Shape) -> Result<[Shape; 3], Fault> {
    let grow = |factor: u32| -> Option<Shape> {
        Some(Shape { h: c5.h.checked_mul(factor)?, w: c5.w.checked_mul(factor)?, ..c5 })
    };
    match (grow(4), grow(2)) {
        (Some(c3), Some(c4)) => Ok([c3, c4, c5]),
        _ => Err(text!(SizeOverflow, note "the input map is too large").fault()),
    }
}

/// Tensors: lateral 1x1 `[hidden, c3]`, `[hidden, c4]`, `[hidden, c5]`; refinements td_p4, td_p3, bu_n4, bu_n5, each
/// depthwise `[hidden, 3, 3]` and pointwise `[hidden, hidden]`; heads of p3, n4, n5; each tensor with its bias.
#[inline(never)]
pub fn lower(record: &YoloxPafpnMultiscale, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (c5, c5_shape) = (l.value, l.shape);
    let output_shape = output_shape(record, c5_shape)?;
    l.require_float(text!(Unsupported, note "int8 has no form of a PAFPN; keep this model in float"))?;
    let [s3, s4, s5] = scales(c5_shape)?.map(|shape| Shape { c: record.hidden_dim, ..shape });
    let c3 = tap(
        l,
        TAP_C3,
        Shape { c: record.c3_channels, ..s3 },
        text!(Layer, note "needs feature_tap 0: [4h, 4w, c3] of its [h, w, c5] input"),
    )?;
    let c4 = tap(
        l,
        TAP_C4,
        Shape { c: record.c4_channels, ..s4 },
        text!(Layer, note "needs feature_tap 1: [2h, 2w, c4] of its [h, w, c5] input"),
    )?;
    let lat3 = take(l, Shape { c: record.c3_channels, ..s3 }, 1, record.hidden_dim, Activation::None)?;
    let lat4 = take(l, Shape { c: record.c4_channels, ..s4 }, 1, record.hidden_dim, Activation::None)?;
    let lat5 = take(l, c5_shape, 1, record.hidden_dim, Activation::None)?;
    let td_p4 = take_refinement(l, record.hidden_dim)?;
    let td_p3 = take_refinement(l, record.hidden_dim)?;
    let bu_n4 = take_refinement(l, record.hidden_dim)?;
    let bu_n5 = take_refinement(l, record.hidden_dim)?;
    let head = Head { hidden: record.hidden_dim, classes: record.num_classes, num_convs: record.num_convs };

    let p5 = l.temporary(s5, c5)?;
    l.conv2d(lat5, c5, p5)?;
    l.release(c5);
    let p4 = top_down(l, lat4, td_p4, (c4, s4), (p5, s5))?;
    let p3 = top_down(l, lat3, td_p3, (c3, s3), (p4, s4))?;
    l.release_taps();

    let mut predictions = Predictions::new(output_shape);
    lower_head(&head, l, p3, s3, &mut predictions)?;
    let n4 = refine(l, bu_n4, (p3, s3), 2)?;
    l.release(p3);
    l.add(p4, n4, s4)?;
    l.release(p4);
    lower_head(&head, l, n4, s4, &mut predictions)?;
    let n5 = refine(l, bu_n5, (n4, s4), 2)?;
    l.release(n4);
    l.add(p5, n5, s5)?;
    l.release(p5);
    lower_head(&head, l, n5, s5, &mut predictions)?;
    l.release(n5);
    if let Some(output) = predictions.value {
        l.set_result(output, output_shape);
    }
    Ok(())
}

fn tap(l: &Lowering<'_, '_>, id: u8, expected: Shape, missing: &'static Text) -> Result<Value, Fault> {
    match l.tap(id) {
        Some((value, shape)) if shape == expected => Ok(value),
        _ => Err(missing.fault()),
    }
}

/// `R(lateral(map) + U(coarse))`.
fn top_down(
    l: &mut Lowering<'_, '_>,
    lateral: Weighted,
    refinement: Refinement,
    (map, shape): (Value, Shape),
    (coarse, coarse_shape): (Value, Shape),
) -> Result<Value, Fault> {
    let sum = l.temporary(shape, map)?;
    l.conv2d(lateral, map, sum)?;
    l.add_upsampled2x(coarse, sum, coarse_shape)?;
    let refined = refine(l, refinement, (sum, shape), 1)?;
    l.release(sum);
    Ok(refined)
}

/// Weights of a depthwise and a pointwise convolution.
struct Refinement {
    depthwise: Tensors,
    pointwise: Tensors,
}

fn take_refinement(l: &mut Lowering<'_, '_>, channels: u32) -> Result<Refinement, Fault> {
    Ok(Refinement {
        depthwise: l.take(&[channels, 3, 3], channels)?,
        pointwise: l.take(&[channels, channels], channels)?,
    })
}

/// 3x3 depthwise convolution with `stride`, 1x1 convolution, SiLU. `input` is not released.
fn refine(
    l: &mut Lowering<'_, '_>,
    weights: Refinement,
    (input, shape): (Value, Shape),
    stride: u32,
) -> Result<Value, Fault> {
    let window = Window::new(shape, (3, 3), stride, Padding::same(1), shape.c)?;
    let mixed = l.temporary(window.output(), input)?;
    l.depthwise_conv2d(Weighted::new(window, weights.depthwise), input, mixed)?;
    let window = Window::new(window.output(), (1, 1), 1, Padding::default(), shape.c)?;
    let refined = l.temporary(window.output(), mixed)?;
    let step = Weighted { activation: Activation::Silu, ..Weighted::new(window, weights.pointwise) };
    l.conv2d(step, mixed, refined)?;
    l.release(mixed);
    Ok(refined)
}
