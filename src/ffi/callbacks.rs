//! Functions of the program that the whole process shares. They are set seldom and read often, without a lock.

use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function and the pointer that it is called with; no function to begin with.
#[derive(Debug)]
pub(super) struct Callback {
    function: AtomicPtr<()>,
    user: AtomicPtr<c_void>,
}

impl Callback {
    pub(super) const fn new() -> Self {
        Self { function: AtomicPtr::new(null_mut()), user: AtomicPtr::new(null_mut()) }
    }

    /// Replaces both. A thread that reads meanwhile may see no function; between two replacements it may see a function
    /// with the pointer of another, which is why the header asks programs not to do that.
    pub(super) fn set(&self, function: *mut (), user: *mut c_void) {
        self.function.store(null_mut(), Ordering::Release);
        self.user.store(user, Ordering::Release);
        self.function.store(function, Ordering::Release);
    }

    /// The function, if there is one, and its pointer.
    pub(super) fn get(&self) -> Option<(*mut (), *mut c_void)> {
        let function = self.function.load(Ordering::Acquire);
        (!function.is_null()).then(|| (function, self.user.load(Ordering::Acquire)))
    }
}
