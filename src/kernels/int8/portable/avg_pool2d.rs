//! See the reference.

use crate::kernels::int8::Pool2d;

/// See the reference.
#[inline(always)]
pub fn avg_pool2d(args: &mut Pool2d<'_>) {
    crate::kernels::int8::reference::avg_pool2d::avg_pool2d(args);
}
