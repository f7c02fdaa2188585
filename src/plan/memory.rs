//! How many bytes a model needs, and its plan written into memory. Both come from the same passes of lowering.

use core::mem::size_of;

use super::lowering::{Lowering, StepSink};
use super::placement::{ALIGN_ELEMS, Policy};
use super::steps::Step;
use crate::error::{Error, ErrorKind};
use crate::format::{Model, NETWORK_MLP};
use crate::layers;
use crate::network::NetworkHeader;
use crate::tensor::Shape;

/// Alignment of everything that a plan places, in bytes.
pub(crate) const ALIGN_BYTES: usize = ALIGN_ELEMS as usize * 4;

/// What a model needs, computed from its records without running it and without memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Arena bytes that loading takes and running uses, exactly, for any start address.
    pub arena_bytes: usize,
    /// Part of `arena_bytes` for activations and scratch.
    pub activation_bytes: usize,
    /// Part of `arena_bytes` for the network header and the steps.
    pub plan_bytes: usize,
    /// Part of `arena_bytes` for a copy of the weights: 0, unless the address of the model makes its payload misaligned.
    pub copied_bytes: usize,
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
    placement: (Policy, u32),
}

impl MemoryPlan {
    /// Checks that the model can run and answers how many bytes it needs.
    pub fn of(model: &Model<'_>) -> Result<Self, Error> {
        check_supported(model)?;
        let mut counter = Counter::default();
        let count = lower(model, Policy::Count, 0, &mut counter)?;
        let (placement, extent) = best_placement(model, count.peak_elems)?;
        let too_large = Error::new(ErrorKind::SizeOverflow).note("this model needs more memory than can be addressed");
        let bytes = |count: usize, size: usize| {
            count.checked_mul(size).and_then(|bytes| bytes.checked_next_multiple_of(ALIGN_BYTES)).ok_or(too_large)
        };
        let plan_bytes = bytes(1, size_of::<NetworkHeader>())? + bytes(counter.steps, size_of::<Step>())?;
        let copied_bytes = if payload_is_aligned(model) { 0 } else { bytes(model.payload_bytes(), 1)? };
        let activation_bytes = bytes(extent as usize, 4)?;
        let sum =
            [copied_bytes, activation_bytes, ALIGN_BYTES - 1].iter().try_fold(plan_bytes, |sum, &n| sum.checked_add(n));
        Ok(Self {
            arena_bytes: sum.ok_or(too_large)?,
            activation_bytes,
            plan_bytes,
            copied_bytes,
            peak_live_bytes: bytes(count.peak_elems as usize, 4)?,
            flash_bytes: model.payload_bytes(),
            steps: counter.steps,
            macs: counter.macs,
            input: input_shape(model)?,
            output: count.output,
            placement,
        })
    }

    /// Writes the steps; `steps` has [`MemoryPlan::steps`] entries.
    pub(crate) fn write_steps(&self, model: &Model<'_>, steps: &mut [Step]) -> Result<(), Error> {
        let (policy, capacity) = self.placement;
        lower(model, policy, capacity, &mut PlanWriter { steps, next: 0 }).map(|_| ())
    }

    /// The steps one after another, for reports.
    pub fn for_each_step(&self, model: &Model<'_>, visit: &mut dyn FnMut(&Step)) -> Result<(), Error> {
        let (policy, capacity) = self.placement;
        lower(model, policy, capacity, &mut Visitor(visit)).map(|_| ())
    }
}

/// Shapes of input and output of any model that parses, also of one that this build cannot run.
pub fn shapes(model: &Model<'_>) -> Result<(Shape, Shape), Error> {
    let input = input_shape(model)?;
    let mut weights = 0;
    let mut shape = input;
    for record in model.layers() {
        let elems = model.entry_at(false, weights).map_or(0, |entry| entry.num_elements());
        shape = layers::output_shape(&record.layer, shape, elems)
            .map_err(|error| error.at(record.offset).in_layer(record.index, record.layer.kind()))?;
        weights += layers::tensor_pairs(&record.layer, shape, model.is_quantized()) as usize;
    }
    shape.elements()?;
    Ok((input, shape))
}

fn input_shape(model: &Model<'_>) -> Result<Shape, Error> {
    let header = model.header();
    let [a, b, c, _] = header.input_shape;
    let shape = match (header.network, header.input_rank) {
        (NETWORK_MLP, _) => Shape::rows(a, b),
        (_, 3) => Shape::map(a, b, c),
        _ => {
            return Err(Error::new(ErrorKind::Header)
                .field("input_rank")
                .found(u64::from(header.input_rank))
                .expected(3));
        }
    };
    shape.elements().map_err(|error| error.at(12))?;
    Ok(shape)
}

/// True when the float payload can be read in place.
fn payload_is_aligned(model: &Model<'_>) -> bool {
    model.payload().as_ptr().cast::<f32>().is_aligned()
}

fn check_supported(model: &Model<'_>) -> Result<(), Error> {
    let header = model.header();
    if !(1..=2).contains(&header.network) {
        let error = Error::new(ErrorKind::Unsupported).field("network_kind").found(u64::from(header.network)).at(8);
        return Err(error.note("this library runs MLP (1) and CNN (2)"));
    }
    if model.is_quantized() {
        return Err(
            Error::new(ErrorKind::Unsupported).note("int8 models cannot be run by this version, only inspected")
        );
    }
    Ok(())
}

/// Result of one pass over the layers.
struct Pass {
    peak_elems: u32,
    extent_elems: u32,
    output: Shape,
}

fn lower(model: &Model<'_>, policy: Policy, capacity: u32, sink: &mut dyn StepSink) -> Result<Pass, Error> {
    let mut lowering = Lowering::new(model, input_shape(model)?, policy, capacity, sink)?;
    let mut records = model.layers().peekable();
    if records.peek().is_none() {
        return Err(Error::new(ErrorKind::Layer).field("num_layers").found(0).at_least(1).at(28));
    }
    while let Some(record) = records.next() {
        if lowering.enter(record.index, records.peek().map(|next| next.layer)) {
            layers::lower(&record.layer, &mut lowering)
                .map_err(|error| error.at(record.offset).in_layer(record.index, record.layer.kind()))?;
        }
    }
    lowering.finish()?;
    let output = lowering.shape;
    output.elements()?;
    Ok(Pass { peak_elems: lowering.placement.peak_elems, extent_elems: lowering.placement.extent_elems, output })
}

/// Draws that are tried when the simple policies waste memory. Feature pyramids are the models that need some; of those
/// seen, none needed more than 30 draws to reach the peak.
const DRAWS: u32 = 64;

/// The placement with the smallest extent, at best `peak` elements.
fn best_placement(model: &Model<'_>, peak: u32) -> Result<((Policy, u32), u32), Error> {
    let simple = [(Policy::TwoEnded, peak), (Policy::FirstFit, 0)];
    let mut best = (simple[0], u32::MAX);
    for candidate in simple.into_iter().chain((0..DRAWS).map(|seed| (Policy::Drawn(seed), peak))) {
        let extent = lower(model, candidate.0, candidate.1, &mut Counter::default())?.extent_elems;
        if extent < best.1 {
            best = (candidate, extent);
        }
        if best.1 == peak {
            break;
        }
    }
    Ok(best)
}

#[derive(Default)]
struct Counter {
    steps: usize,
    macs: u64,
}

impl StepSink for Counter {
    fn push(&mut self, step: Step) -> Result<(), Error> {
        self.steps += 1;
        self.macs = self.macs.saturating_add(step.macs());
        Ok(())
    }
}

struct Visitor<'a>(&'a mut dyn FnMut(&Step));

impl StepSink for Visitor<'_> {
    fn push(&mut self, step: Step) -> Result<(), Error> {
        (self.0)(&step);
        Ok(())
    }
}

/// Writes steps into a slice.
struct PlanWriter<'a> {
    steps: &'a mut [Step],
    next: usize,
}

impl StepSink for PlanWriter<'_> {
    fn push(&mut self, step: Step) -> Result<(), Error> {
        let Some(slot) = self.steps.get_mut(self.next) else {
            return Err(Error::new(ErrorKind::Arena).field("steps").found(self.next as u64));
        };
        *slot = step;
        self.next += 1;
        Ok(())
    }
}
