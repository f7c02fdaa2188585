//! One record per thread, without `std` and, for the first threads, without the heap.
//!
//! The record of a thread hangs on a pthread key. It comes from a pool of static slots; when all are taken, from the C
//! heap. The key's destructor gives it back when the thread ends.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::hint::black_box;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::ffi::last_error::Record;

/// Threads that can hold a record before the heap is asked.
const POOL_SLOTS: usize = 64;

#[repr(C)]
struct Slot {
    record: UnsafeCell<Record>,
    is_taken: AtomicBool,
    is_heap: bool,
}

impl Slot {
    const fn new(is_heap: bool) -> Self {
        Self { record: UnsafeCell::new(Record::EMPTY), is_taken: AtomicBool::new(is_heap), is_heap }
    }
}

// SAFETY: the record of a slot is touched only by the thread that owns the slot; `is_taken` hands it over with
// acquire/release order, and `is_heap` never changes after the slot was made.
unsafe impl Sync for Slot {}

static POOL: [Slot; POOL_SLOTS] = [const { Slot::new(false) }; POOL_SLOTS];

/// The pthread key plus one; 0 while there is none.
static KEY: AtomicUsize = AtomicUsize::new(0);

/// The records of all threads.
#[derive(Debug)]
pub(crate) struct ThreadRecords;

impl ThreadRecords {
    /// The calling thread's record; null when it never needed one. Never allocates.
    pub(crate) fn get() -> *mut Record {
        match KEY.load(Ordering::Acquire) {
            0 => ptr::null_mut(),
            key => record_of(current(key)),
        }
    }

    /// The calling thread's record, made if need be; null when there is no memory for one.
    pub(crate) fn get_or_claim() -> *mut Record {
        let Some(key) = key() else { return ptr::null_mut() };
        let slot = current(key);
        if !slot.is_null() {
            return record_of(slot);
        }
        let slot = claim();
        // SAFETY: the key exists; `slot` is null or a slot that `release` accepts.
        if !slot.is_null() && unsafe { libc::pthread_setspecific(raw_key(key), slot.cast()) } != 0 {
            // SAFETY: `claim` returned the slot a moment ago and nobody else knows it.
            unsafe { release(slot.cast_mut().cast()) };
            return ptr::null_mut();
        }
        record_of(slot)
    }
}

fn record_of(slot: *const Slot) -> *mut Record {
    if slot.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a slot that hangs on the key, or was just claimed, is alive until its thread ends.
    unsafe { (*slot).record.get() }
}

fn current(key: usize) -> *const Slot {
    // SAFETY: the key exists.
    unsafe { libc::pthread_getspecific(raw_key(key)) }.cast()
}

#[allow(clippy::unnecessary_cast, reason = "the width of a pthread key differs between systems")]
fn raw_key(key: usize) -> libc::pthread_key_t {
    (key - 1) as libc::pthread_key_t
}

/// The key, created on first use. When two threads create one at the same time, the second gives its own back.
fn key() -> Option<usize> {
    let known = KEY.load(Ordering::Acquire);
    if known != 0 {
        return Some(known);
    }
    let mut fresh: libc::pthread_key_t = 0;
    // SAFETY: `fresh` has room for the key; `release` accepts every value that is ever set for it.
    if unsafe { libc::pthread_key_create(&mut fresh, Some(release)) } != 0 {
        return None;
    }
    #[allow(clippy::unnecessary_cast, reason = "the width of a pthread key differs between systems")]
    let created = fresh as usize + 1;
    match KEY.compare_exchange(0, created, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(created),
        Err(first) => {
            // SAFETY: the key was created above and nobody has seen it.
            unsafe { libc::pthread_key_delete(fresh) };
            Some(first)
        }
    }
}

fn claim() -> *const Slot {
    // With a length that the optimiser knows it would write down all attempts one after the other.
    for slot in black_box(&POOL[..]) {
        if slot.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            return slot;
        }
    }
    // SAFETY: malloc accepts any size.
    let slot = unsafe { libc::malloc(size_of::<Slot>()) }.cast::<Slot>();
    if !slot.is_null() {
        // SAFETY: malloc returned room for one slot, aligned for any type.
        unsafe { slot.write(Slot::new(true)) };
    }
    slot
}

/// Gives a thread's slot back when the thread ends.
unsafe extern "C" fn release(slot: *mut c_void) {
    let slot = slot.cast::<Slot>();
    // SAFETY: only slots from `claim` are set for the key, and each is released once.
    unsafe {
        if (*slot).is_heap {
            libc::free(slot.cast());
        } else {
            *(*slot).record.get() = Record::EMPTY;
            (*slot).is_taken.store(false, Ordering::Release);
        }
    }
}
