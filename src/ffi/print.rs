//! Where printing functions print to.

use core::fmt;

/// Calls `action` with C stdout and flushes it.
#[cfg(feature = "host")]
pub(super) fn with_stdout(action: impl FnOnce(&mut dyn fmt::Write)) {
    let mut out = crate::host::Stdout;
    action(&mut out);
    out.flush();
}

/// Builds without an operating system have nowhere to print to.
#[cfg(not(feature = "host"))]
pub(super) fn with_stdout(_action: impl FnOnce(&mut dyn fmt::Write)) {}
