//! A clock for measuring.

/// Nanoseconds since a moment in the past; 0 when the system gives no answer.
#[cfg(unix)]
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = core::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: there is room for the answer.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, time.as_mut_ptr()) } != 0 {
        return 0;
    }
    // SAFETY: the call succeeded and filled the structure.
    let time = unsafe { time.assume_init() };
    #[allow(clippy::unnecessary_cast, reason = "the width of both fields differs between systems")]
    let (seconds, nanoseconds) = (time.tv_sec as u64, time.tv_nsec as u64);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

/// Systems without a clock that the C library tells.
#[cfg(not(unix))]
pub(crate) fn monotonic_ns() -> u64 {
    0
}
