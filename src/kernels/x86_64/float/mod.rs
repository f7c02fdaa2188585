//! float32 on x86-64: the inner loops of the convolutions with explicit vectors, for each instruction set.
//!
//! ```text
//! avx2.rs     vectors of eight, and the portable kernels without inner loops of their own compiled for AVX2
//! avx512.rs   vectors of sixteen
//! ```

pub(in crate::kernels) mod avx2;
pub(in crate::kernels) mod avx512;

use core::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

use crate::kernels::{Kernels, Level, portable};

/// The SSE4.1 level: it has nothing for float32 that the baseline lacks.
pub(super) static SSE41: Kernels = Kernels { level: Level::Sse41, ..portable::KERNELS };

/// Fetches values from memory that are needed soon, so that nobody waits for them.
#[inline]
fn prefetch(values: &[f32]) {
    const LINE: usize = 64 / size_of::<f32>();
    for line in values.chunks(LINE) {
        // SAFETY: a hint about memory that may be read; it reads nothing that anybody sees.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()) };
    }
}
