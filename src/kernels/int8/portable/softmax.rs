//! See the reference.

use crate::kernels::int8::Softmax;

/// See the reference.
#[inline(always)]
pub fn softmax(args: &mut Softmax<'_>) {
    crate::kernels::int8::reference::softmax::softmax(args);
}
