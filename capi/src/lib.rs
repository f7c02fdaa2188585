//! Packaging only: gathers the C symbols of `netkit` into a static and a shared library.
#![cfg_attr(not(test), no_std)]

pub use netkit::*;

#[cfg(all(feature = "panic-abort", not(test)))]
#[panic_handler]
fn on_panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: abort has no precondition and does not return.
    unsafe { libc::abort() }
}

#[cfg(all(feature = "panic-halt", not(feature = "panic-abort"), not(test)))]
#[panic_handler]
fn on_panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
