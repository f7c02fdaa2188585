//! One zeroed block of the C heap.

use core::ptr::NonNull;

/// A block that is freed when it goes out of scope, unless its address is taken out.
#[derive(Debug)]
pub(crate) struct HeapBlock {
    address: NonNull<u8>,
    length: usize,
}

impl HeapBlock {
    /// A block of zero bytes. Large blocks cost nothing until they are touched. `None` for length 0 or when memory is
    /// out.
    pub(crate) fn zeroed(length: usize) -> Option<Self> {
        if length == 0 || length > isize::MAX as usize {
            return None;
        }
        // SAFETY: calloc accepts any sizes.
        let address = unsafe { libc::calloc(1, length) };
        NonNull::new(address.cast()).map(|address| Self { address, length })
    }

    /// The bytes of the block.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: calloc returned `length` initialised bytes that belong to this value alone.
        unsafe { core::slice::from_raw_parts_mut(self.address.as_ptr(), self.length) }
    }

    /// Hands the block over; [`HeapBlock::free`] takes it back.
    pub(crate) fn into_raw(self) -> *mut u8 {
        core::mem::ManuallyDrop::new(self).address.as_ptr()
    }

    /// Frees a block that [`HeapBlock::into_raw`] handed over.
    ///
    /// # Safety
    /// `address` came from `into_raw`, was not freed before, and nothing uses the block any more.
    pub(crate) unsafe fn free(address: *mut u8) {
        // SAFETY: by this function's contract the address is a live block of the C heap.
        unsafe { libc::free(address.cast()) }
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // SAFETY: `self` owns the block and is about to disappear.
        unsafe { Self::free(self.address.as_ptr()) }
    }
}
