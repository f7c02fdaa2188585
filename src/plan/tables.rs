//! The integer tables of int8 steps, which lie in the arena in the order of the steps:
//!
//! | step | table |
//! |---|---|
//! | conv2d, depthwise_conv2d, dense | multipliers (i32 per channel), shifts (i8 per channel) |
//! | add | [`AddTable`] |
//! | softmax | [`SoftmaxTable`] |
//! | lookup | 256 int8 values |

use bytemuck::{Pod, Zeroable};

/// Parameters of an int8 addition.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct AddTable {
    /// Of the step's output, which is the first term.
    pub own: TermWords,
    /// Of the step's input, the second term.
    pub other: TermWords,
    /// Of the sum.
    pub sum: TermWords,
}

/// One tensor of an addition: how it is scaled, and its zero point.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct TermWords {
    /// Q31 multiplier.
    pub multiplier: i32,
    /// Its exponent.
    pub shift: i32,
    /// Zero point of the tensor.
    pub zero_point: i32,
}

/// Parameters of an int8 softmax.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct SoftmaxTable {
    /// Q31 multiplier of differences of logits.
    pub multiplier: i32,
    /// Its exponent.
    pub shift: i32,
    /// Least difference that counts.
    pub diff_min: i32,
}
