//! The vocabulary in which a layer kind describes itself as steps.
//!
//! A layer's `lower` function is a small program: it takes its tensors from the catalog in order, makes room for results,
//! emits steps and releases what is no longer needed. The same program runs for counting, for placing and for writing, and
//! for float and int8 models alike.
//!
//! ```text
//! mod.rs       running result, room for tensors, feature taps
//! tensors.rs   taking tensors from the catalog
//! emit.rs      the steps
//! merge.rs     what a step takes over from the next layer
//! edges.rs     rows and columns of a kernel that are nothing but zeros
//! float.rs     what a float step has besides: scratch memory
//! quant.rs     what an int8 step has besides: scratch memory, zero points, clamps, tables
//! params.rs    scales and zero points by convention
//! absent.rs    in place of float.rs or quant.rs, if the build leaves it out
//! ```

#[cfg(not(all(feature = "f32", feature = "int8")))]
mod absent;
mod edges;
mod emit;
#[cfg(feature = "f32")]
mod float;
mod merge;
mod params;
#[cfg(feature = "int8")]
mod quant;
mod tensors;

pub use emit::{Residual, Weighted};
#[cfg(feature = "f32")]
pub(crate) use float::{Packing, packed_bytes as float_packed_bytes};
pub(super) use params::input_params;
pub use params::{SIGMOID_OUTPUT, TANH_OUTPUT, table_activation};
#[cfg(feature = "int8")]
pub(crate) use quant::packed_bytes as int8_packed_bytes;
pub use tensors::{Cursor, Tensors};

use core::ops::Range;

#[cfg(not(feature = "f32"))]
use absent as float;
#[cfg(not(feature = "int8"))]
use absent as quant;

use super::placement::{Placement, Scheme, Slot};
use super::steps::{Op, Operand, Place, Step};
use crate::element;
use crate::error::Error;
use crate::fault::Fault;
use crate::format::quant::QuantParams;
use crate::format::{Layer, Model};
use crate::layers::groups::YOLOX;
use crate::tensor::Shape;

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

    fn output(elems: u32) -> Self {
        Self { home: Home::Output, first: 0, elems }
    }

    /// `elems` elements from element `first` on.
    pub fn part(self, first: u32, elems: u32) -> Self {
        Self { home: self.home, first: self.first + first, elems }
    }
}

/// Takes the steps in execution order.
pub trait StepSink {
    /// Appends a step.
    fn push(&mut self, step: Step) -> Result<(), Fault>;

    /// Makes room for a table of `bytes` bytes, a multiple of 4. Gives its offset, and the room itself when the tables are
    /// being written and not only counted.
    fn table(&mut self, bytes: u32) -> Result<(u32, Option<&mut [u8]>), Fault>;

    /// These bytes of the activations hold a tensor or scratch from the next step on.
    fn allocated(&mut self, _bytes: Range<u32>) {}

    /// These bytes are free again behind the last step.
    fn released(&mut self, _bytes: Range<u32>) {}
}

/// State of lowering one model.
pub struct Lowering<'m, 's> {
    model: &'s Model<'m>,
    cursor: Cursor,
    /// Tensors alive at the moment.
    pub placement: Placement,
    sink: &'s mut dyn StepSink,
    /// Bytes of activations that the arena will have; 0 while that is not known.
    room: u32,
    /// Whether a step would use memory that is free.
    pub(in crate::plan) wants_room: bool,
    /// Lines of packed weights so far; the first one holds none, because a step says 0 when it has none.
    pub(in crate::plan) packed_lines: u32,
    layer: u8,
    last_producer: usize,
    /// The layer after the present one.
    pub next: Option<Layer>,
    fused_next: bool,
    /// Output of the present layer where the next one has been merged into it and its result is that of the next.
    pub(in crate::plan) merged: Option<Shape>,
    /// Result of the layers so far.
    pub value: Value,
    /// Its shape.
    pub shape: Shape,
    /// Its scale and zero point in an int8 model.
    pub quant: QuantParams,
    taps: [Option<(Value, Shape)>; 4],
    last_tap_reader: Option<usize>,
    /// Whether taps stay in the arena until the end, for somebody outside to read.
    keeps_taps: bool,
    /// Whether the steps become code, whose kernels need scratch memory for GRN alone.
    is_for_code: bool,
}

impl<'m, 's> Lowering<'m, 's> {
    /// Starts with the caller's input, whose size has been checked.
    pub fn new(model: &'s Model<'m>, input: Shape, scheme: Scheme, sink: &'s mut dyn StepSink) -> Self {
        Self {
            model,
            cursor: Cursor::start(model),
            placement: Placement::new(scheme),
            room: scheme.room,
            wants_room: false,
            sink,
            packed_lines: 1,
            layer: 0,
            last_producer: last_producer(model),
            next: None,
            fused_next: false,
            merged: None,
            value: Value::input(input.elements().unwrap_or_default()),
            shape: input,
            quant: input_params(model),
            taps: [None; 4],
            last_tap_reader: if YOLOX { last_tap_reader(model) } else { None },
            keeps_taps: scheme.keeps_taps,
            is_for_code: scheme.is_for_code,
        }
    }

    /// Moves to layer `index`; returns false when the previous layer has already done its work.
    pub fn enter(&mut self, index: usize, next: Option<Layer>) -> bool {
        self.layer = index as u8;
        self.next = next;
        self.merged = None;
        !core::mem::take(&mut self.fused_next)
    }

    /// Ends the model: every tensor used, the result in the caller's output.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.check_all_taken()?;
        if self.value.home != Home::Output {
            let output = Value::output(self.value.elems);
            self.copy(self.value, output)?;
            self.value = output;
        }
        Ok(())
    }

    /// True for an int8 model. Known beforehand in a build for one type, which thus has no code for the other.
    pub fn is_quantized(&self) -> bool {
        element::ONLY_INT8.unwrap_or_else(|| self.model.is_quantized())
    }

    /// Bytes of one element of an activation.
    fn elem_bytes(&self) -> u32 {
        if self.is_quantized() { 1 } else { 4 }
    }

    /// Bytes of scratch memory that the kernel of a step needs.
    fn scratch_bytes(&self, op: Op, step: &Step) -> u32 {
        if self.is_for_code && op != Op::Grn {
            return 0;
        }
        if self.is_quantized() { quant::scratch_bytes(op, step) } else { float::scratch_bytes(op, step) }
    }

    /// The least and the most bytes of scratch that make the kernel of a step faster, if they are free anyway.
    fn spare_scratch_bytes(&self, step: &Step) -> Option<(u32, u32)> {
        if self.is_quantized() { quant::spare_scratch_bytes(step) } else { float::spare_scratch_bytes(step) }
    }

    /// Bytes of the packed weights of a step; 0 where its kernel cannot use any.
    fn packed_bytes(&self, step: &Step) -> usize {
        if self.is_quantized() { quant::packed_bytes(step) } else { float::packed_bytes(step) }
    }

    // ---- memory --------------------------------------------------------------------------------------------------

    /// True when nothing after the present layer, and the one that is merged into it, moves data: its result belongs in
    /// the caller's output.
    pub fn is_last(&self) -> bool {
        usize::from(self.layer) + usize::from(self.fused_next) >= self.last_producer
    }

    /// Room for a tensor inside a block, away from the tensor it is made from.
    #[inline(never)]
    pub fn temporary(&mut self, shape: Shape, from: Value) -> Result<Value, Fault> {
        let elems = shape.elements()?;
        // At most 2^29 elements of 4 bytes: no overflow.
        let slot = self.allocate(elems * self.elem_bytes(), from)?;
        Ok(Value { home: Home::Arena(slot), first: 0, elems })
    }

    #[inline(never)]
    fn allocate(&mut self, bytes: u32, from: Value) -> Result<Slot, Fault> {
        let slot = self.place(bytes, from)?;
        self.sink.allocated(self.placement.range(slot));
        Ok(slot)
    }

    /// Finds room that nobody is told of yet.
    fn place(&mut self, bytes: u32, from: Value) -> Result<Slot, Fault> {
        let away_from = match from.home {
            Home::Arena(slot) => Some(slot),
            Home::Input | Home::Output => None,
        };
        self.placement.allocate(bytes, away_from)
    }

    fn free(&mut self, slot: Slot) {
        if let Some(bytes) = self.placement.release(slot) {
            self.sink.released(bytes);
        }
    }

    /// Room for the result of the present layer: the caller's output for the last one.
    #[inline(never)]
    pub fn destination(&mut self, shape: Shape, from: Value) -> Result<Value, Fault> {
        if self.is_last() { Ok(Value::output(shape.elements()?)) } else { self.temporary(shape, from) }
    }

    /// Keeps a tensor alive for one more [`Lowering::release`].
    pub fn retain(&mut self, value: Value) {
        if let Home::Arena(slot) = value.home {
            self.placement.retain(slot);
        }
    }

    /// Says that a tensor is not read any more by its holder.
    #[inline(never)]
    pub fn release(&mut self, value: Value) {
        if let Home::Arena(slot) = value.home {
            self.free(slot);
        }
    }

    /// A tensor with the content of `value` that may be overwritten, and in the last layer lies in the caller's output:
    /// `value` itself if nobody else reads it, else a copy. Takes over the caller's reference to `value`.
    pub fn into_mutable(&mut self, value: Value, shape: Shape) -> Result<Value, Fault> {
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

    /// Where a tensor lies.
    #[inline(never)]
    pub(crate) fn operand(&self, value: Value) -> Operand {
        match value.home {
            Home::Input => Operand::new(Place::Input, value.first, value.elems),
            Home::Output => Operand::new(Place::Output, value.first, value.elems),
            Home::Arena(slot) => {
                let first = self.placement.first(slot) / self.elem_bytes();
                Operand::new(Place::Arena, first + value.first, value.elems)
            }
        }
    }

    // ---- feature taps --------------------------------------------------------------------------------------------

    /// Remembers the running result under `id`, while a later layer or somebody outside reads taps.
    pub fn set_tap(&mut self, id: u8) -> Result<(), Fault> {
        if !self.keeps_taps && self.last_tap_reader.is_none_or(|reader| reader < usize::from(self.layer)) {
            return Ok(());
        }
        let value = self.tap_value()?;
        let tap = Some((value, self.shape));
        let old = match self.taps.get_mut(usize::from(id)) {
            Some(entry) => core::mem::replace(entry, tap),
            None => tap,
        };
        if let Some((value, _)) = old {
            self.release(value);
        }
        Ok(())
    }

    /// The running result with a reference of its own. What lies in the caller's buffers does not stay there, so that a
    /// kept tap is a copy then.
    fn tap_value(&mut self) -> Result<Value, Fault> {
        if self.keeps_taps && !matches!(self.value.home, Home::Arena(_)) {
            let copy = self.temporary(self.shape, self.value)?;
            self.copy(self.value, copy)?;
            return Ok(copy);
        }
        self.retain(self.value);
        Ok(self.value)
    }

    /// First element and number of elements of each tap that is still alive.
    pub fn kept_taps(&self) -> [Option<(u32, u32)>; 4] {
        self.taps.map(|tap| {
            let range = self.operand(tap?.0).range();
            Some((range.start as u32, range.len() as u32))
        })
    }

    /// The tap `id`, and its shape.
    pub fn tap(&self, id: u8) -> Option<(Value, Shape)> {
        self.taps.get(usize::from(id)).copied().flatten()
    }

    /// Lets go of all taps after the last layer that reads them has done so.
    pub fn release_taps(&mut self) {
        if self.keeps_taps || self.last_tap_reader != Some(usize::from(self.layer)) {
            return;
        }
        for (value, _) in core::mem::take(&mut self.taps).into_iter().flatten() {
            self.release(value);
        }
    }
}

fn last_tap_reader(model: &Model<'_>) -> Option<usize> {
    let readers = model.layers().filter(|record| matches!(record.layer, Layer::YoloxPafpnMultiscale(_)));
    readers.map(|record| record.index).last()
}

/// Index of the last layer that writes a tensor of its own; those after it work in place or do nothing.
fn last_producer(model: &Model<'_>) -> usize {
    let in_place = |layer: &Layer| {
        matches!(layer, Layer::Flatten | Layer::FeatureTap(_) | Layer::BatchNorm2d(_) | Layer::LayerNorm2d(_))
    };
    model.layers().filter(|record| !in_place(&record.layer)).map(|record| record.index).last().unwrap_or(0)
}
