//! float32 on x86-64: the inner loops of the convolutions with explicit vectors, for each instruction set.
//!
//! ```text
//! avx2.rs     vectors of eight, and the portable kernels without inner loops of their own compiled for AVX2
//! avx512.rs   vectors of sixteen, and those of these kernels compiled for AVX-512 that compute much with what they read
//! row.rs      the sums of one row times packed weights
//! ```

/// Kernels compiled for an instruction set, one per line: its name and parameters, and the portable function that it compiles.
macro_rules! compiled {
    ($features:literal: $($name:ident($($arg:ident: $type:ty),*) = $portable:expr;)*) => {
        $(#[inline(never)]
        fn $name($($arg: $type),*) {
            #[target_feature(enable = $features)]
            fn compiled($($arg: $type),*) {
                $portable
            }
            // SAFETY: `KERNELS` alone names this function, and only `kernels::table` hands `KERNELS` out, after
            // the processor was seen to have the features.
            unsafe { compiled($($arg),*) }
        })*
    };
}

pub(in crate::kernels) mod avx2;
pub(in crate::kernels) mod avx512;
mod row;

use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

use crate::kernels::{Kernels, Level, portable};

/// The SSE4.1 level: it has nothing for float32 that the baseline lacks.
pub(super) static SSE41: Kernels = Kernels { level: Level::Sse41, ..portable::KERNELS };

/// Elements of a line of the cache.
const LINE: usize = 64 / size_of::<f32>();

/// Fetches a line from memory that is needed soon, so that nobody waits for it.
#[inline]
fn prefetch(line: &[f32]) {
    // SAFETY: a hint about memory that may be read; it reads nothing that anybody sees.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
}
