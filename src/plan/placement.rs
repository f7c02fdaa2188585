//! Places activations in the arena by liveness, while the steps are being made.
//!
//! Lowering says when a tensor is born and when it dies; this file keeps the tensors that live at the moment and finds
//! room for the next one. It needs no list of all tensors, so planning takes no memory that grows with the model. Because
//! the best position depends on tensors that come later, the planner lowers the model several times: first to learn the
//! largest sum of live tensors, then with one [`Policy`] after another, and keeps the smallest result.

use core::ops::Range;

use crate::fault::{Fault, text};

/// Most tensors alive at one time. The widest layer kind, the PAFPN, needs ten, two of them feature taps.
const MAX_LIVE: usize = 16;

/// Offsets and sizes of activations are multiples of this many bytes: a cache line on desktop machines, an SIMD register on
/// microcontrollers.
pub const ALIGN_BYTES: u32 = if cfg!(target_pointer_width = "64") { 64 } else { 16 };

/// How room is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Count only: every tensor is placed at 0. Gives the largest sum of live tensors.
    Count,
    /// A tensor goes to the end of the memory opposite to the tensor it is made from, so that the two free gaps stay one.
    /// Needs the size of the memory beforehand.
    TwoEnded,
    /// The lowest gap that fits.
    FirstFit,
    /// Like two-ended, with the end of each tensor drawn from this seed: for models with several long-lived tensors, where
    /// no simple rule is right.
    Drawn(u32),
}

impl Policy {
    /// A number that stands for the policy; seeds are small.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Count => 0,
            Self::TwoEnded => 1,
            Self::FirstFit => 2,
            Self::Drawn(seed) => 3 + seed,
        }
    }

    /// The policy with this number.
    pub(crate) const fn from_code(code: u32) -> Self {
        match code {
            0 => Self::Count,
            1 => Self::TwoEnded,
            2 => Self::FirstFit,
            _ => Self::Drawn(code - 3),
        }
    }
}

/// Where a pass puts the activations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// How room is chosen.
    pub policy: Policy,
    /// Bytes that the policy fills, if it asks for them.
    pub capacity: u32,
    /// Bytes of activations that there will be, once that is known: what is free of them may serve as scratch.
    pub room: u32,
    /// Whether feature taps stay in the arena until the end.
    pub keeps_taps: bool,
    /// For generated code, whose kernels read and write single elements: no scratch memory for tiles, no cache lines.
    pub is_for_code: bool,
}

impl Scheme {
    /// Puts nothing anywhere.
    pub const COUNT: Self = Self { policy: Policy::Count, capacity: 0, room: 0, keeps_taps: false, is_for_code: false };

    const fn align_bytes(&self) -> u32 {
        if self.is_for_code { 4 } else { ALIGN_BYTES }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Live {
    first: u32,
    /// 0 = free entry.
    bytes: u32,
    references: u16,
    is_high: bool,
}

/// Handle of a live tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(u8);

/// The tensors that live at the moment.
#[derive(Clone, Debug)]
pub struct Placement {
    policy: Policy,
    capacity: u32,
    align_bytes: u32,
    live: [Live; MAX_LIVE],
    live_bytes: u32,
    allocations: u32,
    /// Largest sum of live tensors so far, in bytes.
    pub peak_bytes: u32,
    /// End of the highest tensor so far, in bytes.
    pub extent_bytes: u32,
}

impl Placement {
    /// No tensor is alive.
    pub fn new(scheme: Scheme) -> Self {
        Self {
            policy: scheme.policy,
            capacity: scheme.capacity,
            align_bytes: scheme.align_bytes(),
            live: [Live::default(); MAX_LIVE],
            live_bytes: 0,
            allocations: 0,
            peak_bytes: 0,
            extent_bytes: 0,
        }
    }

    /// Gives room to a tensor of `bytes` bytes, which then has one reference.
    pub fn allocate(&mut self, bytes: u32, away_from: Option<Slot>) -> Result<Slot, Fault> {
        let too_large = text!(SizeOverflow, note "the activations of this model are too large").fault();
        let bytes = bytes.max(1).checked_next_multiple_of(self.align_bytes).ok_or(too_large)?;
        let high = match self.policy {
            Policy::Drawn(seed) => self.draw(seed),
            _ => !away_from.is_some_and(|slot| self.get(slot).is_some_and(|live| live.is_high)),
        };
        let first = self.find(bytes, high).ok_or(too_large)?;
        let end = first.checked_add(bytes).ok_or(too_large)?;
        self.live_bytes = self.live_bytes.checked_add(bytes).ok_or(too_large)?;
        self.peak_bytes = self.peak_bytes.max(self.live_bytes);
        self.extent_bytes = self.extent_bytes.max(end);
        let full = text!(Unsupported, note "too many tensors are alive at one time").fault();
        let index = self.live.iter().position(|live| live.bytes == 0).ok_or(full)?;
        if let Some(entry) = self.live.get_mut(index) {
            *entry = Live { first, bytes, references: 1, is_high: high };
        }
        Ok(Slot(index as u8))
    }

    /// Adds a reference.
    pub fn retain(&mut self, slot: Slot) {
        if let Some(live) = self.live.get_mut(usize::from(slot.0)) {
            live.references = live.references.saturating_add(1);
        }
    }

    /// Drops a reference; the last one frees the room, whose bytes are given.
    pub fn release(&mut self, slot: Slot) -> Option<Range<u32>> {
        let live = self.live.get_mut(usize::from(slot.0))?;
        live.references = live.references.saturating_sub(1);
        if live.references > 0 {
            return None;
        }
        let Live { first, bytes, .. } = core::mem::take(live);
        self.live_bytes -= bytes;
        Some(first..first + bytes)
    }

    /// True when exactly one reference is left, so that the tensor may be overwritten.
    pub fn is_exclusive(&self, slot: Slot) -> bool {
        self.get(slot).is_some_and(|live| live.references == 1)
    }

    /// First byte of a live tensor.
    pub fn first(&self, slot: Slot) -> u32 {
        self.get(slot).map_or(0, |live| live.first)
    }

    /// The bytes of a live tensor.
    pub fn range(&self, slot: Slot) -> Range<u32> {
        self.get(slot).map_or(0..0, |live| live.first..live.first + live.bytes)
    }

    /// The largest range of the first `room` bytes that no tensor but this one has.
    pub fn largest_gap(&self, apart_from: Slot, room: u32) -> Range<u32> {
        let others = || (0u8..).zip(&self.live).filter(|(index, live)| live.bytes > 0 && *index != apart_from.0);
        let starts = others().map(|(_, live)| live.first + live.bytes).chain([0]);
        let gap = |start: u32| {
            let end = others().map(|(_, live)| live.first).filter(|&first| first >= start).min().unwrap_or(room);
            start..end.clamp(start, room.max(start))
        };
        starts
            .filter(|&start| !others().any(|(_, live)| (live.first..live.first + live.bytes).contains(&start)))
            .map(gap)
            .max_by_key(|gap| gap.end - gap.start)
            .unwrap_or(0..0)
    }

    fn get(&self, slot: Slot) -> Option<&Live> {
        self.live.get(usize::from(slot.0)).filter(|live| live.bytes != 0)
    }

    /// One bit for the next tensor.
    fn draw(&mut self, seed: u32) -> bool {
        self.allocations = self.allocations.wrapping_add(1);
        let mixed = seed.wrapping_mul(0x9E37_79B9) ^ self.allocations.wrapping_mul(0x85EB_CA6B);
        (mixed ^ mixed >> 15).wrapping_mul(0xC2B2_AE35) >> 31 == 1
    }

    fn find(&self, bytes: u32, high: bool) -> Option<u32> {
        match self.policy {
            Policy::Count => Some(0),
            Policy::TwoEnded | Policy::Drawn(_) if high => {
                self.gaps(bytes).last().map(|(start, size)| start.saturating_add(size - bytes))
            }
            Policy::TwoEnded | Policy::Drawn(_) | Policy::FirstFit => self.gaps(bytes).next().map(|(start, _)| start),
        }
    }

    /// The free gaps of at least `bytes` bytes in rising order, as `(start, size)`. When the memory has no such gap,
    /// the room behind the highest tensor is the only one.
    fn gaps(&self, bytes: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut start = 0;
        let mut any = false;
        core::iter::from_fn(move || {
            while start != u32::MAX {
                let next =
                    self.live.iter().filter(|live| live.bytes != 0 && live.first >= start).min_by_key(|l| l.first);
                let gap_start = start;
                let gap_end = match next {
                    Some(live) => {
                        start = live.first.saturating_add(live.bytes);
                        live.first
                    }
                    None => {
                        start = u32::MAX;
                        match self.policy {
                            Policy::TwoEnded | Policy::Drawn(_) if self.capacity.saturating_sub(gap_start) >= bytes => {
                                self.capacity
                            }
                            Policy::TwoEnded | Policy::Drawn(_) if any => return None,
                            _ => gap_start.checked_add(bytes)?,
                        }
                    }
                };
                if gap_end - gap_start >= bytes {
                    any = true;
                    return Some((gap_start, gap_end - gap_start));
                }
            }
            None
        })
    }
}
