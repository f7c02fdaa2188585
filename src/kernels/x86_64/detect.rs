//! Which vector units the processor and the operating system offer.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

/// Bits of leaf 1, register ECX.
const FMA: u32 = 1 << 12;
const OSXSAVE: u32 = 1 << 27;
const AVX: u32 = 1 << 28;

/// Bit of leaf 7, register EBX.
const AVX2: u32 = 1 << 5;

/// Bits of extended control register 0: the operating system saves XMM, and the upper halves of YMM.
const XMM_AND_YMM: u64 = 0b110;

/// What [`HAS_AVX2`] holds before somebody has looked.
const UNKNOWN: u8 = 2;

/// Caches [`detect_avx2`]: asking the CPU traps in a virtual machine, which takes longer than running a small network.
static HAS_AVX2: AtomicU8 = AtomicU8::new(UNKNOWN);

/// True when the processor has AVX2 and FMA, and the operating system saves the 256-bit registers. Threads that ask
/// together find and store the same.
pub(in crate::kernels) fn has_avx2() -> bool {
    match HAS_AVX2.load(Ordering::Relaxed) {
        UNKNOWN => {
            let found = detect_avx2();
            HAS_AVX2.store(found.into(), Ordering::Relaxed);
            found
        }
        known => known != 0,
    }
}

fn detect_avx2() -> bool {
    let wanted = FMA | OSXSAVE | AVX;
    if __cpuid(0).eax < 7 || __cpuid(1).ecx & wanted != wanted || __cpuid_count(7, 0).ebx & AVX2 == 0 {
        return false;
    }
    // SAFETY: OSXSAVE, checked above, says that XGETBV exists and may be used.
    let saved = unsafe { saved_registers() };
    saved & XMM_AND_YMM == XMM_AND_YMM
}

/// Extended control register 0.
#[target_feature(enable = "xsave")]
fn saved_registers() -> u64 {
    // SAFETY: with the feature that this function requires, reading register 0 has no further condition.
    unsafe { _xgetbv(0) }
}
