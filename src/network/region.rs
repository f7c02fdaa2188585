//! The region of the arena that a network lives in: its header, and where its parts lie.
//!
//! ```text
//! [ padding | NetworkHeader | steps | int8 tables | copy of what is misaligned | activations and scratch ]
//! ```
//!
//! Each part starts aligned to a cache line. Only the last one changes during a run.

use core::mem::size_of;
use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use crate::arena::packed::PackedNode;
use crate::format::records::ActivationCode;
use crate::format::{Layer, LayerRecord, Model};
use crate::plan::placement::Policy;
use crate::plan::steps::Step;
use crate::plan::{ALIGN_BYTES, MemoryPlan, Scheme};
use crate::tensor::Shape;

const MAGIC: usize = 0x6B6E_7472;

const QUANTIZED: u32 = 1;
/// The last step is the softmax of a dense layer.
const ENDS_WITH_SOFTMAX: u32 = 2;
/// That step is left out.
const OMITS_SOFTMAX: u32 = 4;
const INPUT_IS_ROWS: u32 = 8;
const OUTPUT_IS_ROWS: u32 = 16;
/// Feature taps stay in the arena.
const KEEPS_TAPS: u32 = 32;
const POLICY_SHIFT: u32 = 8;

/// First bytes of a loaded region.
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
#[repr(C)]
pub struct NetworkHeader {
    /// Words for the owner of the region; the engine never touches them after `load` has set them to 0.
    pub(super) user: [usize; 4],
    /// Three more, for what the owner wants to know at each run.
    pub(super) hook: [usize; 3],
    /// Where an arena keeps packed weights of this network.
    pub(super) packed: PackedNode,
    magic: usize,
    pub(super) blob_bytes: usize,
    pub(super) payload_offset: usize,
    pub(super) weights_bytes: usize,
    pub(super) biases_bytes: usize,
    steps: usize,
    table_bytes: usize,
    pub(super) copied_bytes: usize,
    pub(super) activation_bytes: usize,
    /// The bits above, and from [`POLICY_SHIFT`] on the code of the placement policy.
    flags: u32,
    /// What the policy was given.
    capacity: u32,
    input: [u32; 3],
    output: [u32; 3],
}

impl NetworkHeader {
    pub(super) fn new(model: &Model<'_>, plan: &MemoryPlan) -> Self {
        let flag = |is_set: bool, flag: u32| if is_set { flag } else { 0 };
        let scheme = plan.placement();
        Self {
            user: [0; 4],
            hook: [0; 3],
            packed: PackedNode::zeroed(),
            magic: MAGIC,
            blob_bytes: model.bytes().len(),
            payload_offset: model.payload_offset(),
            weights_bytes: model.header().weights_bytes as usize,
            biases_bytes: model.header().biases_bytes as usize,
            steps: plan.steps,
            table_bytes: plan.table_bytes,
            copied_bytes: plan.copied_bytes,
            activation_bytes: plan.activation_bytes,
            flags: flag(model.is_quantized(), QUANTIZED)
                | flag(ends_with_softmax(model), ENDS_WITH_SOFTMAX)
                | flag(plan.input.is_rows, INPUT_IS_ROWS)
                | flag(plan.output.is_rows, OUTPUT_IS_ROWS)
                | flag(scheme.keeps_taps, KEEPS_TAPS)
                | scheme.policy.code() << POLICY_SHIFT,
            capacity: scheme.capacity,
            input: pack(plan.input),
            output: pack(plan.output),
        }
    }

    pub(super) fn is_quantized(&self) -> bool {
        self.flags & QUANTIZED != 0
    }

    pub(super) fn omits_softmax(&self) -> bool {
        self.flags & OMITS_SOFTMAX != 0
    }

    pub(super) fn set_omits_softmax(&mut self, omit: bool) {
        let omits = omit && self.flags & ENDS_WITH_SOFTMAX != 0;
        self.flags = self.flags & !OMITS_SOFTMAX | if omits { OMITS_SOFTMAX } else { 0 };
    }

    pub(super) fn input(&self) -> Shape {
        unpack(self.input, self.flags & INPUT_IS_ROWS != 0)
    }

    pub(super) fn output(&self) -> Shape {
        unpack(self.output, self.flags & OUTPUT_IS_ROWS != 0)
    }

    /// How activations were placed.
    pub(super) fn placement(&self) -> Scheme {
        Scheme {
            policy: Policy::from_code(self.flags >> POLICY_SHIFT),
            capacity: self.capacity,
            room: 0,
            keeps_taps: self.flags & KEEPS_TAPS != 0,
            is_for_code: false,
        }
    }
}

fn ends_with_softmax(model: &Model<'_>) -> bool {
    let is_softmax =
        |record: LayerRecord| matches!(record.layer, Layer::Dense(d) if d.activation == ActivationCode::SOFTMAX);
    model.layers().last().is_some_and(is_softmax)
}

fn pack(shape: Shape) -> [u32; 3] {
    [shape.h, shape.w, shape.c]
}

fn unpack([h, w, c]: [u32; 3], is_rows: bool) -> Shape {
    Shape { h, w, c, is_rows }
}

/// The parts of a region that a run only reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed<'a> {
    pub(super) header: &'a NetworkHeader,
    pub(super) steps: &'a [Step],
    #[cfg_attr(not(feature = "int8"), expect(dead_code, reason = "float networks have none"))]
    pub(super) tables: &'a [u8],
    pub(super) copy: &'a [u8],
}

impl<'a> Fixed<'a> {
    /// Finds the parts; `None` when the region does not hold what its header says.
    pub(super) fn of(region: &'a [u8]) -> Option<Self> {
        let [header, steps, tables, copy, _] = ranges(region)?;
        Some(Self {
            header: bytemuck::try_from_bytes(region.get(header)?).ok()?,
            steps: bytemuck::try_cast_slice(region.get(steps)?).ok()?,
            tables: region.get(tables)?,
            copy: region.get(copy)?,
        })
    }
}

/// All parts of a region.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) header: &'a mut NetworkHeader,
    pub(super) steps: &'a mut [Step],
    pub(super) tables: &'a mut [u8],
    pub(super) copy: &'a mut [u8],
    pub(super) activations: &'a mut [u8],
}

impl<'a> Parts<'a> {
    /// Writes the header, then finds the parts.
    pub(super) fn create(region: &'a mut [u8], new: &NetworkHeader) -> Option<Self> {
        let place = header_range(region)?;
        region.get_mut(place)?.copy_from_slice(bytemuck::bytes_of(new));
        Self::of(region)
    }

    /// Finds the parts, as [`Fixed::of`].
    pub(super) fn of(region: &'a mut [u8]) -> Option<Self> {
        let ranges = ranges(region)?;
        let [header, steps, tables, copy, activations] = region.get_disjoint_mut(ranges).ok()?;
        Some(Self {
            header: bytemuck::try_from_bytes_mut(header).ok()?,
            steps: bytemuck::try_cast_slice_mut(steps).ok()?,
            tables,
            copy,
            activations,
        })
    }

    pub(super) fn fixed(&self) -> Fixed<'_> {
        Fixed { header: self.header, steps: self.steps, tables: self.tables, copy: self.copy }
    }
}

fn header_range(region: &[u8]) -> Option<Range<usize>> {
    let start = region.as_ptr().align_offset(ALIGN_BYTES);
    Some(start..start.checked_add(size_of::<NetworkHeader>())?)
}

/// Header, steps, tables, copy, activations. `None` when there is no header or it tells of more than there is.
fn ranges(region: &[u8]) -> Option<[Range<usize>; 5]> {
    let place = header_range(region)?;
    let header: &NetworkHeader = bytemuck::try_from_bytes(region.get(place.clone())?).ok()?;
    if header.magic != MAGIC {
        return None;
    }
    let start = place.start;
    let mut end = place.end;
    let mut next = |bytes: usize| {
        let first = (end - start).checked_next_multiple_of(ALIGN_BYTES)?.checked_add(start)?;
        end = first.checked_add(bytes)?;
        (end <= region.len()).then_some(first..end)
    };
    Some([
        place,
        next(header.steps.checked_mul(size_of::<Step>())?)?,
        next(header.table_bytes)?,
        next(header.copied_bytes)?,
        next(header.activation_bytes)?,
    ])
}

/// The header takes three cache lines, two on 32-bit targets.
const _: () = assert!(size_of::<NetworkHeader>() <= if size_of::<usize>() == 8 { 192 } else { 128 });
