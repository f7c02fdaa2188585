//! The files that an arena owns: a list that runs through the networks in its memory, newest first.
//!
//! A network keeps four words at the start of its memory for us. They name the bytes that the network reads its weights
//! from, and link the networks whose bytes are a mapped file. A seal over the words and their address makes sure that
//! they are still what we wrote: memory that was reset and used again, or cleared by its owner, is not followed.

#[cfg(all(feature = "host", unix))]
pub(super) use mapped::{adopt, release, release_above};
#[cfg(not(all(feature = "host", unix)))]
pub(super) use unmapped::{adopt, release, release_above};

use super::handle::Loaded;
#[cfg(all(feature = "host", unix))]
use super::handle::NOT_LOADED;
use crate::arena::Arena;
use crate::error::Error;
use crate::network::{Network, SharedNetwork};

const NEXT: usize = 0;
const ADDRESS: usize = 1;
const BYTES: usize = 2;
const SEAL: usize = 3;

/// The four words, see the module.
type Words = [usize; 4];

fn seal(words: &Words, at: usize) -> usize {
    crate::arena::seal([words[NEXT], words[ADDRESS], words[BYTES]], at, 0x4e4b_4d50) // "NKMP"
}

fn write(words: &mut Words, next: usize, address: usize, bytes: usize) {
    *words = [next, address, bytes, 0];
    words[SEAL] = seal(words, words.as_ptr().addr());
}

/// Notes in a network's memory that it reads its weights from `blob`.
pub(super) fn mark(region: &mut [u8], blob: &[u8]) {
    if let Some(words) = Network::user_words(region) {
        write(words, 0, blob.as_ptr().addr(), blob.len());
    }
}

/// Whether the network that was loaded into `region` from these bytes is still there.
pub(super) fn is_alive(region: &[u8], blob: *const u8, blob_bytes: usize) -> bool {
    SharedNetwork::user_words(region).is_some_and(|words| {
        words[SEAL] == seal(words, words.as_ptr().addr()) && words[ADDRESS] == blob.addr() && words[BYTES] == blob_bytes
    })
}

/// Hosts with mapped files: the arena owns them.
#[cfg(all(feature = "host", unix))]
mod mapped {
    use super::{ADDRESS, Arena, BYTES, Error, Loaded, NEXT, NOT_LOADED, Network, SEAL, Words, seal, write};
    use crate::host::FileBytes;

    /// Makes the arena the owner of `file`, which `loaded` reads its weights from.
    pub(in crate::ffi) fn adopt(arena: &mut Arena, loaded: Loaded, file: FileBytes) -> Result<Loaded, Error> {
        // SAFETY: the model was loaded into this arena a moment ago, and nobody else knows it yet.
        let words = Network::user_words(unsafe { loaded.region_mut() }?).ok_or(NOT_LOADED)?;
        let (address, bytes) = file.into_raw();
        write(words, arena.newest_mapping, address, bytes);
        arena.newest_mapping = words.as_mut_ptr().expose_provenance();
        Ok(loaded.with_file())
    }

    /// Unmaps the file of a model, if it has one and was not ended before; the list goes on behind it.
    ///
    /// # Safety
    /// The memory of the model's arena is valid, and nobody uses the model meanwhile.
    pub(in crate::ffi) unsafe fn release(loaded: &Loaded) {
        if !loaded.owns_file() {
            return;
        }
        // SAFETY: by this function's contract.
        let Some(words) = unsafe { loaded.region_mut() }.ok().and_then(Network::user_words) else { return };
        let (next, address, bytes) = (words[NEXT], words[ADDRESS], words[BYTES]);
        write(words, next, 0, 0);
        // SAFETY: `adopt` stored the pair, the seal says that it is unchanged, and it was overwritten above.
        drop(unsafe { FileBytes::from_raw(address, bytes) });
    }

    /// Unmaps the files of all models that lie behind the first `mark` bytes of an arena, and ends these models.
    ///
    /// # Safety
    /// The memory of the arena is valid, and nobody uses its models meanwhile.
    pub(in crate::ffi) unsafe fn release_above(arena: &mut Arena, mark: usize) {
        let limit = arena.base().addr().saturating_add(mark);
        let mut at = core::mem::take(&mut arena.newest_mapping);
        // Newer models lie behind older ones.
        while at != 0 && arena.contains(at, size_of::<Words>()) {
            if at < limit {
                arena.newest_mapping = at;
                return;
            }
            let node = core::ptr::with_exposed_provenance_mut::<Words>(at);
            // SAFETY: `adopt` exposed this address, four words in the arena's memory, which is valid.
            let words = unsafe { node.read() };
            if words[SEAL] != seal(&words, at) {
                return;
            }
            // SAFETY: as above. The seal says that `adopt` or `release` stored the pair, and it is forgotten here.
            unsafe {
                node.write([0; 4]);
                drop(FileBytes::from_raw(words[ADDRESS], words[BYTES]));
            }
            at = words[NEXT];
        }
    }
}

/// Builds without mapped files: there is nothing to own. The functions are `unsafe` like those above.
#[cfg(not(all(feature = "host", unix)))]
mod unmapped {
    use super::{Arena, Error, Loaded};

    pub(in crate::ffi) fn adopt<F>(_arena: &mut Arena, loaded: Loaded, _file: F) -> Result<Loaded, Error> {
        Ok(loaded)
    }

    pub(in crate::ffi) unsafe fn release(_loaded: &Loaded) {}

    pub(in crate::ffi) unsafe fn release_above(_arena: &mut Arena, _mark: usize) {}
}
