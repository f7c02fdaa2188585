//! What lies inside an `nk_model_t`.
//!
//! The handle answers queries by itself, so that they work after the arena is gone; only a run and what concerns the
//! omitted softmax look into the arena. On 64-bit targets it is full.

use core::mem::MaybeUninit;

use super::errors::nk_status;
use super::inspect::{nk_arch_info, nk_network_kind};
use super::limits::NK_MODEL_STORAGE_BYTES;
use super::model::{nk_model, nk_model_t};
use super::raw::{Span, invalid};
use super::{mappings, packing};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};
use crate::format::quant::QuantParams;
use crate::format::{Header, Model};
use crate::network::{Network, SharedNetwork};
use crate::plan::{MemoryPlan, shapes};
use crate::tensor::{MAX_RANK, Shape, checked_product};

/// First word of every handle that holds a model.
const MAGIC: u32 = 0x4e4b_4d4f; // "NKMO"

/// Facts about a model that need no memory but their own.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Facts {
    pub(super) input_shape: [u32; MAX_RANK],
    /// No layer gives a tensor of rank 4.
    output_extents: [u32; 3],
    weights_bytes: u32,
    biases_bytes: u32,
    version: u8,
    network: u8,
    pub(super) input_rank: u8,
    pub(super) output_rank: u8,
    num_layers: u8,
    is_quantized: u8,
}

impl Facts {
    /// The facts of a model whose shapes can be told, runnable or not.
    pub(super) fn of(model: &Model<'_>) -> Result<Self, Error> {
        // The plan sees more than the shapes do: what it finds first is what the caller is told, whichever call asks.
        let (_, output) = shapes(model).map_err(|error| plan(model).err().unwrap_or(error))?;
        Ok(Self::new(&model.header(), model.is_quantized(), output))
    }

    fn new(header: &Header, is_quantized: bool, output: Shape) -> Self {
        let mut input_shape = header.input_shape;
        input_shape.iter_mut().skip(usize::from(header.input_rank)).for_each(|extent| *extent = 0);
        let ([first, second, third, _], output_rank) = output.dims();
        // The format allows version 3 and 4, rank 4 and 100 layers at most; the parser has seen to it.
        let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
        Self {
            input_shape,
            output_extents: [first, second, third],
            weights_bytes: header.weights_bytes,
            biases_bytes: header.biases_bytes,
            version: byte(header.version),
            network: header.network,
            input_rank: header.input_rank.min(MAX_RANK as u8),
            output_rank: byte(output_rank),
            num_layers: byte(header.num_layers),
            is_quantized: u8::from(is_quantized),
        }
    }

    /// Extents of the output, outermost first; 0 beyond the rank.
    pub(super) fn output_shape(&self) -> [u32; MAX_RANK] {
        let [first, second, third] = self.output_extents;
        [first, second, third, 0]
    }

    pub(super) fn is_quantized(&self) -> bool {
        self.is_quantized != 0
    }

    pub(super) fn kind(&self) -> nk_network_kind {
        match self.network {
            crate::format::NETWORK_MLP => nk_network_kind::NK_NETWORK_MLP,
            crate::format::NETWORK_CNN => nk_network_kind::NK_NETWORK_CNN,
            _ => nk_network_kind::NK_NETWORK_UNKNOWN,
        }
    }

    /// Elements of the input.
    pub(super) fn input_elements(&self) -> u32 {
        elements(&self.input_shape, self.input_rank)
    }

    /// Elements of the output.
    pub(super) fn output_elements(&self) -> u32 {
        elements(&self.output_extents, self.output_rank)
    }

    /// Bytes of all weights and biases.
    pub(super) fn payload_bytes(&self) -> usize {
        (self.weights_bytes as usize).saturating_add(self.biases_bytes as usize)
    }

    /// The facts as C sees them.
    pub(super) fn arch(&self) -> nk_arch_info {
        nk_arch_info {
            version: u32::from(self.version),
            kind: self.kind(),
            input_shape: self.input_shape,
            input_rank: u32::from(self.input_rank),
            num_layers: u32::from(self.num_layers),
            expected_weight_floats: self.payload_bytes() / size_of::<f32>(),
            weights_bytes: self.weights_bytes as usize,
            biases_bytes: self.biases_bytes as usize,
            input_elements: self.input_elements(),
            output_elements: self.output_elements(),
        }
    }
}

/// A model in an arena.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Loaded {
    blob: *const u8,
    blob_bytes: usize,
    region: *mut u8,
    region_bytes: usize,
    magic: u32,
    pub(super) facts: Facts,
    /// Of [`INPUT`], [`OUTPUT`] and [`LOGITS`] of an int8 model. A zero point is an int8 value.
    scales: [f32; 3],
    zero_points: [i8; 3],
    owns_file: u8,
}

const INPUT: usize = 0;
const OUTPUT: usize = 1;
/// The output without the softmax at the end; only of a model that has one there.
const LOGITS: usize = 2;

/// Scales and zero points as a handle keeps them; of a float model nobody asks for them.
fn quantization(model: &Model<'_>, plan: &MemoryPlan) -> ([f32; 3], [i8; 3]) {
    let last = model.quant().and_then(|quant| quant.entry(quant.len() - 1)).map(|entry| entry.output);
    let all = [plan.input_quant, plan.output_quant, last].map(|params| params.unwrap_or(NO_QUANT));
    (all.map(|params| params.scale), all.map(|params| params.zero_point as i8))
}

const NO_QUANT: QuantParams = QuantParams { scale: 0.0, zero_point: 0 };

impl Loaded {
    /// Loads `model` at the front of the arena's free memory, of which it takes exactly [`MemoryPlan::arena_bytes`]
    /// bytes.
    pub(super) fn place(model: &Model<'_>, arena: &mut Arena) -> Result<Self, Error> {
        Self::place_planned(model, &plan(model)?, arena)
    }

    /// Does what [`Loaded::place`] does, with a plan that was made of the same model before.
    pub(super) fn place_planned(model: &Model<'_>, plan: &MemoryPlan, arena: &mut Arena) -> Result<Self, Error> {
        let blob = model.bytes();
        let region = arena.take(plan.arena_bytes)?;
        if Span::of(region, plan.arena_bytes).overlaps(Span::of(blob.as_ptr(), blob.len())) {
            return Err(invalid("the model lies in the free part of the arena"));
        }
        // SAFETY: the arena took these bytes out of its free memory a moment ago, the caller's promise at nk_arena_init
        // says that they are valid, and the line above that the model is not among them.
        let bytes = unsafe { core::slice::from_raw_parts_mut(region, plan.arena_bytes) };
        let mut network = Network::load_planned(model, plan, bytes)?;
        // SAFETY: as above.
        unsafe { packing::pack(&mut network, plan, arena) }?;
        mappings::mark(bytes, blob);
        let (scales, zero_points) = quantization(model, plan);
        Ok(Self {
            magic: MAGIC,
            blob: blob.as_ptr(),
            blob_bytes: blob.len(),
            region,
            region_bytes: plan.arena_bytes,
            facts: Facts::new(&model.header(), model.is_quantized(), plan.output),
            scales,
            zero_points,
            owns_file: 0,
        })
    }

    /// The same model, whose bytes are a mapped file that the arena owns.
    #[cfg(all(feature = "host", unix))]
    pub(super) fn with_file(self) -> Self {
        Self { owns_file: 1, ..self }
    }

    /// Whether the model's bytes are a mapped file.
    #[cfg(all(feature = "host", unix))]
    pub(super) fn owns_file(&self) -> bool {
        self.owns_file != 0
    }

    /// Parameters of the input; `None` for a float model.
    pub(super) fn input_quant(&self) -> Option<QuantParams> {
        self.quant(INPUT)
    }

    /// Parameters of the output, with or without the softmax at the end; `None` for a float model.
    pub(super) fn output_quant(&self, omits_softmax: bool) -> Option<QuantParams> {
        self.quant(if omits_softmax { LOGITS } else { OUTPUT })
    }

    fn quant(&self, index: usize) -> Option<QuantParams> {
        let params = QuantParams { scale: self.scales[index], zero_point: i32::from(self.zero_points[index]) };
        self.facts.is_quantized().then_some(params)
    }

    /// The addresses of the model's memory in the arena.
    pub(super) fn region(&self) -> (*mut u8, usize) {
        (self.region, self.region_bytes)
    }

    /// The addresses of the model's own bytes.
    pub(super) fn blob(&self) -> (*const u8, usize) {
        (self.blob, self.blob_bytes)
    }

    /// The memory of the model in the arena, if the model is still there.
    ///
    /// # Safety
    /// The arena's memory is valid, and nobody else uses the model meanwhile.
    pub(super) unsafe fn region_mut<'a>(&self) -> Result<&'a mut [u8], Error> {
        // SAFETY: `place` took this range from the arena, whose memory is valid by this function's contract.
        let region = unsafe { core::slice::from_raw_parts_mut(self.region, self.region_bytes) };
        if mappings::is_alive(region, self.blob, self.blob_bytes) { Ok(region) } else { Err(ENDED) }
    }

    /// The network, ready to run.
    ///
    /// # Safety
    /// As for [`Loaded::region_mut`], and the model's bytes are valid and unchanged.
    pub(super) unsafe fn network<'a>(&self) -> Result<Network<'a, 'a>, Error> {
        // SAFETY: by this function's contract.
        let region = unsafe { self.region_mut() }?;
        // SAFETY: `place` was given these bytes, and they are still valid by this function's contract.
        let blob = unsafe { core::slice::from_raw_parts(self.blob, self.blob_bytes) };
        Network::open(blob, region)
    }

    /// The network, to look at or to run with scratch memory of the caller.
    ///
    /// # Safety
    /// The memory of the model's arena is valid, and nobody changes the model or its bytes meanwhile.
    pub(super) unsafe fn shared<'a>(&self) -> Result<SharedNetwork<'a>, Error> {
        // SAFETY: `place` took this range from the arena, whose memory is valid by this function's contract.
        let region = unsafe { core::slice::from_raw_parts(self.region.cast_const(), self.region_bytes) };
        if !mappings::is_alive(region, self.blob, self.blob_bytes) {
            return Err(ENDED);
        }
        // SAFETY: `place` was given these bytes, and they are still valid by this function's contract.
        let blob = unsafe { core::slice::from_raw_parts(self.blob, self.blob_bytes) };
        SharedNetwork::open(blob, region)
    }
}

/// The memory plan of a model. A broken model is called broken before it is called unsupported.
pub(super) fn plan(model: &Model<'_>) -> Result<MemoryPlan, Error> {
    MemoryPlan::of(model).map_err(|error| broken_first(model, error))
}

/// The same with the feature taps kept for the caller to read.
pub(super) fn plan_keeping_taps(model: &Model<'_>) -> Result<MemoryPlan, Error> {
    MemoryPlan::keeping_taps(model).map_err(|error| broken_first(model, error))
}

/// Microcontrollers spend no code on it: there a model that is both is called unsupported.
fn broken_first(model: &Model<'_>, error: Error) -> Error {
    match error.kind {
        ErrorKind::Unsupported if cfg!(feature = "host") => shapes(model).err().unwrap_or(error),
        _ => error,
    }
}

fn elements(shape: &[u32], rank: u8) -> u32 {
    // A model whose shapes could be told has no product that overflows.
    checked_product(shape.get(..usize::from(rank)).unwrap_or_default()).unwrap_or(0)
}

/// The model in a handle.
///
/// # Safety
/// `model` is null or points to a handle.
pub(super) unsafe fn get(model: *const nk_model_t) -> Option<Loaded> {
    if model.is_null() {
        return None;
    }
    // SAFETY: a handle has room for a `Loaded` (asserted below), every field of which may hold any bits. The handle may
    // be less aligned than the header asks for.
    let loaded = unsafe { model.cast::<Loaded>().read_unaligned() };
    (loaded.magic == MAGIC).then_some(loaded)
}

/// Puts a model into a handle.
///
/// # Safety
/// `model` points to a handle.
pub(super) unsafe fn store(model: *mut nk_model_t, loaded: Loaded) {
    let mut handle = MaybeUninit::<nk_model>::zeroed();
    // SAFETY: a handle has room for a `Loaded`, asserted below, and by this function's contract `model` is one.
    unsafe {
        handle.as_mut_ptr().cast::<Loaded>().write(loaded);
        model.cast::<MaybeUninit<nk_model>>().write_unaligned(handle);
    }
}

/// Makes a handle hold no model.
///
/// # Safety
/// `model` points to a handle.
pub(super) unsafe fn erase(model: *mut nk_model_t) {
    // SAFETY: by this function's contract; any bytes are a handle.
    unsafe { model.cast::<u8>().write_bytes(0, size_of::<nk_model>()) };
}

const ENDED: Error =
    Error::new(ErrorKind::NotLoaded).note("the model ended: its arena was reset or rewound, or it was unloaded");

/// The error for a handle without a model.
pub(super) const NOT_LOADED: Error = Error::new(ErrorKind::NotLoaded);

const _: () = {
    assert!(size_of::<nk_model>() == NK_MODEL_STORAGE_BYTES);
    assert!(size_of::<Loaded>() <= size_of::<nk_model>() && align_of::<Loaded>() <= align_of::<nk_model>());
    assert!(matches!(ErrorKind::NotLoaded.status(), nk_status::NK_ERR_MODEL_NOT_LOADED));
};
