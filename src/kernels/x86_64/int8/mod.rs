//! int8 on x86-64: inner loops with vectors of 128 bits (SSE2, the baseline, and SSE4.1), 256 bits (AVX2) and 512 bits
//! (AVX-512), and the portable kernels without inner loops of their own compiled for SSE4.1 and AVX2.
//!
//! All instruction sets multiply pairs of i16 and add the two products in one instruction. What AVX2 and AVX-512 do alike is
//! written once, in `add.rs` and `depthwise_conv2d.rs`.

/// Kernels compiled for an instruction set: those that all compile, or others, one per line: its name and parameters, and the
/// portable function that it compiles.
#[cfg(feature = "simd")]
macro_rules! compiled {
    ($feature:literal) => {
        compiled! { $feature:
            max_pool2d(args: &mut Pool2d<'_>) = portable::max_pool2d::max_pool2d(args);
            avg_pool2d(args: &mut Pool2d<'_>) = portable::avg_pool2d::avg_pool2d(args);
            softmax(args: &mut Softmax<'_>) = portable::softmax::softmax(args);
        }
    };
    ($feature:literal: $($name:ident($($arg:ident: $type:ty),*) = $portable:expr;)*) => {
        $(#[inline(never)]
        fn $name($($arg: $type),*) {
            #[target_feature(enable = $feature)]
            fn compiled($($arg: $type),*) {
                $portable
            }
            // SAFETY: `KERNELS` alone leads to this function, and only `int8::table` hands `KERNELS` out, after
            // the processor was seen to have the feature.
            unsafe { compiled($($arg),*) }
        })*
    };
}

/// `InnerLoops::outer` of one instruction set whose vectors of 256 bits hold the sums of a block.
#[cfg(feature = "simd")]
macro_rules! outer {
    ($feature:literal, $add_product:ident) => {
        #[target_feature(enable = $feature)]
        fn all_panel_products(input: &[[i16; 2]], panel: &[Pairs], all_sums: &mut Sums) {
            let Some(input) = input.get(..STRIP * panel.len()) else { return };
            let mut sums = [_mm256_setzero_si256(); STRIP];
            for (k, weights) in panel.iter().enumerate() {
                let weights = cast(*weights);
                for (r, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: pair `k` of row `r`, of rows as long as the panel. With checks, this takes a third longer.
                    let x = unsafe { *input.as_ptr().add(r * panel.len() + k) };
                    *sum = $add_product(*sum, _mm256_set1_epi32(cast(x)), weights);
                }
            }
            *all_sums = cast(sums);
        }
    };
}

#[cfg(feature = "simd")]
mod add;
#[cfg(feature = "simd")]
pub(in crate::kernels) mod avx2;
#[cfg(feature = "simd")]
pub(in crate::kernels) mod avx512;
#[cfg(feature = "simd")]
mod depthwise_conv2d;
mod narrow;
pub(in crate::kernels) mod sse2;
#[cfg(feature = "simd")]
pub(in crate::kernels) mod sse41;
