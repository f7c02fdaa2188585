//! Bump allocator over memory that the caller provides.
//!
//! An [`Arena`] is a few numbers; it keeps nothing inside the caller's memory. It is `Copy`, so that
//! whoever may fail works on a copy and stores it back only on success: that is the whole rollback.

pub(crate) mod packed;

use core::ops::Range;

use crate::error::{Error, ErrorKind};
use crate::kernels::PACKS;
use packed::{PackedList, PackedNode};

/// First word of every arena that was initialised.
const MAGIC: u32 = 0x4e4b_4152; // "NKAR"

/// A range of the caller's memory, of which the first `used` bytes are taken.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Arena {
    magic: u32,
    /// Who gets `base` back: one of the owners below.
    owner: u32,
    base: *mut u8,
    capacity: usize,
    used: usize,
    /// Address of the newest node in the list of file mappings that the arena owns, 0 when there is none; the list
    /// belongs to `ffi::mappings`.
    pub(crate) newest_mapping: usize,
    /// The newest network with packed weights at the end of the memory; empty when there is none.
    packed: PackedList,
    /// Largest `used` so far.
    peak: usize,
}

/// The caller, who needs no call for it.
const OWNER_CALLER: u32 = 0;
/// The C heap.
#[cfg(feature = "host")]
const OWNER_HEAP: u32 = 1;
/// An allocator of the caller.
const OWNER_ALLOCATOR: u32 = 2;

impl Arena {
    /// An arena over `capacity` bytes at `base`. With a null `base` every allocation fails.
    pub(crate) const fn new(base: *mut u8, capacity: usize) -> Self {
        Self {
            magic: MAGIC,
            owner: OWNER_CALLER,
            base,
            capacity,
            used: 0,
            newest_mapping: 0,
            packed: PackedList::EMPTY,
            peak: 0,
        }
    }

    /// Stands in for an arena that was never initialised: it has no memory, and [`Arena::too_small`] tells why.
    pub(crate) const NONE: Arena = Arena { magic: 0, ..Arena::new(core::ptr::null_mut(), 0) };

    /// An arena over a block of the C heap, which whoever destroys the arena must free.
    #[cfg(feature = "host")]
    pub(crate) const fn on_heap(base: *mut u8, capacity: usize) -> Self {
        Self { owner: OWNER_HEAP, ..Self::new(base, capacity) }
    }

    /// An arena over a block of an allocator, which whoever ends the arena must give back.
    pub(crate) const fn from_allocator(base: *mut u8, capacity: usize) -> Self {
        Self { owner: OWNER_ALLOCATOR, ..Self::new(base, capacity) }
    }

    /// False for bytes that never were an arena.
    pub(crate) const fn is_valid(&self) -> bool {
        self.magic == MAGIC
    }

    /// First byte of the arena's memory.
    pub(crate) const fn base(&self) -> *mut u8 {
        self.base
    }

    /// Whether `base` must be given back to the C heap.
    #[cfg(feature = "host")]
    pub(crate) const fn owns_heap(&self) -> bool {
        self.owner == OWNER_HEAP
    }

    /// Whether `base` must be given back to an allocator of the caller.
    pub(crate) const fn owns_allocation(&self) -> bool {
        self.owner == OWNER_ALLOCATOR
    }

    /// Bytes that the arena was made with.
    pub(crate) const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Bytes taken, padding included.
    pub(crate) const fn used(&self) -> usize {
        self.used
    }

    /// Most bytes that were ever taken at one time.
    pub(crate) const fn peak(&self) -> usize {
        self.peak
    }

    /// The same arena, with the peak of another state of it.
    pub(crate) const fn with_peak_of(self, other: &Arena) -> Self {
        Self { peak: other.peak, ..self }
    }

    /// Bytes that can still be taken; 0 without memory.
    pub(crate) fn remaining(&self) -> usize {
        if self.base.is_null() { 0 } else { self.capacity - self.used }
    }

    /// Whether `bytes` bytes at address `at` lie in the arena's memory.
    #[cfg(all(feature = "host", unix))]
    pub(crate) fn contains(&self, at: usize, bytes: usize) -> bool {
        at.checked_sub(self.base.addr())
            .is_some_and(|offset| offset.checked_add(bytes).is_some_and(|end| end <= self.capacity))
    }

    /// The addresses of the arena's memory.
    fn memory(&self) -> Range<usize> {
        let start = self.base.addr();
        start..start.saturating_add(self.capacity)
    }

    /// Gives back all memory but the first `used` bytes. The networks in what is given back end, and with them their packed
    /// weights.
    pub(crate) fn rewind(&mut self, used: usize) {
        self.used = self.used.min(used);
        // SAFETY: whoever gives back a part uses the rest; where nothing is left, no memory is looked at.
        unsafe { self.packed.forget_from(self.memory(), self.used) };
    }

    /// Free memory of `bytes` bytes at the end of the arena, in front of other packed weights, for those of a network. It
    /// counts as free: whoever takes it later gets it, and the network reads its weights where they lie in the model.
    pub(crate) fn room_for_packed(&self, bytes: usize) -> Option<*mut u8> {
        let end = self.packed.start().unwrap_or(self.base.addr().checked_add(self.capacity)?);
        let start = end.checked_sub(self.base.addr())?.checked_sub(bytes)?;
        (start >= self.used && !self.base.is_null()).then(|| self.base.wrapping_add(start))
    }

    /// Notes that a network of this arena has packed weights in the room that it asked for last.
    pub(crate) fn note_packed(&mut self, node: &mut PackedNode, start: *mut u8, bytes: usize) {
        self.packed.push(node, start, bytes);
    }

    /// Takes `size` bytes at an address that is a multiple of `alignment`. `None`, and nothing taken, when `size` is 0,
    /// `alignment` is not a power of two, or the room is too small.
    pub(crate) fn alloc(&mut self, size: usize, alignment: usize) -> Option<*mut u8> {
        if size == 0 || !alignment.is_power_of_two() {
            return None;
        }
        let next = self.base.wrapping_add(self.used);
        let padding = self.padding(alignment);
        let taken = padding.checked_add(size)?;
        if taken > self.remaining() {
            return None;
        }
        self.used += taken;
        self.peak = self.peak.max(self.used);
        if PACKS {
            // SAFETY: the memory of an arena that hands out some of it is there.
            unsafe { self.packed.give_way(self.memory(), self.used) };
        }
        Some(next.wrapping_add(padding))
    }

    /// Bytes in front of the next ones at a multiple of `alignment`, a power of two.
    fn padding(&self, alignment: usize) -> usize {
        self.base.wrapping_add(self.used).addr().wrapping_neg() & (alignment - 1)
    }

    /// Takes exactly `size` bytes wherever they start, or says how many are there.
    pub(crate) fn take(&mut self, size: usize) -> Result<*mut u8, Error> {
        self.request(size, 1, "")
    }

    /// Takes at least one byte at a multiple of `alignment`, a power of two, or says how many are there and what they
    /// were wanted for.
    pub(crate) fn request(&mut self, size: usize, alignment: usize, purpose: &'static str) -> Result<*mut u8, Error> {
        let needed = size.saturating_add(self.padding(alignment));
        self.alloc(size, alignment).ok_or_else(|| self.too_small(needed, purpose))
    }

    /// The error for a request of `needed` bytes.
    pub(crate) fn too_small(&self, needed: usize, purpose: &'static str) -> Error {
        Error::new(ErrorKind::Arena)
            .field("free arena memory in bytes")
            .found(self.remaining() as u64)
            .at_least(needed as u64)
            .note(if self.is_valid() { purpose } else { "the arena was never initialised" })
    }
}

/// Tells words at an address, of the kind of `tag`, from memory that was moved, cleared or used again.
pub(crate) fn seal([a, b, c]: [usize; 3], at: usize, tag: usize) -> usize {
    a.rotate_left(5) ^ b.rotate_left(13) ^ c.rotate_left(21) ^ at ^ tag
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(memory: &mut [u8]) -> Arena {
        Arena::new(memory.as_mut_ptr(), memory.len())
    }

    #[test]
    fn counts_exactly_what_it_gives() {
        let mut memory = [0u64; 32];
        let mut arena = Arena::new(memory.as_mut_ptr().cast(), 256);
        assert!(arena.alloc(64, 8).is_some());
        assert_eq!((arena.used(), arena.remaining(), arena.capacity()), (64, 192, 256));
        assert!(arena.alloc(64, 8).is_some());
        arena.rewind(64);
        assert_eq!((arena.used(), arena.peak()), (64, 128));
        arena.rewind(128);
        assert_eq!(arena.used(), 64);
        arena.rewind(0);
        assert_eq!((arena.used(), arena.peak()), (0, 128));
    }

    #[test]
    fn aligns_the_address_and_not_the_offset() {
        let mut memory = [0u8; 128];
        for start in 0..16 {
            let mut arena = over(&mut memory[start..]);
            assert!(arena.alloc(3, 1).is_some());
            let at = arena.alloc(8, 16).expect("there is room");
            assert_eq!(at.addr() % 16, 0);
            assert_eq!(at.addr() + 8, memory[start..].as_ptr().addr() + arena.used());
        }
    }

    #[test]
    fn a_refused_request_takes_nothing() {
        let mut memory = [0u8; 16];
        let mut arena = over(&mut memory);
        for (size, alignment) in [(0, 1), (1, 0), (1, 3), (17, 1), (usize::MAX, 16), (1, 1 << (usize::BITS - 1))] {
            assert_eq!(arena.alloc(size, alignment), None, "{size} {alignment}");
        }
        assert_eq!(arena.used(), 0);
        let error = arena.take(17).expect_err("one byte too many");
        assert_eq!((error.kind, error.needed(), error.available()), (ErrorKind::Arena, 17, 16));
        // The padding is part of what is needed.
        let odd = memory.as_ptr().addr().next_multiple_of(2) - memory.as_ptr().addr() + 1;
        let mut arena = over(&mut memory[odd..odd + 4]);
        let error = arena.request(4, 2, "").expect_err("one byte too many");
        assert_eq!((error.needed(), error.available()), (5, 4));
    }

    #[test]
    fn without_memory_nothing_can_be_taken() {
        let mut arena = Arena::new(core::ptr::null_mut(), 100);
        assert_eq!((arena.capacity(), arena.remaining()), (100, 0));
        assert_eq!(arena.alloc(1, 1), None);
    }
}
