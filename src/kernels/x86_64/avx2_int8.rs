//! The portable int8 kernels, compiled for AVX2.

use crate::kernels::Level;
use crate::kernels::int8::{Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Softmax, portable};

/// One kernel per line: its name and parameters, and the portable function that it compiles.
macro_rules! kernels {
    ($($name:ident($($arg:ident: $type:ty),*) = $portable:expr;)*) => {
        $(#[inline(never)]
        fn $name($($arg: $type),*) {
            #[target_feature(enable = "avx2")]
            fn compiled($($arg: $type),*) {
                $portable
            }
            // SAFETY: `KERNELS` alone names this function, and only `int8::table` hands `KERNELS` out, after
            // `has_avx2` has found the feature.
            unsafe { compiled($($arg),*) }
        })*

        /// The AVX2 level. Must be reached through [`int8::table`](crate::kernels::int8::table) only.
        pub(in crate::kernels) static KERNELS: Kernels = Kernels { level: Level::Avx2, $($name),* };
    };
}

kernels! {
    conv2d(args: &mut Conv2d<'_>) = portable::conv2d::conv2d(args);
    dense(args: &mut Dense<'_>) = portable::dense::dense(args);
    depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) = portable::depthwise_conv2d::depthwise_conv2d(args);
    max_pool2d(args: &mut Pool2d<'_>) = portable::max_pool2d::max_pool2d(args);
    avg_pool2d(args: &mut Pool2d<'_>) = portable::avg_pool2d::avg_pool2d(args);
    add(args: &mut Add<'_>) = portable::add::add(args);
    softmax(args: &mut Softmax<'_>) = portable::softmax::softmax(args);
    lookup(data: &mut [i8], table: &[i8; 256]) = portable::lookup::lookup(data, table);
}
