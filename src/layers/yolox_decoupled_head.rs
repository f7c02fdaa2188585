//! Decoupled head of YOLOX (Ge et al., 2021): a stem, a branch for classes, a branch for box and objectness. SiLU behind
//! the stem and every branch convolution; the predictions are raw.

use super::{require_channels, require_positive};
use crate::fault::{Fault, text};
use crate::format::records::YoloxDecoupledHead;
use crate::kernels::Activation;
use crate::plan::lowering::{Lowering, Value, Weighted};
use crate::tensor::{Padding, Shape, Window};

/// Channels of the box prediction, the first of each output pixel.
const BOX: u32 = 4;
/// Channels of the objectness prediction, behind the box; the classes follow.
const OBJECTNESS: u32 = 1;

/// `[h, w, in]` to `[h, w, 5 + classes]`: box 0-3, objectness 4, classes from 5 on.
pub fn output_shape(record: &YoloxDecoupledHead, input: Shape) -> Result<Shape, Fault> {
    require_channels(text!(Layer: expected, field "in_channels"), record.in_channels, input)?;
    head_shape(input, record.hidden_dim, record.num_classes)
}

/// Shape of a head's predictions over the map `input`.
pub(super) fn head_shape(input: Shape, hidden: u32, classes: u32) -> Result<Shape, Fault> {
    require_positive(text!(Layer: at_least, field "hidden_dim"), hidden)?;
    require_positive(text!(Layer: at_least, field "num_classes"), classes)?;
    let shape = Shape { c: classes.saturating_add(BOX + OBJECTNESS), ..input };
    shape.elements()?;
    Ok(shape)
}

/// Pairs of weight and bias tensors of a head.
pub fn tensor_pairs(num_convs: u8) -> u32 {
    1 + 2 * u32::from(num_convs) + 3
}

/// Tensors: see `lower_head` below.
#[inline(never)]
pub fn lower(record: &YoloxDecoupledHead, l: &mut Lowering<'_, '_>) -> Result<(), Fault> {
    let (input, shape) = (l.value, l.shape);
    let output_shape = output_shape(record, shape)?;
    l.require_float(text!(Unsupported, note "int8 has no form of a YOLOX head; keep this model in float"))?;
    let head = Head { hidden: record.hidden_dim, classes: record.num_classes, num_convs: record.num_convs };
    let mut predictions = Predictions::new(output_shape);
    lower_head(&head, l, input, shape, &mut predictions)?;
    l.release(input);
    if let Some(output) = predictions.value {
        l.set_result(output, output_shape);
    }
    Ok(())
}

/// The tensor that one or more heads write one after another. It is born with the first prediction, so that it takes no
/// memory while the branches of the first head run.
pub(super) struct Predictions {
    shape: Shape,
    pub(super) value: Option<Value>,
    written: u32,
}

impl Predictions {
    pub(super) fn new(shape: Shape) -> Self {
        Self { shape, value: None, written: 0 }
    }

    /// The next `elems` elements.
    fn next_part(&mut self, l: &mut Lowering<'_, '_>, elems: u32, from: Value) -> Result<Value, Fault> {
        let value = match self.value {
            Some(value) => value,
            None => l.destination(self.shape, from)?,
        };
        self.value = Some(value);
        let part = value.part(self.written, elems);
        self.written += elems;
        Ok(part)
    }
}

/// A head inside a block.
pub(super) struct Head {
    pub(super) hidden: u32,
    pub(super) classes: u32,
    pub(super) num_convs: u8,
}

/// Emits a head over `input` (not released).
///
/// Tensors: stem `[hidden, in]`; class convolutions n x `[hidden, 3, 3, hidden]`; box convolutions n x the same; class
/// prediction `[classes, hidden]`, box `[4, hidden]`, objectness `[1, hidden]`; each with its bias.
pub(super) fn lower_head(
    head: &Head,
    l: &mut Lowering<'_, '_>,
    input: Value,
    shape: Shape,
    predictions: &mut Predictions,
) -> Result<(), Fault> {
    let elems = head_shape(shape, head.hidden, head.classes)?.elements()?;
    let inner = Shape { c: head.hidden, ..shape };
    let stem_step = take(l, shape, 1, head.hidden, Activation::Silu)?;
    let stem = l.temporary(inner, input)?;
    l.conv2d(stem_step, input, stem)?;

    let class_convs = l.position();
    skip_convs(head, l, inner)?;
    let box_convs = l.position();
    skip_convs(head, l, inner)?;
    let class_step = take_prediction(head, l, inner, head.classes, BOX + OBJECTNESS)?;
    let box_step = take_prediction(head, l, inner, BOX, 0)?;
    let objectness_step = take_prediction(head, l, inner, OBJECTNESS, BOX)?;
    let end = l.position();

    l.retain(stem);
    l.seek(class_convs);
    let features = branch(head, l, inner, stem)?;
    let output = predictions.next_part(l, elems, features)?;
    l.conv2d(class_step, features, output)?;
    l.release(features);

    l.seek(box_convs);
    let features = branch(head, l, inner, stem)?;
    l.conv2d(box_step, features, output)?;
    l.conv2d(objectness_step, features, output)?;
    l.release(features);
    l.seek(end);
    Ok(())
}

/// The convolutions of one branch on `input`, which is released.
fn branch(head: &Head, l: &mut Lowering<'_, '_>, shape: Shape, input: Value) -> Result<Value, Fault> {
    let mut value = input;
    for _ in 0..head.num_convs {
        let step = take(l, shape, 3, head.hidden, Activation::Silu)?;
        let next = l.temporary(shape, value)?;
        l.conv2d(step, value, next)?;
        l.release(value);
        value = next;
    }
    Ok(value)
}

fn skip_convs(head: &Head, l: &mut Lowering<'_, '_>, shape: Shape) -> Result<(), Fault> {
    for _ in 0..head.num_convs {
        take(l, shape, 3, head.hidden, Activation::Silu)?;
    }
    Ok(())
}

/// Takes a convolution that keeps height and width.
pub(super) fn take(
    l: &mut Lowering<'_, '_>,
    input: Shape,
    kernel: u32,
    out_c: u32,
    activation: Activation,
) -> Result<Weighted, Fault> {
    let window = Window::new(input, (kernel, kernel), 1, Padding::same(kernel / 2), out_c)?;
    let tensors = l.take(&[out_c, kernel, kernel, input.c], out_c)?;
    Ok(Weighted { activation, ..Weighted::new(window, tensors) })
}

/// Takes a prediction, whose channels start at `column` of each output pixel.
fn take_prediction(
    head: &Head,
    l: &mut Lowering<'_, '_>,
    input: Shape,
    channels: u32,
    column: u32,
) -> Result<Weighted, Fault> {
    let pitch = head.classes + BOX + OBJECTNESS;
    Ok(Weighted { columns: Some((pitch, column)), ..take(l, input, 1, channels, Activation::None)? })
}
