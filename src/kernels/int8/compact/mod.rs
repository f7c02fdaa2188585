//! int8 kernels for processors without vectors: small code, little scratch, no table of inner loops.
//!
//! ```text
//! machine.rs            what differs between processors: rows of inputs, their products, the rounded product
//! rows.rs               the inputs under four windows as rows
//! conv2d.rs             convolution; dense.rs is a 1x1 convolution over its rows
//! depthwise_conv2d.rs   depthwise convolution, four channels at a time
//! finish.rs             from sums to codes
//! pool2d.rs             maximum and average pooling
//! add.rs                residual addition
//! ```
//!
//! Everything is generic over a [`Machine`], of which a build for a microcontroller has one: its inner loops are assembly in
//! `kernels/arm`. Every machine also exists in plain Rust, so that tests on a host reach all of this.

pub mod add;
pub mod conv2d;
pub mod dense;
pub mod depthwise_conv2d;
mod finish;
pub mod machine;
pub mod pool2d;
mod rows;

use super::Kernels;
use super::portable::lookup;
use super::reference::softmax;
use crate::kernels::Level;
use machine::{Halves, Machine, Native, Pairs, Words};

/// The kernels of a machine.
const fn kernels<M: Machine>() -> Kernels {
    Kernels {
        level: Level::Portable,
        conv2d: conv2d::conv2d::<M>,
        dense: dense::dense::<M>,
        depthwise_conv2d: depthwise_conv2d::depthwise_conv2d::<M>,
        max_pool2d: pool2d::max_pool2d,
        avg_pool2d: pool2d::avg_pool2d,
        add: add::add::<M>,
        softmax: softmax::softmax,
        lookup: lookup::lookup,
    }
}

/// Those of this target.
pub static KERNELS: Kernels = kernels::<Native>();

/// Those of each machine in plain Rust, by name: with scratch of [`conv2d::scratch_elems`] and its kin for the same machine.
pub const IN_RUST: [(&str, Kernels); 3] =
    [("words", kernels::<Words>()), ("halves", kernels::<Halves>()), ("pairs", kernels::<Pairs>())];
