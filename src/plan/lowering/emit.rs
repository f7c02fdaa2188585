//! Emitting steps.

use core::ops::Range;

use super::{Lowering, Tensors, Value};
use crate::fault::{Fault, Text, text};
use crate::format::quant::QuantParams;
use crate::kernels::{Activation, PACKS};
use crate::plan::placement::Slot;
use crate::plan::steps::{FLAG_ACCUMULATE, FLAG_NORM, FLAG_POOLED, Op, Operand, PACKED_LINE, Place, Step};
use crate::tensor::{Shape, Window};

/// A step with weights: what [`Lowering::conv2d`], [`Lowering::depthwise_conv2d`] and [`Lowering::dense`] emit.
#[derive(Clone, Copy, Debug)]
pub struct Weighted {
    /// Geometry; a dense step has `in_h` rows.
    pub window: Window,
    /// Weights and bias.
    pub tensors: Tensors,
    /// Folded batch norm; float only.
    pub norm: Option<Tensors>,
    /// Adds the present content of the output; float only.
    pub accumulate: bool,
    /// Activation of the result.
    pub activation: Activation,
    /// Ends with the max pool of the next layer, see [`Lowering::merge_following_pool`]; int8 only.
    pub pooled: bool,
    /// `(pitch, first column)` when the output pixels are wider than this step's channels; float only.
    pub columns: Option<(u32, u32)>,
}

impl Weighted {
    /// Weights and bias only.
    pub fn new(window: Window, tensors: Tensors) -> Self {
        let activation = Activation::None;
        Self { window, tensors, norm: None, accumulate: false, activation, pooled: false, columns: None }
    }
}

/// The other term of a residual block.
#[derive(Clone, Copy, Debug)]
pub struct Residual {
    /// The tensor that is added; the block's reference to it is taken over.
    pub value: Value,
    /// Its scale and zero point in an int8 model.
    pub quant: QuantParams,
    /// Scale and zero point of the sum in an int8 model; those of the step itself when not said.
    pub sum_quant: Option<QuantParams>,
    /// Activation of the sum.
    pub activation: Activation,
}

impl Lowering<'_, '_> {
    /// Convolution of `input` into `output`.
    pub fn conv2d(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Fault> {
        let w = step.window;
        self.require_symmetric_weights(&step)?;
        let is_pointwise = (w.kernel_h, w.kernel_w, w.stride) == (1, 1, 1) && (w.out_h, w.out_w) == (w.in_h, w.in_w);
        if is_pointwise && !step.pooled {
            let window = Window { in_h: w.in_h * w.in_w, in_w: 1, out_h: w.in_h * w.in_w, out_w: 1, ..w };
            return self.dense(Weighted { window, ..step }, input, output);
        }
        self.weighted(Op::Conv2d, step, input, output)
    }

    /// `window.in_h` rows times a weight matrix.
    pub fn dense(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Fault> {
        self.weighted(Op::Dense, step, input, output)
    }

    /// Depthwise convolution of `input` into `output`.
    pub fn depthwise_conv2d(&mut self, step: Weighted, input: Value, output: Value) -> Result<(), Fault> {
        self.require_symmetric_weights(&step)?;
        self.weighted(Op::DepthwiseConv2d, step, input, output)
    }

    fn weighted(&mut self, op: Op, w: Weighted, input: Value, output: Value) -> Result<(), Fault> {
        let (window, first) = if op == Op::Conv2d { self.without_zero_edges(&w) } else { (w.window, 0) };
        let mut step = self.step(op, window, input, output);
        (step.weights, step.bias) = (w.tensors.weights + first, w.tensors.bias);
        step.kernel_size = w.window.kernel_h;
        if w.pooled {
            step.flags |= FLAG_POOLED;
        }
        if self.is_quantized() {
            return self.quantized(step, &w, input, output);
        }
        step = step.with_activation(w.activation);
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
        self.push_with_scratch(step, input)
    }

    /// Gives a step its place among the packed weights, if its kernel can use them.
    fn reserve_packed(&mut self, step: &mut Step) -> Result<(), Fault> {
        let too_large = text!(SizeOverflow, note "the packed weights are too large").fault();
        let bytes = if PACKS { self.packed_bytes(step) } else { 0 };
        let lines = bytes.div_ceil(PACKED_LINE);
        if lines > 0 {
            step.packed = self.packed_lines;
            let lines = u32::try_from(lines).map_err(|_| too_large)?;
            self.packed_lines = self.packed_lines.checked_add(lines).ok_or(too_large)?;
        }
        Ok(())
    }

    /// The last convolution of a residual block: `activation(step(input) + residual)`, as the result of the block. `input`
    /// is released.
    ///
    /// A float convolution adds to its output, which is the residual itself unless somebody else reads that too. An int8
    /// sum has a scale of its own, so it is a step.
    pub fn conv2d_with_residual(&mut self, step: Weighted, input: Value, residual: Residual) -> Result<(), Fault> {
        let shape = step.window.output();
        let output = if self.is_quantized() {
            let output = self.destination(shape, input)?;
            self.conv2d(step, input, output)?;
            self.add_quantized(output, &residual, shape)?;
            self.release(residual.value);
            output
        } else {
            let output = self.into_mutable(residual.value, shape)?;
            self.conv2d(Weighted { accumulate: true, activation: residual.activation, ..step }, input, output)?;
            output
        };
        self.release(input);
        self.set_result(output, shape);
        Ok(())
    }

    /// Room for the projected shortcut of a residual block, which [`Lowering::conv2d_with_residual`] adds later.
    pub fn shortcut(&mut self, shape: Shape, from: Value) -> Result<Value, Fault> {
        if self.is_quantized() { self.temporary(shape, from) } else { self.destination(shape, from) }
    }

    /// Pooling (`Op::MaxPool2d` or `Op::AvgPool2d`).
    #[inline(never)]
    pub fn pool2d(&mut self, op: Op, window: Window, input: Value, output: Value) -> Result<(), Fault> {
        let mut step = self.step(op, window, input, output);
        step.quant.input_zero_point = self.quant.zero_point as i8;
        self.sink.push(step)
    }

    /// Normalisation of `value` in place: batch norm, layer norm or global response normalisation with `eps`.
    pub fn normalise(&mut self, op: Op, shape: Shape, tensors: Tensors, eps: f32, value: Value) -> Result<(), Fault> {
        let mut step = self.step(op, flat_window(shape), value, value);
        (step.weights, step.bias, step.alpha) = (tensors.weights, tensors.bias, eps);
        self.push_with_scratch(step, value)
    }

    /// Softmax of `value` in place: over the whole tensor, or over each row of a batch.
    pub fn softmax(&mut self, shape: Shape, value: Value) -> Result<(), Fault> {
        let rows = if shape.is_rows { shape } else { Shape::rows(1, shape.elements()?) };
        let mut step = self.step(Op::Softmax, flat_window(rows), value, value);
        if self.is_quantized() {
            step.quant.table = self.softmax_table()?;
        }
        self.sink.push(step)
    }

    /// `value += other`, element by element.
    pub fn add(&mut self, other: Value, value: Value, shape: Shape) -> Result<(), Fault> {
        let step = self.step(Op::Add, flat_window(shape), other, value);
        self.sink.push(step)
    }

    /// `value += upsampled(half)`; `shape` is the shape of `half`.
    pub fn add_upsampled2x(&mut self, half: Value, value: Value, shape: Shape) -> Result<(), Fault> {
        let window = Window { in_w: shape.w, in_h: shape.h, ..flat_window(shape) };
        let step = self.step(Op::AddUpsampled2x, window, half, value);
        self.sink.push(step)
    }

    pub(super) fn copy(&mut self, from: Value, to: Value) -> Result<(), Fault> {
        let step = self.step(Op::Copy, flat_window(Shape::rows(1, from.elems)), from, to);
        self.sink.push(step)
    }

    #[inline(never)]
    pub(super) fn step(&self, op: Op, window: Window, input: Value, output: Value) -> Step {
        let mut step = Step::new(op, window, self.operand(input), self.operand(output));
        step.layer = self.layer;
        step
    }

    /// Appends a step with the scratch memory that its kernel needs, away from what it reads.
    pub(super) fn push_with_scratch(&mut self, mut step: Step, away_from: Value) -> Result<(), Fault> {
        let bytes = step.op().map_or(0, |op| self.scratch_bytes(op, &step));
        if bytes == 0 {
            return self.push_weighted(step);
        }
        let slot = self.place(bytes, away_from)?;
        let size = self.elem_bytes();
        let needed = self.placement.first(slot)..self.placement.first(slot) + bytes;
        let spare = self.spare_scratch(&step, slot);
        // One range is told, the one that the step gets.
        let told = spare.clone().unwrap_or(self.placement.range(slot));
        let scratch = spare.unwrap_or(needed);
        step.scratch = Operand::new(Place::Arena, scratch.start / size, (scratch.end - scratch.start).div_ceil(size));
        self.placement.release(slot);
        self.sink.allocated(told.clone());
        self.push_weighted(step)?;
        self.sink.released(told);
        Ok(())
    }

    /// Appends a step with its place among the packed weights, which depends on its scratch.
    fn push_weighted(&mut self, mut step: Step) -> Result<(), Fault> {
        self.reserve_packed(&mut step)?;
        self.sink.push(step)
    }

    /// More scratch than a step needs, in memory that is free while it runs: in the largest gap, which may hold the scratch
    /// that it needs.
    fn spare_scratch(&mut self, step: &Step, needed: Slot) -> Option<Range<u32>> {
        let (least, most) = self.spare_scratch_bytes(step)?;
        self.wants_room = true;
        let gap = self.placement.largest_gap(needed, self.room);
        let bytes = gap.end - gap.start;
        (bytes >= least).then(|| gap.start..gap.start + bytes.min(most))
    }

    /// Refuses a step that int8 models cannot have.
    pub fn require_float(&self, why: &'static Text) -> Result<(), Fault> {
        if self.is_quantized() { Err(why.fault()) } else { Ok(()) }
    }
}

/// A window without a kernel: `h * w` rows of `c` channels.
pub(super) fn flat_window(shape: Shape) -> Window {
    let rows = shape.h * shape.w;
    Window { in_h: rows, in_w: 1, in_c: shape.c, out_h: rows, out_w: 1, out_c: shape.c, ..Window::default() }
}
