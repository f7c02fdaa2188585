//! How many bytes a model needs, and its plan written into memory. Both come from the same passes of lowering.

use core::mem::size_of;
use core::ops::Range;

use super::layers::{LayerFacts, for_each_layer};
use super::lowering::{Lowering, StepSink};
use super::placement::{self, Policy, Scheme};
use super::steps::{PACKED_LINE, Step};
use crate::element;
use crate::error::Error;
use crate::fault::{Fault, text};
use crate::format::quant::QuantParams;
use crate::format::{LayerRecord, Model, NETWORK_CNN, NETWORK_MLP};
use crate::layers;
use crate::layers::feature_tap::MAX_TAPS;
use crate::network::NetworkHeader;
use crate::tensor::Shape;

/// Alignment of everything that a plan places, in bytes.
pub(crate) const ALIGN_BYTES: usize = placement::ALIGN_BYTES as usize;

/// What a model needs, computed from its records without running it and without memory of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryPlan {
    /// Arena bytes that loading takes and running uses, exactly, for any start address.
    pub arena_bytes: usize,
    /// Part of `arena_bytes` for activations and scratch.
    pub activation_bytes: usize,
    /// Part of `arena_bytes` for the network header and the steps.
    pub plan_bytes: usize,
    /// Part of `arena_bytes` for the integer tables of an int8 model: multipliers and shifts of every channel.
    pub table_bytes: usize,
    /// Part of `arena_bytes` for a copy of what must be aligned (weights and biases of float models, biases of int8 models):
    /// 0, unless the address of the model makes its payload misaligned.
    pub copied_bytes: usize,
    /// Memory that makes runs faster if it is there: room for weights in the order of the kernels, for any start address.
    pub packed_bytes: usize,
    /// Largest sum of activations and scratch that are alive at one time; what `activation_bytes` cannot go below.
    pub peak_live_bytes: usize,
    /// Bytes of weights and biases, which stay where the caller has them.
    pub flash_bytes: usize,
    /// Number of primitive steps.
    pub steps: usize,
    /// Multiply-accumulate operations of one run.
    pub macs: u64,
    /// Shape of the input.
    pub input: Shape,
    /// Shape of the output.
    pub output: Shape,
    /// Scale and zero point of the input of an int8 model.
    pub input_quant: Option<QuantParams>,
    /// Scale and zero point of the output of an int8 model.
    pub output_quant: Option<QuantParams>,
    /// First element and number of elements of each kept feature tap among the activations.
    pub taps: Taps,
    placement: Scheme,
}

impl MemoryPlan {
    /// Checks that the model can run and answers how many bytes it needs.
    pub fn of(model: &Model<'_>) -> Result<Self, Error> {
        Self::new(model, Scheme::COUNT)
    }

    /// The same with all feature taps kept: after a run they hold the maps that they mark, for somebody outside to read.
    pub fn keeping_taps(model: &Model<'_>) -> Result<Self, Error> {
        Self::new(model, Scheme { keeps_taps: true, ..Scheme::COUNT })
    }

    /// The plan for a scheme whose policy and capacity are still to be found.
    pub(super) fn new(model: &Model<'_>, wanted: Scheme) -> Result<Self, Error> {
        check_supported(model)?;
        let mut counter = Counter::default();
        let count = lower(model, wanted, &mut counter)?;
        let (placement, extent, taps) = best_placement(model, count.peak_bytes, wanted)?;
        let placement = Scheme { room: extent, ..placement };
        // What is packed for a step that uses what is free depends on how much that is.
        let packed_lines = if count.wants_room {
            lower(model, placement, &mut Counter::default())?.packed_lines
        } else {
            count.packed_lines
        };
        let too_large = text!(SizeOverflow, note "this model needs more memory than can be addressed").fault();
        let aligned = |bytes: usize| bytes.checked_next_multiple_of(ALIGN_BYTES).ok_or(too_large);
        let step_bytes = counter.steps.checked_mul(size_of::<Step>()).ok_or(too_large)?;
        let plan_bytes = aligned(size_of::<NetworkHeader>())? + aligned(step_bytes)?;
        let table_bytes = aligned(counter.table_bytes as usize)?;
        let copied_bytes = aligned(misaligned_bytes(model))?;
        let activation_bytes = aligned(extent as usize)?;
        let parts = [table_bytes, copied_bytes, activation_bytes, ALIGN_BYTES - 1];
        let sum = parts.iter().try_fold(plan_bytes, |sum, &bytes| sum.checked_add(bytes));
        let quant = model.quant().and_then(|quant| quant.entry(0));
        Ok(Self {
            arena_bytes: sum.ok_or(too_large)?,
            activation_bytes,
            plan_bytes,
            table_bytes,
            copied_bytes,
            packed_bytes: packed_bytes(packed_lines).ok_or(too_large)?,
            peak_live_bytes: count.peak_bytes as usize,
            flash_bytes: model.payload_bytes(),
            steps: counter.steps,
            macs: counter.macs,
            input: input_shape(model)?,
            output: count.output,
            input_quant: quant.map(|entry| entry.input),
            output_quant: quant.map(|_| count.output_quant),
            taps,
            placement,
        })
    }

    /// Arena bytes for the model with packed weights, its input and output, an eighth more, and 64 KiB for what else an arena
    /// holds.
    pub fn recommended_arena_bytes(&self) -> Result<usize, Error> {
        let element = if self.input_quant.is_some() { size_of::<i8>() } else { size_of::<f32>() };
        let tensors = (self.input.elements()? as usize + self.output.elements()? as usize) * element;
        let peak = self.arena_bytes.saturating_add(tensors);
        Ok(peak.saturating_add(peak / 8).saturating_add(64 * 1024).saturating_add(self.packed_bytes))
    }

    /// How activations were placed, for [`super::for_each_layer`].
    pub(crate) fn placement(&self) -> Scheme {
        self.placement
    }

    /// Writes the steps and tables; `steps` has [`MemoryPlan::steps`] entries, `tables` has [`MemoryPlan::table_bytes`].
    pub(crate) fn write(&self, model: &Model<'_>, steps: &mut [Step], tables: &mut [u8]) -> Result<(), Error> {
        let mut writer = Writer { steps, tables, next_step: 0, next_table: 0 };
        lower(model, self.placement, &mut writer).map(|_| ())
    }

    /// The steps one after another, for reports.
    pub fn for_each_step(&self, model: &Model<'_>, visit: &mut dyn FnMut(&Step)) -> Result<(), Error> {
        self.for_each_event(model, &mut |event| {
            if let Event::Step(step) = event {
                visit(step);
            }
        })
    }

    /// The steps one after another, and in between them what happens to the activations.
    pub fn for_each_event(&self, model: &Model<'_>, visit: &mut dyn FnMut(Event<'_>)) -> Result<(), Error> {
        lower(model, self.placement, &mut Visitor { visit, tables: 0 }).map(|_| ())
    }

    /// The layers in execution order, until `visit` fails.
    pub fn for_each_layer(
        &self,
        model: &Model<'_>,
        visit: &mut dyn FnMut(&LayerFacts) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for_each_layer(model, self.placement, visit)
    }
}

/// What a plan tells, in execution order. Ranges are bytes of the activations.
#[derive(Clone, Debug)]
pub enum Event<'s> {
    /// A step runs.
    Step(&'s Step),
    /// A tensor or scratch lies here from the next step on.
    Allocated(Range<u32>),
    /// The same range is free behind the last step.
    Released(Range<u32>),
}

/// An error of a layer, with its place.
#[cold]
#[inline(never)]
fn in_layer(fault: &Fault, record: &LayerRecord) -> Error {
    fault.error().at(record.offset).in_layer(record.index, record.layer.kind())
}

/// Shapes of input and output of any model that parses, also of one that this build cannot run.
pub fn shapes(model: &Model<'_>) -> Result<(Shape, Shape), Error> {
    let input = input_shape(model)?;
    let mut weights = 0;
    let mut shape = input;
    for record in model.layers() {
        let elements = model.entry_at(false, weights).map_or(0, |entry| entry.num_elements());
        shape = layers::output_shape(&record.layer, shape, elements).map_err(|fault| in_layer(&fault, &record))?;
        weights += layers::tensor_pairs(&record.layer, model.is_quantized()) as usize;
    }
    shape.elements()?;
    Ok((input, shape))
}

pub(super) fn input_shape(model: &Model<'_>) -> Result<Shape, Error> {
    let header = model.header();
    let [a, b, c, _] = header.input_shape;
    let shape = match (header.network, header.input_rank) {
        (NETWORK_MLP, _) => Shape::rows(a, b),
        (network, 2) if network != NETWORK_CNN => Shape::rows(a, b),
        (_, 3) => Shape::map(a, b, c),
        _ => {
            return Err(text!(Header: expected, field "input_rank").told(header.input_rank.into(), 3).into());
        }
    };
    shape.elements().map_err(|fault| fault.error().at(12))?;
    Ok(shape)
}

/// Bytes of the payload that must be copied to be aligned: all floats, or the int32 biases of an int8 model.
fn misaligned_bytes(model: &Model<'_>) -> usize {
    if model.payload().as_ptr().cast::<f32>().is_aligned() {
        0
    } else if model.is_quantized() {
        model.header().biases_bytes as usize
    } else {
        model.payload_bytes()
    }
}

fn check_supported(model: &Model<'_>) -> Result<(), Error> {
    let header = model.header();
    if !(1..=2).contains(&header.network) {
        let text = text!(Unsupported: found, field "network_kind", note "this library runs MLP (1) and CNN (2)");
        return Err(text.told(header.network.into(), 0).error().at(8));
    }
    Ok(element::require(model.is_quantized())?)
}

/// First element and number of elements of each kept feature tap.
type Taps = [Option<(u32, u32)>; MAX_TAPS as usize];

/// Result of one pass over the layers.
struct Pass {
    packed_lines: u32,
    wants_room: bool,
    peak_bytes: u32,
    extent_bytes: u32,
    output: Shape,
    output_quant: QuantParams,
    taps: Taps,
}

/// Lowers the layers one after another; `visit` sees each record with the state behind it. The state is large: it lies once on
/// the stack, with whoever needs it afterwards.
pub(super) fn lower_layers<'m, 's>(
    model: &Model<'m>,
    lowering: &mut Lowering<'m, 's>,
    visit: &mut dyn FnMut(LayerRecord, &Lowering<'m, 's>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut records = model.layers().peekable();
    if records.peek().is_none() {
        return Err(text!(Layer: at_least, field "num_layers").told(0, 1).error().at(28));
    }
    while let Some(record) = records.next() {
        if lowering.enter(record.index, records.peek().map(|next| next.layer)) {
            layers::lower(&record.layer, lowering).map_err(|fault| in_layer(&fault, &record))?;
        }
        visit(record, lowering)?;
    }
    Ok(())
}

fn lower(model: &Model<'_>, scheme: Scheme, sink: &mut dyn StepSink) -> Result<Pass, Error> {
    let mut lowering = Lowering::new(model, input_shape(model)?, scheme, sink);
    lower_layers(model, &mut lowering, &mut |_, _| Ok(()))?;
    lowering.finish()?;
    let output = lowering.shape;
    output.elements()?;
    Ok(Pass {
        packed_lines: lowering.packed_lines,
        wants_room: lowering.wants_room,
        peak_bytes: lowering.placement.peak_bytes,
        extent_bytes: lowering.placement.extent_bytes,
        output,
        output_quant: lowering.quant,
        taps: if scheme.keeps_taps { lowering.kept_taps() } else { Taps::default() },
    })
}

/// Room for packed weights: their lines, one more that no step uses, and what it takes to align them.
fn packed_bytes(lines: u32) -> Option<usize> {
    if lines <= 1 {
        return Some(0);
    }
    (lines as usize).checked_mul(PACKED_LINE)?.checked_add(PACKED_LINE - 1)
}

/// Draws that are tried when the simple policies waste memory. Feature pyramids are the models that need some; of those
/// seen, none needed more than 30 draws to reach the peak.
const DRAWS: u32 = 64;

/// The placement with the smallest extent, at best `peak` bytes.
fn best_placement(model: &Model<'_>, peak: u32, wanted: Scheme) -> Result<(Scheme, u32, Taps), Error> {
    let simple = [(Policy::TwoEnded, peak), (Policy::FirstFit, 0)];
    let mut best: Option<(Scheme, u32, Taps)> = None;
    for (policy, capacity) in simple.into_iter().chain((0..DRAWS).map(|seed| (Policy::Drawn(seed), peak))) {
        let scheme = Scheme { policy, capacity, ..wanted };
        let pass = lower(model, scheme, &mut Counter::default())?;
        if best.is_none_or(|(_, extent, _)| pass.extent_bytes < extent) {
            best = Some((scheme, pass.extent_bytes, pass.taps));
        }
        if best.is_some_and(|(_, extent, _)| extent == peak) {
            break;
        }
    }
    best.ok_or(text!(SizeOverflow).fault().into())
}

/// Hands out offsets of tables.
pub(super) fn next_table(next: &mut u32, bytes: u32) -> Result<u32, Fault> {
    let offset = *next;
    *next = offset.checked_add(bytes).ok_or(text!(SizeOverflow, note "the tables are too large").fault())?;
    Ok(offset)
}

#[derive(Default)]
struct Counter {
    steps: usize,
    macs: u64,
    table_bytes: u32,
}

impl StepSink for Counter {
    fn push(&mut self, step: Step) -> Result<(), Fault> {
        self.steps += 1;
        self.macs = self.macs.saturating_add(step.macs());
        Ok(())
    }

    fn table(&mut self, bytes: u32) -> Result<(u32, Option<&mut [u8]>), Fault> {
        Ok((next_table(&mut self.table_bytes, bytes)?, None))
    }
}

struct Visitor<'a> {
    visit: &'a mut dyn FnMut(Event<'_>),
    tables: u32,
}

impl StepSink for Visitor<'_> {
    fn push(&mut self, step: Step) -> Result<(), Fault> {
        (self.visit)(Event::Step(&step));
        Ok(())
    }

    fn table(&mut self, bytes: u32) -> Result<(u32, Option<&mut [u8]>), Fault> {
        Ok((next_table(&mut self.tables, bytes)?, None))
    }

    fn allocated(&mut self, bytes: Range<u32>) {
        (self.visit)(Event::Allocated(bytes));
    }

    fn released(&mut self, bytes: Range<u32>) {
        (self.visit)(Event::Released(bytes));
    }
}

/// Writes steps and tables into the arena.
struct Writer<'a> {
    steps: &'a mut [Step],
    tables: &'a mut [u8],
    next_step: usize,
    next_table: u32,
}

impl StepSink for Writer<'_> {
    fn push(&mut self, step: Step) -> Result<(), Fault> {
        let Some(slot) = self.steps.get_mut(self.next_step) else {
            return Err(text!(Arena: found, field "steps").told(self.next_step, 0));
        };
        *slot = step;
        self.next_step += 1;
        Ok(())
    }

    fn table(&mut self, bytes: u32) -> Result<(u32, Option<&mut [u8]>), Fault> {
        let offset = next_table(&mut self.next_table, bytes)?;
        let table = self.tables.get_mut(offset as usize..self.next_table as usize);
        Ok((offset, Some(table.ok_or(text!(Arena: found, field "tables").told(offset as usize, 0))?)))
    }
}
