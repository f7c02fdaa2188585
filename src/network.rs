//! A loaded network: a model, and in the arena its plan and activations.
//!
//! Layout of the region that [`Network::load`] fills, each part aligned to a cache line:
//!
//! ```text
//! [ padding | NetworkHeader | steps | int8 tables | copy of what is misaligned | activations and scratch ]
//! ```
//!
//! The region holds no pointers of this module, so the C API can keep a network as two addresses and look at it again
//! with [`Network::open`].

use core::mem::size_of;
use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, ErrorKind};
use crate::format::records::ActivationCode;
use crate::format::{Layer, LayerRecord, Model};
use crate::plan::steps::Step;
use crate::plan::{ALIGN_BYTES, MemoryPlan};
use crate::run;
use crate::tensor::Shape;

const MAGIC: usize = 0x6B6E_7472;

/// First bytes of a loaded region.
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
#[repr(C)]
pub struct NetworkHeader {
    /// Words for the owner of the region; this module never touches them after `load` has set them to 0.
    user: [usize; 4],
    magic: usize,
    blob_bytes: usize,
    payload_offset: usize,
    weights_bytes: usize,
    biases_bytes: usize,
    steps: usize,
    table_bytes: usize,
    copied_bytes: usize,
    activation_bytes: usize,
    /// 0 for float32, 1 for int8.
    is_quantized: usize,
    /// 1 when the last step is the softmax of a dense layer.
    ends_with_softmax: usize,
    /// 1 when that step is left out.
    omits_softmax: usize,
    input: [usize; 4],
    output: [usize; 4],
}

/// A network that can run.
#[derive(Debug)]
pub struct Network<'m, 'a> {
    payload: &'m [u8],
    parts: Parts<'a>,
}

impl<'m, 'a> Network<'m, 'a> {
    /// Checks `model` from end to end and writes its plan into `region`, of which the first
    /// [`MemoryPlan::arena_bytes`] bytes are used, whatever its address and content.
    ///
    /// The weights stay in the model's bytes.
    pub fn load(model: &Model<'m>, region: &'a mut [u8]) -> Result<Self, Error> {
        Self::load_planned(model, &MemoryPlan::of(model)?, region)
    }

    /// Does what [`Network::load`] does, with a plan that was made of the same model before.
    pub fn load_planned(model: &Model<'m>, plan: &MemoryPlan, region: &'a mut [u8]) -> Result<Self, Error> {
        model.check_payload()?;
        let available = region.len() as u64;
        let too_small =
            Error::new(ErrorKind::Arena).field("free arena memory").found(available).at_least(plan.arena_bytes as u64);
        let region = region.get_mut(..plan.arena_bytes).ok_or(too_small)?;
        let header = NetworkHeader {
            user: [0; 4],
            magic: MAGIC,
            blob_bytes: model.bytes().len(),
            payload_offset: model.payload_offset(),
            weights_bytes: model.header().weights_bytes as usize,
            biases_bytes: model.header().biases_bytes as usize,
            steps: plan.steps,
            table_bytes: plan.table_bytes,
            copied_bytes: plan.copied_bytes,
            activation_bytes: plan.activation_bytes,
            is_quantized: usize::from(model.is_quantized()),
            ends_with_softmax: usize::from(ends_with_softmax(model)),
            omits_softmax: 0,
            input: pack(plan.input),
            output: pack(plan.output),
        };
        let parts = Parts::split(region, Some(header)).ok_or(too_small)?;
        plan.write(model, parts.steps, parts.tables)?;
        let misaligned = if model.is_quantized() { header.weights_bytes } else { 0 };
        if let (Some(source), true) = (model.payload().get(misaligned..), plan.copied_bytes > 0) {
            parts.copy.iter_mut().zip(source).for_each(|(to, from)| *to = *from);
        }
        Ok(Self { payload: model.payload(), parts })
    }

    /// Looks at a region that [`Network::load`] filled, with the same model bytes; nothing is checked again but sizes.
    pub fn open(blob: &'m [u8], region: &'a mut [u8]) -> Result<Self, Error> {
        let parts = Parts::split(region, None).ok_or(DAMAGED)?;
        let header = &*parts.header;
        let bytes = header.weights_bytes.checked_add(header.biases_bytes).ok_or(DAMAGED)?;
        let payload = blob.get(header.payload_offset..).and_then(|rest| rest.get(..bytes)).ok_or(DAMAGED)?;
        if blob.len() != header.blob_bytes {
            return Err(DAMAGED);
        }
        Ok(Self { payload, parts })
    }

    /// True for an int8 network, which takes and gives int8 values.
    pub fn is_quantized(&self) -> bool {
        self.parts.header.is_quantized != 0
    }

    /// Shape of the input.
    pub fn input_shape(&self) -> Shape {
        unpack(self.parts.header.input)
    }

    /// Shape of the output.
    pub fn output_shape(&self) -> Shape {
        unpack(self.parts.header.output)
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
        self.parts.header.omits_softmax = self.parts.header.ends_with_softmax * usize::from(omit);
    }

    /// True when the final softmax is left out.
    pub fn omits_final_softmax(&self) -> bool {
        self.parts.header.omits_softmax != 0
    }

    /// Computes the output of a float network for one input. The lengths must be the element counts of the shapes; on an
    /// error the output is not written.
    pub fn run(&mut self, input: &[f32], output: &mut [f32]) -> Result<(), Error> {
        self.check(false, input.len(), output.len())?;
        let weights = float_weights(self.parts.header, self.payload, self.parts.copy)?;
        let memory = run::Memory { activations: cast(self.parts.activations)?, input, output };
        run::float::run(active_steps(self.parts.header, self.parts.steps), weights, memory)
    }

    /// Computes the output of an int8 network for one input, otherwise as [`Network::run`].
    pub fn run_int8(&mut self, input: &[i8], output: &mut [i8]) -> Result<(), Error> {
        self.check(true, input.len(), output.len())?;
        let constants = run::int8::Constants {
            weights: bytemuck::cast_slice(self.payload.get(..self.parts.header.weights_bytes).ok_or(DAMAGED)?),
            biases: int8_biases(self.parts.header, self.payload, self.parts.copy)?,
            tables: self.parts.tables,
        };
        let memory = run::Memory { activations: cast(self.parts.activations)?, input, output };
        run::int8::run(active_steps(self.parts.header, self.parts.steps), constants, memory)
    }

    fn check(&self, is_int8: bool, input: usize, output: usize) -> Result<(), Error> {
        if self.is_quantized() != is_int8 {
            let note =
                if is_int8 { "this is a float model: give it float32" } else { "this is an int8 model: give it int8" };
            return Err(Error::new(ErrorKind::Argument).note(note));
        }
        check_count("input elements", input, self.input_shape())?;
        check_count("output elements", output, self.output_shape())
    }

    /// The words that `region` keeps for its owner; `None` when no network was loaded into it.
    pub fn user_words(region: &mut [u8]) -> Option<&mut [usize; 4]> {
        Parts::split(region, None).map(|parts| &mut parts.header.user)
    }
}

const DAMAGED: Error = Error::new(ErrorKind::NotLoaded).note("the network in the arena is damaged or was overwritten");
const MOVED: Error = Error::new(ErrorKind::Argument).note("the model was moved to a misaligned address after loading");

fn ends_with_softmax(model: &Model<'_>) -> bool {
    let is_softmax =
        |record: LayerRecord| matches!(record.layer, Layer::Dense(d) if d.activation == ActivationCode::SOFTMAX);
    model.layers().last().is_some_and(is_softmax)
}

/// The steps without an omitted softmax.
fn active_steps<'s>(header: &NetworkHeader, steps: &'s [Step]) -> &'s [Step] {
    steps.get(..steps.len().saturating_sub(header.omits_softmax.min(1))).unwrap_or(&[])
}

fn cast<T: Pod>(bytes: &mut [u8]) -> Result<&mut [T], Error> {
    bytemuck::try_cast_slice_mut(bytes).map_err(|_| DAMAGED)
}

/// Weights and biases of a float network, in the model's bytes or in their aligned copy.
fn float_weights<'w>(header: &NetworkHeader, payload: &'w [u8], copy: &'w [u8]) -> Result<&'w [f32], Error> {
    aligned(header, payload, copy, payload.len())
}

/// Biases of an int8 network, in the model's bytes or in their aligned copy.
fn int8_biases<'w>(header: &NetworkHeader, payload: &'w [u8], copy: &'w [u8]) -> Result<&'w [i32], Error> {
    let biases = payload.get(header.weights_bytes..).unwrap_or(&[]);
    aligned(header, biases, copy, header.biases_bytes)
}

fn aligned<'w, T: Pod>(
    header: &NetworkHeader,
    original: &'w [u8],
    copy: &'w [u8],
    bytes: usize,
) -> Result<&'w [T], Error> {
    let source = match (bytes, header.copied_bytes) {
        (0, _) => return Ok(&[]),
        (_, 0) => original,
        _ => copy.get(..bytes).ok_or(DAMAGED)?,
    };
    bytemuck::try_cast_slice(source).map_err(|_| MOVED)
}

fn check_count(field: &'static str, found: usize, shape: Shape) -> Result<(), Error> {
    let expected = shape.elements()? as usize;
    if found == expected {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Argument).field(field).found(found as u64).expected(expected as u64))
}

fn pack(shape: Shape) -> [usize; 4] {
    [shape.h as usize, shape.w as usize, shape.c as usize, usize::from(shape.is_rows)]
}

fn unpack([h, w, c, is_rows]: [usize; 4]) -> Shape {
    Shape { h: h as u32, w: w as u32, c: c as u32, is_rows: is_rows != 0 }
}

/// The parts of a region.
#[derive(Debug)]
struct Parts<'a> {
    header: &'a mut NetworkHeader,
    steps: &'a mut [Step],
    tables: &'a mut [u8],
    copy: &'a mut [u8],
    activations: &'a mut [u8],
}

impl<'a> Parts<'a> {
    /// Splits `region` by the header that lies in it, after writing `new` there. `None` when it does not hold what the
    /// header says.
    fn split(region: &'a mut [u8], new: Option<NetworkHeader>) -> Option<Self> {
        let start = region.as_ptr().align_offset(ALIGN_BYTES);
        let mut rest = Carver(region.get_mut(start..)?);
        let header: &mut NetworkHeader = bytemuck::try_from_bytes_mut(rest.take(size_of::<NetworkHeader>())?).ok()?;
        if let Some(new) = new {
            *header = new;
        }
        if header.magic != MAGIC {
            return None;
        }
        let steps = rest.take(header.steps.checked_mul(size_of::<Step>())?)?;
        Some(Self {
            steps: bytemuck::try_cast_slice_mut(steps).ok()?,
            tables: rest.take(header.table_bytes)?,
            copy: rest.take(header.copied_bytes)?,
            activations: rest.take(header.activation_bytes)?,
            header,
        })
    }
}

struct Carver<'a>(&'a mut [u8]);

impl<'a> Carver<'a> {
    /// The next `bytes` bytes; the part after them starts aligned.
    fn take(&mut self, bytes: usize) -> Option<&'a mut [u8]> {
        let (part, rest) =
            core::mem::take(&mut self.0).split_at_mut_checked(bytes.checked_next_multiple_of(ALIGN_BYTES)?)?;
        self.0 = rest;
        part.get_mut(Range { start: 0, end: bytes })
    }
}
