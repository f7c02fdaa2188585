//! A loaded network: a model, and in the arena its plan and activations.
//!
//! ```text
//! network.rs          loading, looking at what was loaded, running
//! network/region.rs   what lies where in the arena
//! ```
//!
//! The region holds no pointers of this module, so the C API can keep a network as two addresses and look at it again
//! with [`Network::open`], or with [`SharedNetwork::open`] when others look at it too.

mod region;

use bytemuck::Pod;

use crate::arena::packed::PackedNode;
use crate::error::Error;
use crate::fault::{Fault, Text, text};
use crate::format::Model;
use crate::kernels::PACKS;
use crate::plan::steps::{PACKED_LINE, Step};
use crate::plan::{self, ALIGN_BYTES, MemoryPlan};
use crate::run::{DAMAGED, Element, Memory, Watcher};
use crate::tensor::Shape;
use region::{Fixed, Parts};

pub use region::NetworkHeader;

/// A network that can run.
#[derive(Debug)]
pub struct Network<'m, 'a> {
    blob: &'m [u8],
    payload: &'m [u8],
    parts: Parts<'a>,
    packed: &'a [u8],
}

impl<'m, 'a> Network<'m, 'a> {
    /// Checks `model` from end to end and writes its plan into `region`, of which the first
    /// [`MemoryPlan::arena_bytes`] bytes are used, whatever its address and content. Where
    /// [`MemoryPlan::packed_bytes`] more follow, they take weights in the order of the kernels, which makes runs faster.
    ///
    /// The weights otherwise stay in the model's bytes.
    pub fn load(model: &Model<'m>, region: &'a mut [u8]) -> Result<Self, Error> {
        Self::load_planned(model, &MemoryPlan::of(model)?, region)
    }

    /// Does what [`Network::load`] does, with a plan that was made of the same model before.
    pub fn load_planned(model: &Model<'m>, plan: &MemoryPlan, region: &'a mut [u8]) -> Result<Self, Error> {
        model.check_payload()?;
        let too_small = text!(Arena: at_least, field "free arena memory").told(region.len(), plan.arena_bytes);
        let (region, rest) = region.split_at_mut_checked(plan.arena_bytes).ok_or(too_small)?;
        let header = NetworkHeader::new(model, plan);
        let parts = Parts::create(region, &header).ok_or(too_small)?;
        plan.write(model, parts.steps, parts.tables)?;
        let misaligned = if model.is_quantized() { header.weights_bytes } else { 0 };
        if let (Some(source), true) = (model.payload().get(misaligned..), plan.copied_bytes > 0) {
            parts.copy.iter_mut().zip(source).for_each(|(to, from)| *to = *from);
        }
        let mut network = Self { blob: model.bytes(), payload: model.payload(), parts, packed: &[] };
        if PACKS && plan.packed_bytes > 0 && rest.len() >= plan.packed_bytes {
            network.pack(rest)?;
        }
        Ok(network)
    }

    /// Packs the weights into `memory`, of which [`MemoryPlan::packed_bytes`] bytes suffice, for the runs of this network.
    pub(crate) fn pack(&mut self, memory: &'a mut [u8]) -> Result<(), Error> {
        let memory = memory.get_mut(first_line(memory)..).ok_or(DAMAGED)?;
        memory.get_mut(..PACKED_LINE).ok_or(DAMAGED)?.copy_from_slice(&GUARD);
        let (network, _) = self.split();
        if network.is_quantized() {
            <i8 as Element>::pack(&network, network.fixed.steps, memory)?;
        } else {
            <f32 as Element>::pack(&network, network.fixed.steps, memory)?;
        }
        self.packed = memory;
        Ok(())
    }

    /// Looks at a region that [`Network::load`] filled, with the same model bytes; nothing is checked again but sizes.
    pub fn open(blob: &'m [u8], region: &'a mut [u8]) -> Result<Self, Error> {
        let parts = Parts::of(region).ok_or(DAMAGED)?;
        Ok(Self { blob, payload: payload_of(blob, parts.header)?, parts, packed: &[] })
    }

    /// The model's bytes.
    pub(crate) fn blob(&self) -> &'m [u8] {
        self.blob
    }

    /// True for an int8 network, which takes and gives int8 values.
    pub fn is_quantized(&self) -> bool {
        self.parts.header.is_quantized()
    }

    /// Shape of the input.
    pub fn input_shape(&self) -> Shape {
        self.parts.header.input()
    }

    /// Shape of the output.
    pub fn output_shape(&self) -> Shape {
        self.parts.header.output()
    }

    /// The steps of the plan.
    pub fn steps(&self) -> &[Step] {
        self.parts.steps
    }

    /// The place of a feature tap of [`MemoryPlan::taps`]; it holds the marked map after a run.
    pub fn tap(&self, first: u32, elements: u32) -> Option<&[f32]> {
        let activations: &[f32] = bytemuck::try_cast_slice(self.parts.activations).ok()?;
        activations.get(first as usize..)?.get(..elements as usize)
    }

    /// Leaves out the final softmax from now on, or brings it back: the output then holds the logits. Without effect on a
    /// network that does not end with the softmax of a dense layer.
    pub fn set_omit_final_softmax(&mut self, omit: bool) {
        self.parts.header.set_omits_softmax(omit);
    }

    /// True when the final softmax is left out.
    pub fn omits_final_softmax(&self) -> bool {
        self.parts.header.omits_softmax()
    }

    /// Computes the output of a float network for one input. The lengths must be the element counts of the shapes; on an
    /// error the output is not written.
    pub fn run(&mut self, input: &[f32], output: &mut [f32]) -> Result<(), Error> {
        self.run_values(input, output)
    }

    /// Computes the output of an int8 network for one input, otherwise as [`Network::run`].
    pub fn run_int8(&mut self, input: &[i8], output: &mut [i8]) -> Result<(), Error> {
        self.run_values(input, output)
    }

    /// [`Network::run`] layer by layer, with somebody looking on. When the watcher stops the run, part of the output may be
    /// written.
    pub fn run_layers(&mut self, watcher: &mut dyn Watcher, input: &[f32], output: &mut [f32]) -> Result<(), Error> {
        let (network, scratch) = self.split();
        network.run_watched(scratch, watcher, input, output)
    }

    /// [`Network::run_int8`] layer by layer, otherwise as [`Network::run_layers`].
    pub fn run_layers_int8(&mut self, watcher: &mut dyn Watcher, input: &[i8], output: &mut [i8]) -> Result<(), Error> {
        let (network, scratch) = self.split();
        network.run_watched(scratch, watcher, input, output)
    }

    /// Either run.
    pub(crate) fn run_values<T: Element>(&mut self, input: &[T], output: &mut [T]) -> Result<(), Error> {
        let (network, scratch) = self.split();
        Ok(network.run_in(scratch, input, output)?)
    }

    /// What stays during a run, and the memory that it works in.
    pub(crate) fn split(&mut self) -> (SharedNetwork<'_>, &mut [u8]) {
        let Parts { header, steps, tables, copy, activations } = &mut self.parts;
        let fixed = Fixed { header, steps, tables, copy };
        (SharedNetwork { blob: self.blob, payload: self.payload, fixed, packed: self.packed }, activations)
    }

    /// What the owner of the region keeps for its runs.
    pub(crate) fn set_hook_words(&mut self, words: [usize; 3]) {
        self.parts.header.hook = words;
    }

    /// What the network keeps about packed weights in an arena.
    pub(crate) fn packed_node_mut(&mut self) -> &mut PackedNode {
        &mut self.parts.header.packed
    }

    /// The words that `region` keeps for its owner; `None` when no network was loaded into it.
    pub fn user_words(region: &mut [u8]) -> Option<&mut [usize; 4]> {
        Parts::of(region).map(|parts| &mut parts.header.user)
    }
}

/// A network that nobody changes: any number of threads may run it at the same time, each with scratch memory of its own.
#[derive(Clone, Copy, Debug)]
pub struct SharedNetwork<'a> {
    blob: &'a [u8],
    payload: &'a [u8],
    fixed: Fixed<'a>,
    packed: &'a [u8],
}

impl<'a> SharedNetwork<'a> {
    /// Alignment of the scratch memory in bytes.
    pub const SCRATCH_ALIGN: usize = ALIGN_BYTES;

    /// Looks at a region that [`Network::load`] filled, with the same model bytes.
    pub fn open(blob: &'a [u8], region: &'a [u8]) -> Result<Self, Error> {
        let fixed = Fixed::of(region).ok_or(DAMAGED)?;
        Ok(Self { blob, payload: payload_of(blob, fixed.header)?, fixed, packed: &[] })
    }

    /// The network, as long as nobody changes it.
    pub fn of(network: &'a Network<'_, '_>) -> Self {
        Self { blob: network.blob, payload: network.payload, fixed: network.parts.fixed(), packed: network.packed }
    }

    /// The same network with what [`Network::pack`] wrote into `memory` before, unless somebody has written there since.
    pub(crate) fn with_packed(self, memory: &'a [u8]) -> Self {
        let packed = memory.get(first_line(memory)..).filter(|memory| memory.starts_with(&GUARD));
        Self { packed: packed.unwrap_or_default(), ..self }
    }

    /// What the network keeps about packed weights in an arena.
    pub(crate) fn packed_node(&self) -> &'a PackedNode {
        &self.fixed.header.packed
    }

    /// What [`Network::pack`] wrote, if it did.
    #[cfg(feature = "f32")]
    pub(crate) fn packed(&self) -> &'a [u8] {
        self.packed
    }

    /// The model's bytes.
    pub(crate) fn blob(&self) -> &'a [u8] {
        self.blob
    }

    /// True for an int8 network.
    pub fn is_quantized(&self) -> bool {
        self.fixed.header.is_quantized()
    }

    /// Bytes of scratch memory that a run needs.
    pub fn scratch_bytes(&self) -> usize {
        self.fixed.header.activation_bytes
    }

    /// True when the final softmax is left out.
    pub fn omits_final_softmax(&self) -> bool {
        self.fixed.header.omits_softmax()
    }

    /// [`Network::run`] with all that changes in `scratch`: [`SharedNetwork::scratch_bytes`] bytes that start at a multiple
    /// of [`SharedNetwork::SCRATCH_ALIGN`].
    pub fn run(&self, scratch: &mut [u8], input: &[f32], output: &mut [f32]) -> Result<(), Error> {
        Ok(self.run_in(scratch, input, output)?)
    }

    /// [`Network::run_int8`], otherwise as [`SharedNetwork::run`].
    pub fn run_int8(&self, scratch: &mut [u8], input: &[i8], output: &mut [i8]) -> Result<(), Error> {
        Ok(self.run_in(scratch, input, output)?)
    }

    /// The words that the owner of the region keeps for its runs.
    pub(crate) fn hook_words(&self) -> [usize; 3] {
        self.fixed.header.hook
    }

    /// The words that `region` keeps for its owner; `None` when no network was loaded into it.
    pub(crate) fn user_words(region: &[u8]) -> Option<&[usize; 4]> {
        Fixed::of(region).map(|fixed| &fixed.header.user)
    }

    /// Either run.
    pub(crate) fn run_in<T: Element>(&self, scratch: &mut [u8], input: &[T], output: &mut [T]) -> Result<(), Fault> {
        T::run_steps(self, self.active_steps(), self.memory(scratch, input, output)?)
    }

    /// Either run, layer by layer with somebody looking on. When the watcher stops the run, part of the output may be
    /// written. Layers that became no step of their own are told as well.
    pub(crate) fn run_watched<T: Element>(
        &self,
        scratch: &mut [u8],
        watcher: &mut dyn Watcher,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), Error> {
        let mut memory = self.memory(scratch, input, output)?;
        let model = Model::parse(self.blob)?;
        let mut steps = self.active_steps();
        plan::for_each_layer(&model, self.fixed.header.placement(), &mut |layer| {
            let count = steps.iter().take_while(|step| usize::from(step.layer) == layer.index).count();
            let (own, rest) = steps.split_at(count);
            steps = rest;
            watcher.before(layer)?;
            T::run_steps(self, own, memory.reborrow())?;
            watcher.after(layer, bytemuck::cast_slice(memory.get(&layer.result).ok_or(DAMAGED)?))
        })
    }

    /// The memory of a run, once input, output and scratch are seen to fit.
    fn memory<'r, T: Element>(
        &self,
        scratch: &'r mut [u8],
        input: &'r [T],
        output: &'r mut [T],
    ) -> Result<Memory<'r, T>, Fault> {
        let header = self.fixed.header;
        if header.is_quantized() != T::IS_INT8 {
            let int8 = text!(Argument, note "this is an int8 model: give it int8");
            let float = text!(Argument, note "this is a float model: give it float32");
            return Err(if T::IS_INT8 { float } else { int8 }.fault());
        }
        check_count(text!(Argument: expected, field "input elements"), input.len(), header.input())?;
        check_count(text!(Argument: expected, field "output elements"), output.len(), header.output())?;
        let activations = aligned_scratch(scratch, header.activation_bytes)?;
        Ok(Memory { activations, input, output })
    }

    /// The steps without an omitted softmax.
    fn active_steps(&self) -> &'a [Step] {
        let steps = self.fixed.steps;
        let omitted = usize::from(self.omits_final_softmax());
        steps.get(..steps.len().saturating_sub(omitted)).unwrap_or(&[])
    }

    /// Weights and biases of a float network, in the model's bytes or in their aligned copy.
    #[cfg(feature = "f32")]
    pub(crate) fn float_weights(&self) -> Result<&'a [f32], Fault> {
        self.aligned(self.payload)
    }

    /// What an int8 network computes with.
    #[cfg(feature = "int8")]
    pub(crate) fn int8_constants(&self) -> Result<crate::run::Constants<'a>, Fault> {
        let (weights, biases) = self.payload.split_at_checked(self.fixed.header.weights_bytes).ok_or(DAMAGED)?;
        Ok(crate::run::Constants {
            weights: bytemuck::cast_slice(weights),
            biases: self.aligned(biases)?,
            tables: self.fixed.tables,
            packed: self.packed,
        })
    }

    /// What must be aligned: `original`, or its copy.
    fn aligned<T: Pod>(&self, original: &'a [u8]) -> Result<&'a [T], Fault> {
        let source = match (original.len(), self.fixed.header.copied_bytes) {
            (0, _) => return Ok(&[]),
            (_, 0) => original,
            (bytes, _) => self.fixed.copy.get(..bytes).ok_or(DAMAGED)?,
        };
        bytemuck::try_cast_slice(source).map_err(|_| MOVED)
    }
}

const MOVED: Fault = text!(Argument, note "the model was moved to a misaligned address after loading").fault();

/// In front of packed weights, where whoever takes free memory for his own would write first.
const GUARD: [u8; PACKED_LINE] = [0x6b; PACKED_LINE];

/// Bytes in front of the first line of memory for packed weights.
fn first_line(memory: &[u8]) -> usize {
    memory.as_ptr().addr().wrapping_neg() % PACKED_LINE
}

/// Weights and biases in the bytes that the network was loaded from.
fn payload_of<'m>(blob: &'m [u8], header: &NetworkHeader) -> Result<&'m [u8], Fault> {
    let bytes = header.weights_bytes.checked_add(header.biases_bytes).ok_or(DAMAGED)?;
    let payload = blob.get(header.payload_offset..).and_then(|rest| rest.get(..bytes)).ok_or(DAMAGED)?;
    if blob.len() == header.blob_bytes { Ok(payload) } else { Err(DAMAGED) }
}

/// The first `bytes` bytes of the scratch memory as values.
fn aligned_scratch<T: Pod>(scratch: &mut [u8], bytes: usize) -> Result<&mut [T], Fault> {
    let too_small = text!(Buffer: at_least, field "bytes of scratch memory").told(scratch.len(), bytes);
    let scratch = scratch.get_mut(..bytes).ok_or(too_small)?;
    if bytes == 0 {
        // Aligned although it is empty, because steps look at it as other types.
        return bytemuck::try_cast_slice_mut::<u64, T>(&mut []).map_err(|_| DAMAGED);
    }
    let address = scratch.as_ptr().addr();
    if !address.is_multiple_of(ALIGN_BYTES) {
        let text = text!(Argument: at_least, field "alignment of the scratch memory");
        return Err(text.told(1 << address.trailing_zeros(), ALIGN_BYTES));
    }
    bytemuck::try_cast_slice_mut(scratch).map_err(|_| DAMAGED)
}

fn check_count(text: &'static Text, found: usize, shape: Shape) -> Result<(), Fault> {
    let expected = shape.elements()? as usize;
    if found == expected { Ok(()) } else { Err(text.told(found, expected)) }
}
