//! Arena: marks and allocators
//!
//! Taking back a part of an arena, measuring what it really used, and arenas over memory that an allocator of yours
//! provides: from fast memory, from a page that no cache line of others shares, from a pool.

use core::ffi::c_void;

use super::arena::{get, nk_arena_t, store};
use super::errors::nk_status_t;
use super::last_error::report;
use super::mappings;
use super::raw::{self, invalid, required};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};

/// Where memory comes from and goes back to. Set struct_size to `sizeof(nk_allocator_t)` before you pass it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_allocator {
    /// Size of this structure in bytes, set by you.
    pub struct_size: u32,
    /// Gives `size` bytes at a multiple of `alignment`, or NULL.
    pub alloc: Option<unsafe extern "C" fn(user: *mut c_void, size: usize, alignment: usize) -> *mut c_void>,
    /// Takes back what `alloc` gave, with the same size and alignment; may be NULL for memory that never goes back.
    pub free_: Option<unsafe extern "C" fn(user: *mut c_void, ptr: *mut c_void, size: usize, alignment: usize)>,
    /// Handed to both functions.
    pub user: *mut c_void,
}

/// Where memory comes from and goes back to.
pub type nk_allocator_t = nk_allocator;

/// What lies behind the memory of an arena that came from an allocator: how the block goes back.
#[derive(Clone, Copy)]
#[repr(C)]
struct Block {
    allocator: nk_allocator,
    bytes: usize,
    alignment: usize,
}

/// Makes an arena over one block of an allocator of yours.
///
/// What the handle was before does not matter and is not released. The block is a little larger than the capacity,
/// because the arena remembers behind its memory how the block goes back.
///
/// - arena: the handle to fill in; end it with nk_arena_deinit().
/// - capacity: bytes, at least 1.
/// - alignment: a power of two; the first byte of the arena lies at a multiple of it.
/// - allocator: copied; its functions must stay callable until the arena ends.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, a wrong struct_size, an alignment that is no power of two, an
/// allocator without alloc or one that gives a misaligned block, or NK_ERR_ARENA_OVERFLOW when capacity is 0 or the
/// allocator has no such block. Threads: any. Cost: one call of alloc. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_init_allocator(
    arena: *mut nk_arena_t,
    capacity: usize,
    alignment: usize,
    allocator: *const nk_allocator_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(arena, capacity, alignment, allocator) })
}

/// Ends an arena of any kind: unmaps its files and gives its memory back to where it came from, the heap or an allocator.
/// Its capacity is 0 afterwards.
///
/// Harmless for an arena that was ended before and for NULL. Of several copies of a handle end one only.
///
/// - arena: the arena to end.
///
/// Threads: any. Cost: giving back one block, and one unmapping for each file. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_deinit(arena: *mut nk_arena_t) {
    // SAFETY: the conventions of the header, which `end` repeats.
    unsafe { end(arena) };
}

/// A mark for nk_arena_rewind(): the bytes that are taken now; 0 for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_mark(arena: *const nk_arena_t) -> usize {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    unsafe { get(arena) }.map_or(0, |state| state.used())
}

/// Takes back everything that was taken since a mark, and unmaps the files that were loaded since then.
///
/// What was loaded or allocated behind the mark ends, as all does in nk_arena_reset(); what was there before stays.
///
/// - arena: the arena.
/// - mark: what nk_arena_mark() told for this arena, if neither a reset nor a rewind went below it meanwhile.
///
/// Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL and for a mark above what is taken. Threads: any. Cost: constant,
/// and one unmapping for each file. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_rewind(arena: *mut nk_arena_t, mark: usize) -> nk_status_t {
    // SAFETY: the conventions of the header, which `rewind` repeats.
    report(unsafe { rewind(arena, mark) })
}

/// Most bytes that were ever taken from an arena at one time since it was made, resets and rewinds notwithstanding; what
/// a run borrowed for its duration counts. 0 for NULL.
///
/// An arena of this capacity would have done, if it starts at an address of the same alignment. Threads: any. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_arena_peak(arena: *const nk_arena_t) -> usize {
    // SAFETY: `arena` is NULL or by the conventions points to a handle.
    unsafe { get(arena) }.map_or(0, |state| state.peak())
}

/// # Safety
/// `arena` is null or points to a handle, `allocator` is null or begins with its size and is one.
unsafe fn init(
    arena: *mut nk_arena_t,
    capacity: usize,
    alignment: usize,
    allocator: *const nk_allocator_t,
) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    // SAFETY: by this function's contract; `struct_size` finds that the whole structure is there.
    let allocator = unsafe {
        raw::struct_size(allocator, "allocator is NULL")?;
        allocator.read_unaligned()
    };
    let alloc = allocator.alloc.ok_or(invalid("the allocator has no alloc"))?;
    if !alignment.is_power_of_two() {
        return Err(Error::new(ErrorKind::Argument).field("alignment").found(alignment as u64).note("no power of two"));
    }
    let no_block = Arena::new(core::ptr::null_mut(), 0).too_small(capacity.max(1), "the allocator has no block");
    let alignment_given = alignment.max(align_of::<Block>());
    let bytes = record_offset(capacity).and_then(|offset| offset.checked_add(size_of::<Block>()));
    let bytes = bytes.filter(|&bytes| capacity > 0 && bytes <= isize::MAX as usize).ok_or(no_block)?;
    // SAFETY: whoever gave the allocator promises that its functions may be called.
    let memory = unsafe { alloc(allocator.user, bytes, alignment_given) };
    if memory.is_null() {
        return Err(no_block);
    }
    let block = Block { allocator, bytes, alignment: alignment_given };
    if !memory.addr().is_multiple_of(alignment_given) {
        // SAFETY: the allocator gave this block a moment ago.
        unsafe { give_back(&block, memory) };
        return Err(invalid("the allocator gave a misaligned block"));
    }
    let base = memory.cast::<u8>();
    // SAFETY: the allocator gave `bytes` bytes, of which the record is the end; `arena` points to a handle.
    unsafe {
        base.add(bytes - size_of::<Block>()).cast::<Block>().write_unaligned(block);
        store(arena, Arena::from_allocator(base, capacity));
    }
    Ok(())
}

/// Where the record lies behind `capacity` bytes.
fn record_offset(capacity: usize) -> Option<usize> {
    capacity.checked_next_multiple_of(align_of::<Block>())
}

/// # Safety
/// The allocator of the block gave `memory`, and nobody uses it any more.
unsafe fn give_back(block: &Block, memory: *mut c_void) {
    if let Some(free) = block.allocator.free_ {
        // SAFETY: by this function's contract.
        unsafe { free(block.allocator.user, memory, block.bytes, block.alignment) };
    }
}

/// Unmaps the files of an arena, gives its memory back and leaves one without memory.
///
/// # Safety
/// `arena` is null or points to a handle. The memory of the arena is there, and nobody uses what lies in it any more.
pub(super) unsafe fn end(arena: *mut nk_arena_t) {
    // SAFETY: by this function's contract.
    let Some(mut state) = (unsafe { get(arena) }) else { return };
    // SAFETY: by this function's contract.
    unsafe { mappings::release_above(&mut state, 0) };
    #[cfg(feature = "host")]
    if state.owns_heap() {
        // SAFETY: `nk_arena_init_heap` took the block out of a `HeapBlock`, and the arena ends here.
        unsafe { crate::host::HeapBlock::free(state.base()) };
    }
    if let (true, Some(offset)) = (state.owns_allocation(), record_offset(state.capacity())) {
        // SAFETY: `init` wrote the record there, behind the memory that the arena hands out.
        unsafe {
            let block = state.base().add(offset).cast::<Block>().read_unaligned();
            give_back(&block, state.base().cast());
        }
    }
    // SAFETY: `get` found a handle there.
    unsafe { store(arena, Arena::new(core::ptr::null_mut(), 0)) };
}

/// # Safety
/// `arena` is null or points to a handle of an arena whose memory is there.
unsafe fn rewind(arena: *mut nk_arena_t, mark: usize) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    // SAFETY: not null, and by this function's contract a handle.
    let mut state = unsafe { super::arena::get_or_empty(arena) };
    if mark > state.used() {
        let error = Error::new(ErrorKind::Argument).field("mark").found(mark as u64);
        return Err(error.at_most(state.used() as u64));
    }
    if !state.is_valid() {
        return Ok(());
    }
    // SAFETY: by this function's contract, and the models behind the mark end here.
    unsafe {
        mappings::release_above(&mut state, mark);
        state.rewind(mark);
        store(arena, state);
    }
    Ok(())
}

const _: () = {
    use core::mem::offset_of;
    const WORD: usize = size_of::<usize>();
    assert!(offset_of!(nk_allocator, alloc) == WORD && size_of::<nk_allocator>() == 4 * WORD);
    assert!(size_of::<Block>() == 6 * WORD && align_of::<Block>() == WORD);
};
