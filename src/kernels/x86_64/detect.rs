//! Which vector units the processor and the operating system offer.

use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use core::sync::atomic::{AtomicU8, Ordering};

use crate::kernels::Level;

/// Bits of leaf 1, register ECX: SSSE3 and SSE4.1, whose registers every operating system saves.
const SSE41: u32 = 1 << 9 | 1 << 19;
/// The same: FMA, OSXSAVE, AVX.
const FMA_OSXSAVE_AVX: u32 = 1 << 12 | 1 << 27 | 1 << 28;

/// Bit of leaf 7, register EBX.
const AVX2: u32 = 1 << 5;
/// The same: AVX-512 F, DQ, BW and VL.
const AVX512: u32 = 1 << 16 | 1 << 17 | 1 << 30 | 1 << 31;
/// Bit of leaf 7, register ECX.
const AVX512_VNNI: u32 = 1 << 11;

/// Bits of extended control register 0: the operating system saves XMM, and the upper halves of YMM.
const XMM_AND_YMM: u64 = 0b110;
/// The same for the mask registers and all of ZMM.
const MASKS_AND_ZMM: u64 = 0b1110_0000;

/// What [`BEST`] holds before somebody has looked.
const UNKNOWN: u8 = u8::MAX;

/// Caches [`detect`]: asking the CPU traps in a virtual machine, which takes longer than running a small network.
static BEST: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The highest level whose instructions the processor has and whose registers the operating system saves. Threads that
/// ask together find and store the same.
pub(in crate::kernels) fn best_level() -> Level {
    let known = BEST.load(Ordering::Relaxed);
    if let Some(level) = Level::ALL.into_iter().find(|&level| level as u8 == known) {
        return level;
    }
    let found = detect();
    BEST.store(found as u8, Ordering::Relaxed);
    found
}

fn detect() -> Level {
    let basic = __cpuid(1).ecx;
    let below = if basic & SSE41 == SSE41 { Level::Sse41 } else { Level::Portable };
    if __cpuid(0).eax < 7 || basic & FMA_OSXSAVE_AVX != FMA_OSXSAVE_AVX {
        return below;
    }
    let features = __cpuid_count(7, 0);
    // SAFETY: OSXSAVE, checked above, says that XGETBV exists and may be used.
    let saved = unsafe { saved_registers() };
    let has = |wanted: u32, registers: u64| features.ebx & wanted == wanted && saved & registers == registers;
    if !has(AVX2, XMM_AND_YMM) {
        below
    } else if has(AVX512, XMM_AND_YMM | MASKS_AND_ZMM) && features.ecx & AVX512_VNNI != 0 {
        Level::Avx512
    } else {
        Level::Avx2
    }
}

/// Extended control register 0.
#[target_feature(enable = "xsave")]
fn saved_registers() -> u64 {
    // SAFETY: with the feature that this function requires, reading register 0 has no further condition.
    unsafe { _xgetbv(0) }
}
