//! The level that is detected is the one that the standard library's own detection leads to.
//!
//! `scripts/test-aarch64` runs this under emulated processors and reads which level it was.

use netkit::kernels::{Level, best_level, supported_levels};

#[test]
fn the_best_level_is_that_of_the_processor() {
    let best = best_level();
    println!("best level: {}", best.name());
    assert_eq!(best, expected());
    let levels: Vec<Level> = supported_levels().collect();
    assert!(levels.starts_with(&[Level::Reference, Level::Portable]), "{levels:?}");
    assert_eq!(levels.last(), Some(&best));
}

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
fn expected() -> Level {
    let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let has_avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni");
    let has_sse41 = is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("sse4.1");
    match (has_sse41, has_avx2, has_avx512) {
        (_, true, true) => Level::Avx512,
        (_, true, false) => Level::Avx2,
        (true, false, _) => Level::Sse41,
        (false, false, _) => Level::Portable,
    }
}

#[cfg(all(target_arch = "aarch64", target_endian = "little", feature = "simd"))]
fn expected() -> Level {
    if std::arch::is_aarch64_feature_detected!("dotprod") { Level::NeonDotprod } else { Level::Neon }
}

#[cfg(not(any(
    all(target_arch = "x86_64", feature = "simd"),
    all(target_arch = "aarch64", target_endian = "little", feature = "simd")
)))]
fn expected() -> Level {
    Level::Portable
}
