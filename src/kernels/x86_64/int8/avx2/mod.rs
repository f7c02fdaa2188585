//! The AVX2 level: the portable kernels with inner loops of its own, and those without compiled for AVX2.

mod add;
mod depthwise_conv2d;
mod loops;
mod packed;

pub(super) use loops::LOOPS;

use crate::kernels::Level;
use crate::kernels::int8::{Conv2d, Kernels, Pool2d, Softmax, portable};

compiled!("avx2");
compiled! { "avx2":
    lookup(data: &mut [i8], table: &[i8; 256]) = portable::lookup::lookup(data, table);
}

fn conv2d(args: &mut Conv2d<'_>) {
    portable::conv2d::run(args, &LOOPS);
}

/// The AVX2 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
pub(in crate::kernels) const KERNELS: Kernels = Kernels {
    level: Level::Avx2,
    conv2d,
    dense: |args| portable::dense::run(args, conv2d),
    depthwise_conv2d: depthwise_conv2d::depthwise_conv2d,
    max_pool2d,
    avg_pool2d,
    add: add::add,
    softmax,
    lookup,
};
