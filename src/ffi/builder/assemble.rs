//! From the slots of a network to a complete .nk model in the arena, and from there the way of every model.

use super::super::arena::{self, nk_arena_t};
use super::super::handle::{self, Loaded};
use super::super::model::nk_model;
use super::super::raw::{Span, invalid, required};
use super::{NO_TAP, Root, Slot, Tap};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};
use crate::format::catalog::TensorEntry;
use crate::format::write::{FloatSpec, Parts, Sink};
use crate::format::{Layer, Model, NETWORK_CNN, NETWORK_MLP};
use crate::layers::{self, feature_tap::MAX_TAPS};
use crate::tensor::Shape;

/// Alignment of a model in the arena and of a CNN's output.
const ALIGN_BYTES: usize = 16;

/// Gives an MLP the memory for inputs of `rows` rows.
///
/// # Safety
/// `arena` is null or points to a handle of an arena with valid memory; what the init calls were given is still there.
pub(in crate::ffi) unsafe fn finish_mlp(root: &mut Root, arena: *mut nk_arena_t, rows: u32) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    if rows == 0 {
        return Err(Error::new(ErrorKind::Argument).field("batch_rows").found(0).at_least(1));
    }
    if let Some(loaded) = root.loaded().filter(|_| root.slots().is_empty()) {
        return same_input(&loaded, &[rows, loaded.facts.input_shape[1]]);
    }
    let features = root.slots().first().and_then(|slot| slot.pairs().first()).map_or(0, |pair| pair.inputs());
    // SAFETY: by this function's contract.
    unsafe { finish(root, arena, NETWORK_MLP, Shape::rows(rows, features)) }
}

/// Gives a CNN the memory for its input.
///
/// # Safety
/// As for [`finish_mlp`].
pub(in crate::ffi) unsafe fn finish_cnn(
    root: &mut Root,
    arena: *mut nk_arena_t,
    [h, w, c]: [u32; 3],
) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    if [h, w, c].contains(&0) {
        return Err(invalid("in_h, in_w and in_c must be at least 1"));
    }
    if let Some(loaded) = root.loaded().filter(|_| root.slots().is_empty()) {
        return same_input(&loaded, &[h, w, c]);
    }
    // SAFETY: by this function's contract.
    unsafe { finish(root, arena, NETWORK_CNN, Shape::map(h, w, c)) }
}

/// A loaded network has its memory already; it cannot take an input of another shape.
fn same_input(loaded: &Loaded, extents: &[u32]) -> Result<(), Error> {
    for (&found, &expected) in extents.iter().zip(&loaded.facts.input_shape) {
        if found != expected {
            let error = Error::new(ErrorKind::Layer).field("input extent of a loaded network");
            return Err(error.found(u64::from(found)).expected(u64::from(expected)));
        }
    }
    Ok(())
}

/// # Safety
/// As for [`finish_mlp`], with `arena` not null.
unsafe fn finish(root: &mut Root, arena: *mut nk_arena_t, network: u8, input: Shape) -> Result<(), Error> {
    check_layers(root.slots(), input)?;
    // SAFETY: by this function's contract a handle. `state` is a copy, so that a failure takes nothing.
    let mut state = unsafe { arena::get_or_empty(arena) };
    let (dims, rank) = input.dims();
    let spec = FloatSpec { network, input_rank: rank as u8, input_shape: dims, parts: &Layers(root.slots()) };
    let bytes = spec.file_bytes()?;
    let blob = state.request(bytes, ALIGN_BYTES, "for a copy of the weights")?;
    let pairs = || root.slots().iter().flat_map(|slot| slot.pairs());
    if pairs().any(|pair| pair.overlaps(Span::of(blob, bytes))) {
        return Err(invalid("weights lie in the free part of the arena"));
    }
    // SAFETY: the arena gave this memory a moment ago, and neither the slots nor the weights lie in it.
    let blob = unsafe { core::slice::from_raw_parts_mut(blob, bytes) };
    spec.write(&mut Front(&mut *blob))?;
    let mut place = || Model::parse(blob).and_then(|model| Parked::place(&model, &mut state));
    // Offsets in a file that the caller never saw tell nothing.
    let parked = place().map_err(|error| match (error.kind, error.offset()) {
        (ErrorKind::Payload, Some(offset)) => not_finite(root.slots(), bytes - offset as usize),
        _ => error.anywhere(),
    })?;
    // SAFETY: by this function's contract a handle.
    unsafe { arena::store(arena, state) };
    parked.settle(root);
    let omit = root.omits_softmax;
    // SAFETY: the network was made a moment ago.
    unsafe { root.set_omit_softmax(omit) };
    Ok(())
}

/// The error for a weight or bias that is no number, `from_end` bytes before the end of the model.
fn not_finite(slots: &[Slot], from_end: usize) -> Error {
    let error = invalid("a weight or bias is NaN or infinite");
    let parts =
        [true, false].into_iter().flat_map(|is_bias| slots.iter().enumerate().rev().zip(core::iter::repeat(is_bias)));
    let mut behind = 0;
    for ((index, slot), is_bias) in parts {
        behind += slot.pairs().iter().map(|pair| pair.entry(is_bias).num_bytes() as usize).sum::<usize>();
        if from_end <= behind {
            return error.in_layer(index, slot.layer.map_or(0, |layer| layer.kind()));
        }
    }
    error
}

/// Goes through the layers as they would run: all there, on the maps that the caller said.
fn check_layers(slots: &[Slot], input: Shape) -> Result<(), Error> {
    let mut shape = input;
    for (index, slot) in slots.iter().enumerate() {
        let missing = Error::new(ErrorKind::NotInitialized).note("this layer was not initialised");
        let layer = slot.layer.ok_or(missing.in_layer(index, 0))?;
        shape = check_layer(slot, &layer, shape).map_err(|error| error.in_layer(index, layer.kind()))?;
    }
    Ok(())
}

fn check_layer(slot: &Slot, layer: &Layer, input: Shape) -> Result<Shape, Error> {
    if let Some((h, w)) = slot.spatial {
        for (field, found, expected) in
            [("height given for its input", h, input.h), ("width given for its input", w, input.w)]
        {
            if found != expected {
                let error = Error::new(ErrorKind::Layer).field(field);
                return Err(error.found(u64::from(found)).expected(u64::from(expected)));
            }
        }
    }
    for pair in slot.pairs() {
        let incomplete = Error::new(ErrorKind::NotInitialized).note("set its heads first: nk_cnn_set_yolox_pafpn_head");
        pair.check().map_err(|_| incomplete)?;
        pair.check_size()?;
    }
    Ok(layers::output_shape(layer, input, slot.pairs().first().map_or(0, |pair| pair.weight_elems()))?)
}

/// The slots in the order of a file.
struct Layers<'a>(&'a [Slot]);

impl Parts for Layers<'_> {
    fn for_each_layer(&self, visit: &mut dyn FnMut(&Layer)) {
        self.0.iter().filter_map(|slot| slot.layer.as_ref()).for_each(visit);
    }

    fn for_each_tensor(&self, is_bias: bool, visit: &mut dyn FnMut(&TensorEntry)) {
        self.0.iter().flat_map(|slot| slot.pairs()).for_each(|pair| visit(&pair.entry(is_bias)));
    }

    fn write_payload(&self, is_bias: bool, sink: &mut dyn Sink) {
        for pair in self.0.iter().flat_map(|slot| slot.pairs()) {
            // SAFETY: the weights are still there, by the contract of `finish`, which alone makes this struct.
            unsafe { pair.write(is_bias, sink) };
        }
    }
}

/// Writes to the front of memory that is known to be large enough.
struct Front<'a>(&'a mut [u8]);

impl Sink for Front<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        if let Some((front, rest)) = core::mem::take(&mut self.0).split_at_mut_checked(bytes.len()) {
            front.copy_from_slice(bytes);
            self.0 = rest;
        }
    }
}

/// A network in the arena that no root knows yet.
pub(super) struct Parked {
    pub(super) loaded: Loaded,
    output: *mut u8,
    output_bytes: usize,
    taps: [Tap; MAX_TAPS as usize],
}

impl Parked {
    /// Loads a model, whose bytes stay where they are, and for a CNN makes room for its output.
    pub(super) fn place(model: &Model<'_>, arena: &mut Arena) -> Result<Self, Error> {
        let is_cnn = model.header().network == NETWORK_CNN;
        let plan = if is_cnn { handle::plan_keeping_taps(model)? } else { handle::plan(model)? };
        let loaded = Loaded::place_planned(model, &plan, arena)?;
        let mut parked =
            Self { loaded, output: core::ptr::null_mut(), output_bytes: 0, taps: [NO_TAP; MAX_TAPS as usize] };
        if !is_cnn {
            return Ok(parked);
        }
        let element = if model.is_quantized() { size_of::<i8>() } else { size_of::<f32>() };
        parked.output_bytes = loaded.facts.output_elements() as usize * element;
        parked.output = arena.request(parked.output_bytes, ALIGN_BYTES, "for the output")?;
        let (blob, blob_bytes) = loaded.blob();
        if parked.output_span().overlaps(Span::of(blob, blob_bytes)) {
            return Err(invalid("the model lies in the free part of the arena"));
        }
        // SAFETY: the network was placed a moment ago and nobody else knows it.
        let network = unsafe { loaded.network() }?;
        for (tap, place) in parked.taps.iter_mut().zip(plan.taps) {
            let map = place.and_then(|(first, elements)| network.tap(first, elements));
            *tap = map.map_or(NO_TAP, |map| Tap { data: map.as_ptr().cast_mut(), elements: map.len() as u32 });
        }
        Ok(parked)
    }

    fn output_span(&self) -> Span {
        Span::of(self.output, self.output_bytes)
    }

    /// Makes it the network of a root.
    pub(super) fn settle(self, root: &mut Root) {
        let mut model = nk_model { storage: [0; size_of::<nk_model>()] };
        // SAFETY: a handle of ours.
        unsafe { handle::store(&mut model, self.loaded) };
        (root.model, root.output, root.taps) = (model, self.output, self.taps);
    }
}
