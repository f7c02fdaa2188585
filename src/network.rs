//! A loaded network: a model, and in the arena its plan and activations.
//!
//! Layout of the region that [`Network::load`] fills, each part aligned to a cache line:
//!
//! ```text
//! [ padding | NetworkHeader | steps | copy of the payload, if misaligned | activations and scratch ]
//! ```
//!
//! The region holds no pointers of this module, so the C API can keep a network as two addresses and look at it again
//! with [`Network::open`].

use core::mem::size_of;
use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, ErrorKind};
use crate::format::Model;
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
    region_bytes: usize,
    blob_bytes: usize,
    payload_offset: usize,
    payload_bytes: usize,
    copied_bytes: usize,
    steps: usize,
    activation_bytes: usize,
    input: [usize; 4],
    output: [usize; 4],
}

/// A network that can run.
#[derive(Debug)]
pub struct Network<'m, 'a> {
    payload: &'m [u8],
    header: NetworkHeader,
    steps: &'a [Step],
    copy: &'a [u8],
    activations: &'a mut [f32],
}

impl<'m, 'a> Network<'m, 'a> {
    /// Checks `model` from end to end and writes its plan into `region`, of which the first
    /// [`MemoryPlan::arena_bytes`] bytes are used, whatever its address and content.
    ///
    /// The weights stay in the model's bytes.
    pub fn load(model: &Model<'m>, region: &'a mut [u8]) -> Result<Self, Error> {
        let plan = MemoryPlan::of(model)?;
        model.check_payload()?;
        let available = region.len() as u64;
        let too_small =
            Error::new(ErrorKind::Arena).field("free arena memory").found(available).at_least(plan.arena_bytes as u64);
        let region = region.get_mut(..plan.arena_bytes).ok_or(too_small)?;
        let header = NetworkHeader {
            user: [0; 4],
            magic: MAGIC,
            region_bytes: plan.arena_bytes,
            blob_bytes: model.bytes().len(),
            payload_offset: model.payload_offset(),
            payload_bytes: model.payload_bytes(),
            copied_bytes: plan.copied_bytes,
            steps: plan.steps,
            activation_bytes: plan.activation_bytes,
            input: pack(plan.input),
            output: pack(plan.output),
        };
        let parts = Parts::split(region, Some(header)).ok_or(too_small)?;
        plan.write_steps(model, parts.steps)?;
        if let Some(copy) = parts.copy.get_mut(..model.payload_bytes()) {
            copy.copy_from_slice(model.payload());
        }
        Ok(Self {
            payload: model.payload(),
            header,
            steps: parts.steps,
            copy: parts.copy,
            activations: parts.activations,
        })
    }

    /// Looks at a region that [`Network::load`] filled, with the same model bytes; nothing is checked again but sizes.
    pub fn open(blob: &'m [u8], region: &'a mut [u8]) -> Result<Self, Error> {
        let damaged = Error::new(ErrorKind::NotLoaded).note("the network in the arena is damaged or was overwritten");
        let parts = Parts::split(region, None).ok_or(damaged)?;
        let header = *parts.header;
        let payload = blob.get(header.payload_offset..).and_then(|rest| rest.get(..header.payload_bytes));
        if blob.len() != header.blob_bytes {
            return Err(damaged);
        }
        Ok(Self {
            payload: payload.ok_or(damaged)?,
            header,
            steps: parts.steps,
            copy: parts.copy,
            activations: parts.activations,
        })
    }

    /// Shape of the input.
    pub fn input_shape(&self) -> Shape {
        unpack(self.header.input)
    }

    /// Shape of the output.
    pub fn output_shape(&self) -> Shape {
        unpack(self.header.output)
    }

    /// The steps of the plan.
    pub fn steps(&self) -> &[Step] {
        self.steps
    }

    /// Computes the output for one input. The lengths must be the element counts of the shapes; on an error the output is
    /// not written.
    pub fn run(&mut self, input: &[f32], output: &mut [f32]) -> Result<(), Error> {
        check_count("input elements", input.len(), self.input_shape())?;
        check_count("output elements", output.len(), self.output_shape())?;
        let weights = weights(&self.header, self.payload, self.copy)?;
        run::run(self.steps, weights, self.activations, input, output)
    }

    /// The words that `region` keeps for its owner; `None` when no network was loaded into it.
    pub fn user_words(region: &mut [u8]) -> Option<&mut [usize; 4]> {
        Parts::split(region, None).map(|parts| &mut parts.header.user)
    }
}

/// The float payload, in the model's bytes or in its aligned copy.
fn weights<'w>(header: &NetworkHeader, payload: &'w [u8], copy: &'w [u8]) -> Result<&'w [f32], Error> {
    let bytes = match (header.payload_bytes, header.copied_bytes) {
        (0, _) => return Ok(&[]),
        (_, 0) => payload,
        (used, _) => copy.get(..used).unwrap_or(&[]),
    };
    let moved = Error::new(ErrorKind::Argument).note("the model was moved to a misaligned address after loading");
    bytemuck::try_cast_slice(bytes).map_err(|_| moved)
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
struct Parts<'a> {
    header: &'a mut NetworkHeader,
    steps: &'a mut [Step],
    copy: &'a mut [u8],
    activations: &'a mut [f32],
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
        let copy = rest.take(header.copied_bytes)?;
        let activations = rest.take(header.activation_bytes)?;
        Some(Self {
            steps: bytemuck::try_cast_slice_mut(steps).ok()?,
            copy,
            activations: bytemuck::try_cast_slice_mut(activations).ok()?,
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
