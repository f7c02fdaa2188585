//! The vocabulary in which a layer kind describes itself as steps.
//!
//! A layer's `lower` function is a small program: it takes its tensors from the catalog in order, makes room for results,
//! emits steps and releases what is no longer needed. The same program runs for counting, for placing and for writing.

use super::placement::{Placement, Policy, Slot};
use super::steps::{FLAG_ACCUMULATE, FLAG_NORM, Op, Operand, Place, Step};
use crate::error::{Error, ErrorKind};
use crate::format::records::ActivationCode;
use crate::format::{Layer, Model, TensorDesc};
use crate::kernels::{self, Activation};
use crate::tensor::{Shape, Window, checked_product};

/// A tensor between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    home: Home,
    /// First element inside its home; not 0 for a part of a larger tensor.
    first: u32,
    elems: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Input,
    Output,
    Arena(Slot),
}

impl Value {
    /// The caller's input.
    pub fn input(elems: u32) -> Self {
        Self { home: Home::Input, first: 0, elems }
    }

    /// `elems` elements from element `first` on.
    pub fn part(self, first: u32, elems: u32) -> Self {
        Self { home: self.home, first: self.first + first, elems }
    }
}

/// A weight tensor and its bias, as element offsets into the float payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tensors {
    /// First weight element.
    pub weights: u32,
    /// First bias element.
    pub bias: u32,
}

/// A step with weights: what [`Lowering::conv2d`], [`Lowering::depthwise_conv2d`] and [`Lowering::dense`] emit.
#[derive(Clone, Copy, Debug)]
pub struct Weighted {
    /// Geometry; a dense step has `in_h` rows.
    pub window: Window,
    /// Weights and bias.
    pub tensors: Tensors,
    /// Folded batch norm.
    pub norm: Option<Tensors>,
    /// Adds the present content of the output.
    pub accumulate: bool,
    /// Activation of the epilogue.
    pub activation: Activation,
    /// `(pitch, first column)` when the output pixels are wider than this step's channels.
    pub columns: Option<(u32, u32)>,
}

impl Weighted {
    /// Weights and bias only.
    pub fn new(window: Window, tensors: Tensors) -> Self {
        Self { window, tensors, norm: None, accumulate: false, activation: Activation::None, columns: None }
    }
}

/// Takes the steps in execution order.
pub trait StepSink {
    /// Appends a step.
    fn push(&mut self, step: Step) -> Result<(), Error>;
}

/// State of lowering one model.
pub struct Lowering<'m, 's> {
    weights: TensorCursor<'m>,
    biases: TensorCursor<'m>,
    payload_offset: usize,
    /// Tensors alive at the moment.
    pub placement: Placement,
    sink: &'s mut dyn StepSink,
    layer: u8,
    last_producer: usize,
    /// The layer after the present one.
    pub next: Option<Layer>,
    fused_next: bool,
    /// Result of the layers so far.
    pub value: Value,
    /// Its shape.
    pub shape: Shape,
    taps: [Option<(Value, Shape)>; 4],
    last_tap_reader: Option<usize>,
}

/// Position in a catalog.
#[derive(Clone, Debug)]
struct TensorCursor<'m> {
    model: Model<'m>,
    is_bias: bool,
    next: usize,
    offset: usize,
}

impl TensorCursor<'_> {
    fn peek(&self) -> Option<TensorDesc> {
        let entry = self.model.entry_at(self.is_bias, self.next)?;
        Some(TensorDesc { entry, offset: self.offset })
    }

    fn advance(&mut self) {
        if let Some(desc) = self.peek() {
            self.offset += desc.entry.num_bytes() as usize;
            self.next += 1;
        }
    }
}

impl<'m, 's> Lowering<'m, 's> {
    /// Starts with the caller's input.
    pub fn new(
        model: &Model<'m>,
        input: Shape,
        policy: Policy,
        capacity: u32,
        sink: &'s mut dyn StepSink,
    ) -> Result<Self, Error> {
        let bias_offset = model.payload_offset() + model.header().weights_bytes as usize;
        let cursor = |is_bias, offset| TensorCursor { model: *model, is_bias, next: 0, offset };
        Ok(Self {
            weights: cursor(false, model.payload_offset()),
            biases: cursor(true, bias_offset),
            payload_offset: model.payload_offset(),
            placement: Placement::new(policy, capacity),
            sink,
            layer: 0,
            last_producer: last_producer(model),
            next: None,
            fused_next: false,
            value: Value::input(input.elements()?),
            shape: input,
            taps: [None; 4],
            last_tap_reader: model
                .layers()
                .filter(|record| matches!(record.layer, Layer::YoloxPafpnMultiscale(_)))
                .map(|record| record.index)
                .last(),
        })
    }

    /// Moves to layer `index`; returns false when the previous layer has already done its work.
    pub fn enter(&mut self, index: usize, next: Option<Layer>) -> bool {
        self.layer = index as u8;
        self.next = next;
        !core::mem::take(&mut self.fused_next)
    }

    /// Ends the model: every tensor used, the result in the caller's output.
    pub fn finish(&mut self) -> Result<(), Error> {
        let (weights, biases) = (self.weights.next, self.biases.next);
        let header = self.weights.model.header();
        leftover("weight tensors used by the layers", weights, header.num_weight_tensors, 32)?;
        leftover("bias tensors used by the layers", biases, header.num_bias_tensors, 36)?;
        if self.value.home != Home::Output {
            let output = Value { home: Home::Output, first: 0, elems: self.value.elems };
            self.copy(self.value, output)?;
            self.value = output;
        }
        Ok(())
    }

    // ---- tensors -------------------------------------------------------------------------------------------------

    /// Number of elements of the next weight tensor, for records that do not say their whole geometry.
    pub fn next_weight_elems(&self) -> Result<u32, Error> {
        match self.weights.peek() {
            Some(desc) => Ok(desc.entry.num_elements()),
            None => Err(missing("weight", self.weights.next)),
        }
    }

    /// Takes the next weight tensor, whose extents are `weights`, and the next bias of `biases` elements.
    pub fn take(&mut self, weights: &[u32], biases: u32) -> Result<Tensors, Error> {
        let expected = checked_product(weights)
            .ok_or(Error::new(ErrorKind::SizeOverflow).note("the weights of this layer are too large"))?;
        Ok(Tensors {
            weights: take_one(&mut self.weights, expected, "weight", self.payload_offset)?,
            bias: take_one(&mut self.biases, biases, "bias", self.payload_offset)?,
        })
    }

    /// Takes the batch norm that directly follows in the model, when it can become part of the present layer exactly.
    pub fn take_following_norm(&mut self, activation: ActivationCode, channels: u32) -> Result<Option<Tensors>, Error> {
        match self.next {
            Some(Layer::BatchNorm2d(norm)) if norm.channels == channels && activation.is_none() => {
                self.fused_next = true;
                self.take(&[channels], channels).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Position in the catalogs, to come back to with [`Lowering::seek`].
    pub fn position(&self) -> (usize, usize, usize) {
        (self.weights.next, self.weights.offset, self.biases.offset)
    }

    /// Goes back to a position.
    pub fn seek(&mut self, position: (usize, usize, usize)) {
        (self.weights.next, self.weights.offset, self.biases.offset) = position;
        self.biases.next = position.0;
    }

    // ---- memory --------------------------------------------------------------------------------------------------

    /// True when nothing after the present layer moves data: its result belongs in the caller's output.
    pub fn is_last(&self) -> bool {
        usize::from(self.layer) >= self.last_producer
    }

    /// Room for a tensor inside a block, away from the tensor it is made from.
    pub fn temporary(&mut self, shape: Shape, from: Value) -> Result<Value, Error> {
        self.allocate(shape.elements()?, from)
    }

    fn allocate(&mut self, elems: u32, from: Value) -> Result<Value, Error> {
        let away_from = match from.home {
            Home::Arena(slot) => Some(slot),
            _ => None,
        };
        let slot = self.placement.allocate(elems, away_from)?;
        Ok(Value { home: Home::Arena(slot), first: 0, elems })
    }

    /// Room for the result of the present layer: the caller's output for the last one.
    pub fn destination(&mut self, shape: Shape, from: Value) -> Result<Value, Error> {
        if self.is_last() {
            return Ok(Value { home: Home::Output, first: 0, elems: shape.elements()? });
        }
        self.temporary(shape, from)
    }

    /// Keeps a tensor alive for one more [`Lowering::release`].
    pub fn retain(&mut self, value: Value) {
        if let Home::Arena(slot) = value.home {
            self.placement.retain(slot);
        }
    }

    /// Says that a tensor is not read any more by its holder.
    pub fn release(&mut self, value: Value) {
        if let Home::Arena(slot) = value.home {
            self.placement.release(slot);
        }
    }

    /// A tensor with the content of `value` that may be overwritten, and in the last layer lies in the caller's output:
    /// `value` itself if nobody else reads it, else a copy. Takes over the caller's reference to `value`.
    pub fn into_mutable(&mut self, value: Value, shape: Shape) -> Result<Value, Error> {
        let reusable = match value.home {
            Home::Input => false,
            Home::Output => true,
            Home::Arena(slot) => !self.is_last() && self.placement.is_exclusive(slot),
        };
        if reusable {
            return Ok(value);
        }
        let copy = self.destination(shape, value)?;
        self.copy(value, copy)?;
        self.release(value);
        Ok(copy)
    }

    /// Replaces the running result.
    pub fn set_result(&mut self, value: Value, shape: Shape) {
        self.value = value;
        self.shape = shape;
    }

    // ---- feature taps --------------------------------------------------------------------------------------------

    /// Remembers the running result under `id`, while a later layer reads taps.
    pub fn set_tap(&mut self, id: u8) {
        if self.last_tap_reader.is_none_or(|reader| reader < usize::from(self.layer)) {
            return;
        }
        let tap = Some((self.value, self.shape));
        self.retain(self.value);
        let old = match self.taps.get_mut(usize::from(id)) {
            Some(entry) => core::mem::replace(entry, tap),
            None => tap,
        };
        if let Some((value, _)) = old {
            self.release(value);
        }
    }

    /// The tap `id`, and its shape.
    pub fn tap(&self, id: u8) -> Option<(Value, Shape)> {
        self.taps.get(usize::from(id)).copied().flatten()
    }

    /// Lets go of all taps after the last layer that reads them has done so.
    pub fn release_taps(&mut self) {
        if self.last_tap_reader != Some(usize::from(self.layer)) {
            return;
        }
        for (value, _) in core::mem::take(&mut self.taps).into_iter().flatten() {
            self.release(value);
        }
    }

    // ---- steps ---------------------------------------------------------------------------------------------------

    /// Convolution of `input` into `output`.
    pub fn conv2d(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Error> {
        let w = step.window;
        let is_pointwise = (w.kernel_h, w.kernel_w, w.stride) == (1, 1, 1) && (w.out_h, w.out_w) == (w.in_h, w.in_w);
        if is_pointwise {
            let window = Window { in_h: w.in_h * w.in_w, in_w: 1, out_h: w.in_h * w.in_w, out_w: 1, ..w };
            return self.dense(Weighted { window, ..step }, input, output);
        }
        self.weighted(Op::Conv2d, kernels::args::conv2d_scratch_elems(&w), step, input, output)
    }

    /// `window.in_h` rows times a weight matrix.
    pub fn dense(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Error> {
        let w = step.window;
        let scratch = kernels::args::dense_scratch_elems(w.in_h, w.in_c, w.out_c);
        self.weighted(Op::Dense, scratch, step, input, output)
    }

    /// Depthwise convolution of `input` into `output`.
    pub fn depthwise_conv2d(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Error> {
        let scratch = kernels::args::depthwise_conv2d_scratch_elems(&step.window);
        self.weighted(Op::DepthwiseConv2d, scratch, step, input, output)
    }

    fn weighted(&mut self, op: Op, scratch: u32, w: Weighted, input: Value, output: Value) -> Result<(), Error> {
        let mut step = self.step(op, w.window, input, output).with_activation(w.activation);
        (step.weights, step.bias) = (w.tensors.weights, w.tensors.bias);
        if let Some(norm) = w.norm {
            step.flags |= FLAG_NORM;
            (step.norm_scale, step.norm_shift) = (norm.weights, norm.bias);
        }
        if w.accumulate {
            step.flags |= FLAG_ACCUMULATE;
        }
        if let Some((pitch, column)) = w.columns {
            (step.pitch, step.column) = (pitch, column);
        }
        self.push_with_scratch(step, scratch, input)
    }

    /// Pooling (`Op::MaxPool2d` or `Op::AvgPool2d`).
    pub fn pool2d(&mut self, op: Op, window: Window, input: Value, output: Value) -> Result<(), Error> {
        let step = self.step(op, window, input, output);
        self.sink.push(step)
    }

    /// Normalisation of `value` in place: batch norm, layer norm or global response normalisation with `eps`.
    pub fn normalise(&mut self, op: Op, shape: Shape, tensors: Tensors, eps: f32, value: Value) -> Result<(), Error> {
        let mut step = self.step(op, flat_window(shape), value, value);
        (step.weights, step.bias, step.alpha) = (tensors.weights, tensors.bias, eps);
        let scratch = if op == Op::Grn { kernels::args::grn_scratch_elems(shape.c) } else { 0 };
        self.push_with_scratch(step, scratch, value)
    }

    /// Softmax of `value` in place: over the whole tensor, or over each row of a batch.
    pub fn softmax(&mut self, shape: Shape, value: Value) -> Result<(), Error> {
        let rows = if shape.is_rows { shape } else { Shape::rows(1, shape.elements()?) };
        let step = self.step(Op::Softmax, flat_window(rows), value, value);
        self.sink.push(step)
    }

    /// `value += other`, element by element.
    pub fn add(&mut self, other: Value, value: Value, shape: Shape) -> Result<(), Error> {
        let step = self.step(Op::Add, flat_window(shape), other, value);
        self.sink.push(step)
    }

    /// `value += upsampled(half)`; `shape` is the shape of `half`.
    pub fn add_upsampled2x(&mut self, half: Value, value: Value, shape: Shape) -> Result<(), Error> {
        let step =
            self.step(Op::AddUpsampled2x, Window { in_w: shape.w, in_h: shape.h, ..flat_window(shape) }, half, value);
        self.sink.push(step)
    }

    fn copy(&mut self, from: Value, to: Value) -> Result<(), Error> {
        let step = self.step(Op::Copy, flat_window(Shape::rows(1, from.elems)), from, to);
        self.sink.push(step)
    }

    fn step(&self, op: Op, window: Window, input: Value, output: Value) -> Step {
        let mut step = Step::new(op, window, self.operand(input), self.operand(output));
        step.layer = self.layer;
        step
    }

    fn push_with_scratch(&mut self, mut step: Step, elems: u32, away_from: Value) -> Result<(), Error> {
        if elems == 0 {
            return self.sink.push(step);
        }
        let scratch = self.allocate(elems, away_from)?;
        step.scratch = self.operand(scratch);
        self.sink.push(step)?;
        self.release(scratch);
        Ok(())
    }

    fn operand(&self, value: Value) -> Operand {
        match value.home {
            Home::Input => Operand::new(Place::Input, value.first, value.elems),
            Home::Output => Operand::new(Place::Output, value.first, value.elems),
            Home::Arena(slot) => Operand::new(Place::Arena, self.placement.first(slot) + value.first, value.elems),
        }
    }
}

/// A window without a kernel: `h * w` rows of `c` channels.
fn flat_window(shape: Shape) -> Window {
    let rows = shape.h * shape.w;
    Window { in_h: rows, in_w: 1, in_c: shape.c, out_h: rows, out_w: 1, out_c: shape.c, ..Window::default() }
}

/// Index of the last layer that writes a tensor of its own; those after it work in place or do nothing.
fn last_producer(model: &Model<'_>) -> usize {
    let in_place = |layer: &Layer| {
        matches!(layer, Layer::Flatten | Layer::FeatureTap(_) | Layer::BatchNorm2d(_) | Layer::LayerNorm2d(_))
    };
    model.layers().filter(|record| !in_place(&record.layer)).map(|record| record.index).last().unwrap_or(0)
}

fn take_one(
    cursor: &mut TensorCursor<'_>,
    expected: u32,
    what: &'static str,
    payload_offset: usize,
) -> Result<u32, Error> {
    let Some(desc) = cursor.peek() else { return Err(missing(what, cursor.next)) };
    let found = desc.entry.num_elements();
    if found != expected {
        let field = if cursor.is_bias { "elements of the bias tensor" } else { "elements of the weight tensor" };
        return Err(Error::new(ErrorKind::Weights).field(field).found(u64::from(found)).expected(u64::from(expected)));
    }
    cursor.advance();
    Ok(((desc.offset - payload_offset) / 4) as u32)
}

fn missing(what: &'static str, count: usize) -> Error {
    let field = if what == "bias" { "number of bias tensors" } else { "number of weight tensors" };
    Error::new(ErrorKind::Weights).field(field).found(count as u64).at_least(count as u64 + 1)
}

fn leftover(field: &'static str, used: usize, have: u32, at: usize) -> Result<(), Error> {
    if used == have as usize {
        return Ok(());
    }
    let error = Error::new(ErrorKind::Weights).field(field).found(used as u64).expected(u64::from(have)).at(at);
    Err(error.note("the catalog holds more"))
}
