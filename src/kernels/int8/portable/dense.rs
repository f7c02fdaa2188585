//! Matrix product.

use crate::kernels::int8::Dense;

/// Scratch in i16 elements.
pub fn scratch_elems(_rows: u32, _in_features: u32, _out_features: u32) -> u32 {
    0
}

/// [`Kernels::dense`](crate::kernels::int8::Kernels::dense) as every target has it.
pub fn dense(args: &mut Dense<'_>) {
    crate::kernels::int8::reference::dense::dense(args);
}
