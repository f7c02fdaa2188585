//! Arena on the heap
//!
//! For programs that have a heap and do not care where the arena lies.

use super::arena::{nk_arena_t, store};
use super::errors::nk_status_t;
use super::last_error::report;
use super::{arena_extras, raw};
use crate::arena::Arena;
use crate::host::HeapBlock;

/// Makes an arena over one block of the C heap, cleared to zero. A large block costs nothing until it is used.
///
/// What the handle was before does not matter and is not released.
///
/// - arena: the handle to fill in; destroy it with nk_arena_destroy_heap().
/// - capacity: bytes, at least 1.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, or NK_ERR_ARENA_OVERFLOW when the heap has no such block.
/// Threads: any. Cost: one calloc(). Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_init_heap(arena: *mut nk_arena_t, capacity: usize) -> nk_status_t {
    report(raw::required(arena, "arena is NULL").and_then(|()| {
        let block = HeapBlock::zeroed(capacity).ok_or_else(|| no_block(capacity))?;
        // SAFETY: `arena` is not NULL and by the conventions points to a handle.
        unsafe { store(arena, Arena::on_heap(block.into_raw(), capacity)) };
        Ok(())
    }))
}

/// Ends an arena: unmaps its files and, when nk_arena_init_heap() made it, frees its memory. Its capacity is 0
/// afterwards.
///
/// Harmless for an arena that nk_arena_init() made, for one that was destroyed before, and for NULL. Of several copies
/// of a handle destroy one only. The same as nk_arena_deinit(), which every build has.
///
/// - arena: the arena to end.
///
/// Threads: any. Cost: one free(), and one unmapping for each file. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_destroy_heap(arena: *mut nk_arena_t) {
    // SAFETY: by the conventions and this function's documentation, which `end` repeats.
    unsafe { arena_extras::end(arena) };
}

fn no_block(capacity: usize) -> crate::error::Error {
    Arena::new(core::ptr::null_mut(), 0).too_small(capacity.max(1), "the heap has no such block")
}
