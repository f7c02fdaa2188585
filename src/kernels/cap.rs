//! What lowers the level on a host: the environment, and tests.

use core::sync::atomic::{AtomicU8, Ordering};

use super::Level;

/// "Nobody has looked yet", and "no cap"; above every level.
const UNSET: u8 = u8::MAX;

/// Caches the level that the environment allows.
static ALLOWED: AtomicU8 = AtomicU8::new(UNSET);

/// The lowest level that [`cap_level`] was called with.
static CAP: AtomicU8 = AtomicU8::new(UNSET);

/// Lowers the active level to `level` for the rest of the process; a cap never raises it. When threads set different
/// caps at the same time, one of them wins.
pub fn cap_level(level: Level) {
    let present = CAP.load(Ordering::Relaxed);
    CAP.store(present.min(level.or_below() as u8), Ordering::Relaxed);
}

/// `best`, or what is left of it. Threads that look at the environment together find and store the same level.
pub(super) fn lowered(best: Level) -> Level {
    let allowed = from_u8(ALLOWED.load(Ordering::Relaxed)).unwrap_or_else(|| {
        let allowed = crate::host::cpu_cap().map_or(best, |cap| cap.up_to(best));
        ALLOWED.store(allowed as u8, Ordering::Relaxed);
        allowed
    });
    from_u8(CAP.load(Ordering::Relaxed)).map_or(allowed, |cap| cap.min(allowed))
}

fn from_u8(byte: u8) -> Option<Level> {
    Level::ALL.into_iter().find(|&level| level as u8 == byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{active_level, best_level};

    #[test]
    fn every_level_is_found_by_its_number() {
        for level in Level::ALL {
            assert_eq!(from_u8(level as u8), Some(level));
        }
        assert_eq!(from_u8(UNSET), None);
    }

    #[test]
    fn a_cap_lowers_the_active_level_and_never_raises_it() {
        assert!(active_level() <= best_level());
        cap_level(Level::Portable);
        assert!(active_level() <= Level::Portable);
        cap_level(Level::Reference);
        assert_eq!(active_level(), Level::Reference);
        cap_level(Level::Avx2);
        assert_eq!(active_level(), Level::Reference);
    }
}
