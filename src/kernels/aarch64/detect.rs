//! Which vector instructions the processor has. NEON belongs to the baseline; products of four i8 are optional.

use crate::kernels::Level;

/// The highest level whose instructions the processor has.
pub(in crate::kernels) fn best_level() -> Level {
    if has_dot_product() { Level::NeonDotprod } else { Level::Neon }
}

/// Whether the processor has the instruction `sdot`: known from the build, or told by the operating system.
fn has_dot_product() -> bool {
    cfg!(target_feature = "dotprod") || is_told()
}

#[cfg(all(feature = "host", any(target_os = "linux", target_os = "android")))]
fn is_told() -> bool {
    // SAFETY: reads one of the values that the operating system handed over when the process started.
    let features = unsafe { libc::getauxval(libc::AT_HWCAP) };
    features & libc::HWCAP_ASIMDDP != 0
}

#[cfg(not(all(feature = "host", any(target_os = "linux", target_os = "android"))))]
fn is_told() -> bool {
    false
}
