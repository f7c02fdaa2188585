//! Which kernels run: what the CPU supports, lowered by what the environment or a test asks for.
//!
//! Three bytes are the only global state. Two cache what every thread would find alike, the best level of the CPU and the
//! level that the environment allows; [`cap_level`](super::cap_level) alone writes the third. None needs a
//! compare-and-swap, which Cortex-M0 lacks, and no other memory depends on them, so relaxed loads and stores are enough.

use super::native;

/// A set of kernels, from the plainest to the fastest.
///
/// Every level exists as a value on every target, so that names can be parsed and printed anywhere; [`supported_levels`]
/// tells which of them this CPU can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Scalar loops in the order of the formulas: the specification.
    Reference = 0,
    /// Blocked loops that the compiler vectorises for the target's baseline.
    Portable = 1,
    /// x86-64 with SSE4.1, in builds with the feature `simd`.
    Sse41 = 2,
    /// x86-64 with AVX2 and FMA, in builds with the feature `simd`.
    Avx2 = 3,
    /// x86-64 with AVX-512 F, BW, DQ, VL and VNNI besides, in builds with the feature `simd`.
    Avx512 = 4,
    /// AArch64 with NEON, which all but a few bare-metal targets have, in builds with the feature `simd`.
    Neon = 5,
    /// AArch64 with `sdot` besides, in builds with the feature `simd`.
    NeonDotprod = 6,
}

impl Level {
    /// All levels in rising order.
    pub const ALL: [Level; 7] =
        [Level::Reference, Level::Portable, Level::Sse41, Level::Avx2, Level::Avx512, Level::Neon, Level::NeonDotprod];

    /// The name that `NETKIT_CPU` takes and that reports print.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Reference => "reference",
            Level::Portable => "portable",
            Level::Sse41 => "sse4.1",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Neon => "neon",
            Level::NeonDotprod => "neon-dotprod",
        }
    }

    /// The level with this name; ASCII case does not matter, nor the dot of `sse4.1`.
    pub fn from_name(name: &str) -> Option<Level> {
        Level::from_bytes(name.as_bytes())
    }

    /// The level with this name, from bytes that may not be UTF-8 (the environment of a C program).
    pub fn from_bytes(name: &[u8]) -> Option<Level> {
        let name = if name.eq_ignore_ascii_case(b"sse41") { b"sse4.1" } else { name };
        Level::ALL.into_iter().find(|level| level.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether this CPU can run the level.
    pub fn is_supported(self) -> bool {
        self.or_below() == self
    }

    /// The level where this CPU supports it, else the best below that it does. Below the levels of another architecture, that
    /// is the portable one.
    pub fn or_below(self) -> Level {
        self.up_to(best_level())
    }

    /// [`Self::or_below`] for a CPU whose best level is `best`.
    pub(super) fn up_to(self, best: Level) -> Level {
        let is_arm = |level| level >= Level::Neon;
        if self > Level::Portable && is_arm(self) != is_arm(best) { Level::Portable } else { self.min(best) }
    }
}

/// The highest level that this CPU supports.
pub fn best_level() -> Level {
    native::best_level()
}

/// The levels that this CPU supports, in rising order.
pub fn supported_levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_supported())
}

/// The level that this process uses: the best supported one. On hosts the environment variable `NETKIT_CPU` and
/// [`cap_level`](super::cap_level) can lower it. May be called from any thread; the first call detects, later ones read
/// three bytes.
///
/// Without a host nothing lowers it, and the reference kernels are not linked.
pub fn active_level() -> Level {
    #[cfg(feature = "host")]
    return super::cap::lowered(best_level());
    #[cfg(not(feature = "host"))]
    best_level()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_found_by_its_name_in_any_case() {
        for level in Level::ALL {
            assert_eq!(Level::from_name(level.name()), Some(level));
        }
        assert_eq!(Level::from_name("AVX2"), Some(Level::Avx2));
        assert_eq!(Level::from_name("Sse41"), Some(Level::Sse41));
        for wrong in ["", "avx", "avx2 ", "native"] {
            assert_eq!(Level::from_name(wrong), None, "{wrong:?}");
        }
        assert_eq!(Level::from_bytes(b"\xff"), None);
    }

    #[test]
    fn a_level_that_is_missing_stands_for_the_best_below_of_the_same_architecture() {
        use Level::*;
        for (asked, best, got) in [
            (Avx2, Avx512, Avx2),
            (Avx512, Avx2, Avx2),
            (Avx512, Sse41, Sse41),
            (Sse41, Avx512, Sse41),
            (Avx512, Portable, Portable),
            (NeonDotprod, Neon, Neon),
            (Neon, NeonDotprod, Neon),
            (Neon, Portable, Portable),
            (Neon, Avx512, Portable),
            (Avx512, NeonDotprod, Portable),
            (Reference, Neon, Reference),
            (Portable, Avx2, Portable),
        ] {
            assert_eq!(asked.up_to(best), got, "{asked:?} where {best:?} is the best");
        }
    }

    #[test]
    fn levels_rise_from_reference_to_best() {
        assert!(Level::ALL.is_sorted());
        assert_eq!(supported_levels().next(), Some(Level::Reference));
        assert_eq!(supported_levels().last(), Some(best_level()));
    }
}
