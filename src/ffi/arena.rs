//! Arena
//!
//! An arena hands out a range of memory from front to back and takes it back all at once. It keeps no bookkeeping
//! inside that memory: nk_arena_used() counts exactly what was handed out, and the padding in front of it. Packed
//! weights of models at the end of the memory count as free.

use core::ffi::c_void;
use core::mem::MaybeUninit;

use super::limits::NK_ARENA_STORAGE_BYTES;
use super::{mappings, nk_storage_byte};
use crate::arena::Arena;

/// Handle of an arena. Its content belongs to the library.
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
#[derive(Clone, Copy, Debug)]
pub struct nk_arena {
    /// Opaque.
    pub storage: [nk_storage_byte; NK_ARENA_STORAGE_BYTES],
}

/// Handle of an arena.
pub type nk_arena_t = nk_arena;

/// Makes an arena over memory of yours.
///
/// What the handle was before does not matter and is not released.
///
/// - arena: the handle to fill in.
/// - memory: first byte, at any address; must stay valid as long as the arena is used. With NULL every allocation
///   fails.
/// - size: bytes at `memory`.
///
/// Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_init(arena: *mut nk_arena_t, memory: *mut c_void, size: usize) {
    if !arena.is_null() {
        // SAFETY: `arena` is not NULL and by the conventions points to a handle.
        unsafe { store(arena, Arena::new(memory.cast(), size)) };
    }
}

/// Takes bytes from an arena. They are not cleared.
///
/// - arena: where from.
/// - size: bytes, at least 1.
/// - alignment: a power of two; the address is a multiple of it.
///
/// Returns the first byte, or NULL, with nothing taken, when an argument is wrong or the room is too small. Valid until
/// the arena is reset or destroyed. Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_alloc(arena: *mut nk_arena_t, size: usize, alignment: usize) -> *mut c_void {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    let Some(mut state) = (unsafe { get(arena) }) else { return core::ptr::null_mut() };
    let Some(bytes) = state.alloc(size, alignment) else { return core::ptr::null_mut() };
    // SAFETY: `get` found a handle there.
    unsafe { store(arena, state) };
    bytes.cast()
}

/// Takes all memory of an arena back and unmaps the files that were loaded into it.
///
/// Everything in it ends: allocations, models, tensors. Handles of models still answer queries, but must not be run.
/// The memory itself must still be there if files were loaded into it.
///
/// - arena: the arena to empty.
///
/// Threads: any. Cost: constant, and one unmapping for each file. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_reset(arena: *mut nk_arena_t) {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    let Some(mut state) = (unsafe { get(arena) }) else { return };
    // SAFETY: the arena's memory is there, by this function's documentation; its models end here.
    unsafe { mappings::release_above(&mut state, 0) };
    state.rewind(0);
    // SAFETY: `get` found a handle there.
    unsafe { store(arena, state) };
}

/// Bytes that an arena was made with; 0 for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_capacity(arena: *const nk_arena_t) -> usize {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    unsafe { get(arena) }.map_or(0, |state| state.capacity())
}

/// Bytes that are taken, padding included; 0 for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_used(arena: *const nk_arena_t) -> usize {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    unsafe { get(arena) }.map_or(0, |state| state.used())
}

/// Bytes that can still be taken; 0 for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_remaining(arena: *const nk_arena_t) -> usize {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    unsafe { get(arena) }.map_or(0, |state| state.remaining())
}

/// The arena in a handle; `None` when there is no handle or nothing was ever put into it.
///
/// # Safety
/// `arena` is null or points to a handle.
pub(super) unsafe fn get(arena: *const nk_arena_t) -> Option<Arena> {
    // SAFETY: by this function's contract.
    unsafe { peek(arena) }.filter(Arena::is_valid)
}

/// The arena in a handle, or one without memory when nothing was ever put into it: its first allocation says so.
///
/// # Safety
/// `arena` points to a handle.
pub(super) unsafe fn get_or_empty(arena: *const nk_arena_t) -> Arena {
    // SAFETY: by this function's contract.
    unsafe { get(arena) }.unwrap_or(Arena::NONE)
}

/// # Safety
/// As for [`get`].
unsafe fn peek(arena: *const nk_arena_t) -> Option<Arena> {
    if arena.is_null() {
        return None;
    }
    // SAFETY: a handle has room for an `Arena` (asserted below), every field of which may hold any bits. The handle may
    // be less aligned than the header asks for.
    Some(unsafe { arena.cast::<Arena>().read_unaligned() })
}

/// Puts an arena into a handle.
///
/// # Safety
/// `arena` points to a handle.
pub(super) unsafe fn store(arena: *mut nk_arena_t, state: Arena) {
    let mut handle = MaybeUninit::<nk_arena>::zeroed();
    // SAFETY: a handle has room for an `Arena`, asserted below, and by this function's contract `arena` is one.
    unsafe {
        handle.as_mut_ptr().cast::<Arena>().write(state);
        arena.cast::<MaybeUninit<nk_arena>>().write_unaligned(handle);
    }
}

const _: () = {
    assert!(size_of::<nk_arena>() == NK_ARENA_STORAGE_BYTES);
    assert!(align_of::<nk_arena>() == if size_of::<usize>() == 8 { 16 } else { 8 });
    assert!(size_of::<Arena>() <= size_of::<nk_arena>() && align_of::<Arena>() <= align_of::<nk_arena>());
};
