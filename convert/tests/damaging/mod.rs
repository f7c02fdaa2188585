//! Damage to files, and a count of the memory that reading them takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proptest::prelude::*;

/// Counts what the current thread has allocated, and the most it ever had.
struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // The counters are gone while a thread ends.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + change);
        let _ = MOST.try_with(|most| most.set(most.get().max(now.get())));
    });
}

// SAFETY: all requests go to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Most bytes that `work` had allocated at one time, with its result.
pub fn most_allocated<T>(work: impl FnOnce() -> T) -> (isize, T) {
    let before = NOW.with(Cell::get);
    MOST.with(|most| most.set(before));
    let result = work();
    (MOST.with(Cell::get) - before, result)
}

/// Bytes that reading a file may take.
pub fn bound(file: &[u8]) -> isize {
    (4 * file.len() + (64 << 20)) as isize
}

/// A change of some bytes.
#[derive(Clone, Debug)]
pub enum Damage {
    /// Another byte.
    Set(usize, u8),
    /// One byte more.
    Insert(usize, u8),
    /// Fewer bytes.
    Remove(usize, usize),
    /// A piece once more in another place.
    Copy(usize, usize, usize),
    /// Only the first bytes.
    Truncate(usize),
}

/// Any damage.
pub fn damage() -> impl Strategy<Value = Damage> {
    let at = 0usize..1 << 16;
    prop_oneof![
        4 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        2 => (at.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        1 => (at.clone(), 1usize..8).prop_map(|(at, count)| Damage::Remove(at, count)),
        1 => (at.clone(), at.clone(), 1usize..40).prop_map(|(from, to, count)| Damage::Copy(from, to, count)),
        1 => at.prop_map(Damage::Truncate),
    ]
}

/// Does it.
pub fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len();
    if length == 0 {
        return;
    }
    match *damage {
        Damage::Set(at, byte) => bytes[at % length] = byte,
        Damage::Insert(at, byte) => bytes.insert(at % length, byte),
        Damage::Remove(at, count) => drop(bytes.drain(at % length..(at % length + count).min(length))),
        Damage::Copy(from, to, count) => {
            let piece = bytes[from % length..(from % length + count).min(length)].to_vec();
            bytes.splice(to % length..to % length, piece);
        }
        Damage::Truncate(at) => bytes.truncate(at % length),
    }
}
