//! The two types of networks, float32 and int8, and which of them this build runs: the cargo features `f32` and `int8`.
//!
//! A build without one of them refuses such models when they are planned or loaded. It still reads and describes them.
//! What belongs to one type is compiled with its feature, in whole modules; where the rest calls into such a module, a
//! module `absent` takes its place.

use crate::fault::{Fault, Text, text};

#[cfg(not(any(feature = "f32", feature = "int8")))]
compile_error!("netkit would run no network at all: switch on the cargo feature `f32`, `int8` or both");

/// What a call is told that needs float kernels in a build without them.
#[cfg(not(feature = "f32"))]
pub(crate) const NO_F32: &str = WITHOUT_F32.words();

const WITHOUT_F32: &Text = text!(Unsupported, note "this needs float kernels: build netkit with the cargo feature f32");
const WITHOUT_INT8: &Text =
    text!(Unsupported, note "this needs int8 kernels: build netkit with the cargo feature int8");

/// Whether this build runs networks of one type only, and if so whether that is int8.
pub(crate) const ONLY_INT8: Option<bool> = match (cfg!(feature = "f32"), cfg!(feature = "int8")) {
    (true, true) => None,
    (_, int8) => Some(int8),
};

/// Refuses networks of a type that this build leaves out.
pub(crate) fn require(is_int8: bool) -> Result<(), Fault> {
    match ONLY_INT8 {
        Some(only_int8) if only_int8 != is_int8 => Err(missing(is_int8)),
        _ => Ok(()),
    }
}

/// The error of a build that leaves out int8 networks, or float ones.
pub(crate) const fn missing(is_int8: bool) -> Fault {
    if is_int8 { WITHOUT_INT8.fault() } else { WITHOUT_F32.fault() }
}
