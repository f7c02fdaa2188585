//! Packed weights at the end of an arena's memory.
//!
//! They make runs faster and are nobody's property: the memory counts as free, and whoever takes it gets it. The networks
//! that have some are a list through their own memory, newest first: newer weights lie in front of older ones, and newer
//! networks behind older ones. A seal over each node and its address makes sure that it is still what was written: memory
//! that was cleared or used again by its owner is not followed.

use core::ops::Range;
use core::ptr;

use bytemuck::{Pod, Zeroable};

use super::seal;

/// The list of an arena.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct PackedList {
    /// Address of the newest node, 0 when there is none.
    newest: usize,
    /// Address of the first byte of packed weights.
    start: usize,
}

/// What a network keeps about its packed weights, in its own memory.
#[derive(Clone, Copy, Debug, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct PackedNode {
    /// Address of the next older node, 0 when there is none.
    next: usize,
    start: usize,
    /// 0 once the weights have given way.
    bytes: usize,
    seal: usize,
}

impl PackedNode {
    /// Address and number of bytes of the packed weights; `None` when there are none, or not any more.
    pub(crate) fn place(&self) -> Option<(usize, usize)> {
        (self.bytes > 0 && self.is_sealed(ptr::from_ref(self).addr())).then_some((self.start, self.bytes))
    }

    /// The weights give way.
    pub(crate) fn clear(&mut self) {
        self.bytes = 0;
        self.seal = self.sum(ptr::from_ref(self).addr());
    }

    fn is_sealed(&self, at: usize) -> bool {
        self.seal == self.sum(at)
    }

    fn sum(&self, at: usize) -> usize {
        seal([self.next, self.start, self.bytes], at, 0x4e4b_504b) // "NKPK"
    }
}

impl PackedList {
    pub(super) const EMPTY: Self = Self { newest: 0, start: 0 };

    /// Address of the first byte of packed weights.
    pub(super) fn start(&self) -> Option<usize> {
        (self.newest != 0).then_some(self.start)
    }

    pub(super) fn push(&mut self, node: &mut PackedNode, start: *mut u8, bytes: usize) {
        let start = start.expose_provenance();
        *node = PackedNode { next: self.newest, start, bytes, seal: 0 };
        node.seal = node.sum(ptr::from_ref(node).addr());
        *self = Self { newest: ptr::from_mut(node).expose_provenance(), start };
    }

    /// Ends the packed weights that begin in the first `used` bytes of the memory.
    ///
    /// # Safety
    /// The memory is there, and nobody looks at its networks meanwhile.
    pub(super) unsafe fn give_way(&mut self, memory: Range<usize>, used: usize) {
        while self.newest != 0 && self.start < memory.start.saturating_add(used) {
            // SAFETY: by this function's contract.
            unsafe { self.pop(&memory) };
        }
    }

    /// Forgets the networks behind the first `used` bytes of the memory, which have ended.
    ///
    /// # Safety
    /// The memory is there, or `used` is 0; nobody looks at its networks meanwhile.
    pub(super) unsafe fn forget_from(&mut self, memory: Range<usize>, used: usize) {
        if used == 0 {
            *self = Self::EMPTY;
        }
        while self.newest != 0 && self.newest >= memory.start.saturating_add(used) {
            // SAFETY: by this function's contract.
            unsafe { self.pop(&memory) };
        }
    }

    /// Ends the newest packed weights.
    ///
    /// # Safety
    /// The memory is there, and nobody looks at its networks meanwhile.
    unsafe fn pop(&mut self, memory: &Range<usize>) {
        // SAFETY: by this function's contract.
        let next = unsafe { node_at(self.newest, memory) }.map_or(0, |node| {
            node.clear();
            node.next
        });
        // SAFETY: by this function's contract.
        let older = unsafe { node_at(next, memory) };
        *self = older.map_or(Self::EMPTY, |older| Self { newest: next, start: older.start });
    }
}

/// The node at an address, if one lies there.
///
/// # Safety
/// The memory is there, and nobody looks at its networks meanwhile.
unsafe fn node_at<'a>(at: usize, memory: &Range<usize>) -> Option<&'a mut PackedNode> {
    if !at.is_multiple_of(align_of::<PackedNode>())
        || at < memory.start
        || memory.end.checked_sub(at)? < size_of::<PackedNode>()
    {
        return None;
    }
    // SAFETY: `push` exposed an address in this memory, which is there by this function's contract; any bits are a node.
    let node = unsafe { &mut *ptr::with_exposed_provenance_mut::<PackedNode>(at) };
    node.is_sealed(at).then_some(node)
}
