//! See the reference.

use crate::kernels::int8::Pool2d;

/// See the reference.
#[inline(always)]
pub fn max_pool2d(args: &mut Pool2d<'_>) {
    crate::kernels::int8::reference::max_pool2d::max_pool2d(args);
}
