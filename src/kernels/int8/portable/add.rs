//! See the reference.

use crate::kernels::int8::Add;

/// See the reference.
#[inline(always)]
pub fn add(args: &mut Add<'_>) {
    crate::kernels::int8::reference::add::add(args);
}
