//! What lies behind an `nk_mlp_t` and an `nk_cnn_t`: networks that are built by hand, or loaded as one kind.
//!
//! ```text
//! mod.rs       the handle and the root it points to
//! slot.rs      a layer: its record and the places of its tensors
//! values.rs    checked steps from the arguments of an init call to records and tensors
//! assemble.rs  slots -> a complete .nk model in the arena -> the network, loaded from it like any other
//! load.rs      files and blobs behind such a handle
//! forward.rs   one run on tensors
//! ```
//!
//! There is no second way to run: building by hand ends in the bytes of a model file, which then takes the one road that
//! every model takes.

mod assemble;
mod forward;
mod load;
mod slot;
mod values;

pub(super) use assemble::{finish_cnn, finish_mlp};
pub(super) use forward::{forward_cnn, forward_mlp};
pub(super) use load::{Destination, load_file, load_memory};
pub(super) use slot::{Pair, Slot, Table};
pub(super) use values::{Pads, byte, conv2d, count, dense, depthwise, elementwise, pool};

use super::arena::{self, nk_arena_t};
use super::cnn::nk_cnn;
use super::handle::{self, Loaded};
use super::limits::{NK_CNN_STORAGE_BYTES, NK_MLP_STORAGE_BYTES};
use super::mlp::nk_mlp;
use super::model::nk_model;
use super::raw::{invalid, required};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};
use crate::format::{MAX_LAYERS, NETWORK_CNN, NETWORK_MLP};
use crate::layers::feature_tap::MAX_TAPS;

/// `nk_mlp_t` or `nk_cnn_t`.
pub(super) trait Handle {
    /// The kind of network behind it.
    const NETWORK: u8;
    /// The error text for a null pointer where a handle is to be filled in.
    const NULL: &'static str;
    /// The error text for a handle that is null or holds nothing.
    const EMPTY: &'static str;
}

impl Handle for nk_mlp {
    const NETWORK: u8 = NETWORK_MLP;
    const NULL: &'static str = "mlp is NULL";
    const EMPTY: &'static str = "mlp is NULL or holds no network";
}

impl Handle for nk_cnn {
    const NETWORK: u8 = NETWORK_CNN;
    const NULL: &'static str = "cnn is NULL";
    const EMPTY: &'static str = "cnn is NULL or holds no network";
}

/// What a handle holds. The seal depends on the address, so that neither old bytes nor half a handle pass.
#[derive(Clone, Copy)]
#[repr(C)]
struct Link {
    seal: usize,
    root: *mut Root,
}

/// Start of a network's memory in the arena.
#[repr(C)]
pub(super) struct Root {
    /// Tells whether the memory still is what the handle points to.
    seal: usize,
    /// The layers of a network that is built by hand; null for a loaded one.
    slots: *mut Slot,
    num_slots: u32,
    /// Whether the softmax at the end shall be left out, for when there is something to leave it out of.
    omits_softmax: bool,
    /// The network, once it has its buffers; zeros before.
    model: nk_model,
    /// Where a CNN leaves its output.
    output: *mut u8,
    taps: [Tap; MAX_TAPS as usize],
}

/// A feature tap in the arena.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Tap {
    pub(super) data: *mut f32,
    pub(super) elements: u32,
}

const NO_TAP: Tap = Tap { data: core::ptr::null_mut(), elements: 0 };

fn seal(network: u8, root: *const Root, place: usize) -> usize {
    root.addr().rotate_left(9) ^ usize::from(network) ^ place
}

/// Seal of a handle.
const IN_HANDLE: usize = 0x4e4b_4e48; // "NKNH"
/// Seal of a root.
const IN_ROOT: usize = 0x4e4b_4e52; // "NKNR"

/// The network behind a handle.
///
/// # Safety
/// `handle` is null or points to a handle. When it holds a network, the arena's memory is valid and nobody else uses the
/// network meanwhile.
pub(super) unsafe fn get<'a, H: Handle>(handle: *const H) -> Option<&'a mut Root> {
    if handle.is_null() {
        return None;
    }
    // SAFETY: a handle has room for a `Link` (asserted below), whose fields may hold any bits.
    let link = unsafe { handle.cast::<Link>().read_unaligned() };
    if link.root.is_null() || !link.root.is_aligned() || link.seal != seal(H::NETWORK, link.root, IN_HANDLE) {
        return None;
    }
    // SAFETY: the seal says that `store` wrote the address, and by this function's contract its memory is valid.
    let found = unsafe { (&raw const (*link.root).seal).read() };
    if found != seal(H::NETWORK, link.root, IN_ROOT) {
        return None;
    }
    // SAFETY: as above, and by this function's contract nobody else uses it.
    Some(unsafe { &mut *link.root })
}

/// The network behind a handle, or an error of this kind.
///
/// # Safety
/// As for [`get`].
pub(super) unsafe fn require<'a, H: Handle>(handle: *const H, kind: ErrorKind) -> Result<&'a mut Root, Error> {
    // SAFETY: by this function's contract.
    unsafe { get(handle) }.ok_or(Error::new(kind).note(H::EMPTY))
}

/// Makes a handle hold nothing.
///
/// # Safety
/// `handle` points to a handle.
pub(super) unsafe fn erase<H: Handle>(handle: *mut H) {
    // SAFETY: by this function's contract; any bytes are a handle.
    unsafe { handle.cast::<u8>().write_bytes(0, size_of::<H>()) };
}

/// Makes a handle hold a network.
///
/// # Safety
/// `handle` points to a handle.
unsafe fn store<H: Handle>(handle: *mut H, root: *mut Root) {
    let link = Link { seal: seal(H::NETWORK, root, IN_HANDLE), root };
    // SAFETY: by this function's contract, and a handle has room for a `Link`, asserted below.
    unsafe {
        erase(handle);
        handle.cast::<Link>().write_unaligned(link);
    }
}

/// Takes room for a root out of the arena. Nothing is written to it yet.
fn take_root(arena: &mut Arena) -> Result<*mut Root, Error> {
    Ok(arena.request(size_of::<Root>(), align_of::<Root>(), "")?.cast())
}

/// Makes a network of `num_layers` layers that are still to be initialised.
///
/// # Safety
/// Each pointer is null or as the header says: a handle of an arena with valid memory, room for a handle.
pub(super) unsafe fn create<H: Handle>(arena: *mut nk_arena_t, num_layers: u32, handle: *mut H) -> Result<(), Error> {
    required(handle, H::NULL)?;
    // SAFETY: not null, and by this function's contract a handle.
    unsafe { erase(handle) };
    required(arena, "arena is NULL")?;
    // SAFETY: as above.
    let mut state = unsafe { arena::get_or_empty(arena) };
    if num_layers == 0 {
        return Err(Error::new(ErrorKind::Arena).field("num_layers").found(0).at_least(1));
    }
    if num_layers > MAX_LAYERS {
        let error = Error::new(ErrorKind::Limit).field("num_layers");
        return Err(error.found(u64::from(num_layers)).at_most(u64::from(MAX_LAYERS)));
    }
    let root = take_root(&mut state)?;
    let bytes = num_layers as usize * size_of::<Slot>();
    let slots = state.request(bytes, align_of::<Slot>(), "for the list of layers")?.cast::<Slot>();
    let empty = Root {
        seal: seal(H::NETWORK, root, IN_ROOT),
        slots,
        num_slots: num_layers,
        omits_softmax: false,
        model: NO_MODEL,
        output: core::ptr::null_mut(),
        taps: [NO_TAP; MAX_TAPS as usize],
    };
    // SAFETY: the arena gave this memory, aligned, a moment ago; the handles are as above.
    unsafe {
        for index in 0..num_layers as usize {
            slots.add(index).write(Slot::EMPTY);
        }
        root.write(empty);
        arena::store(arena, state);
        store(handle, root);
    }
    Ok(())
}

const NO_MODEL: nk_model = nk_model { storage: [0; size_of::<nk_model>()] };

impl Root {
    /// The loaded network, once there are buffers.
    pub(super) fn loaded(&self) -> Option<Loaded> {
        // SAFETY: a reference to a handle.
        unsafe { handle::get(&self.model) }
    }

    /// The layers; none for a network that was loaded.
    pub(super) fn slots(&self) -> &[Slot] {
        if self.slots.is_null() {
            return &[];
        }
        // SAFETY: `create` initialised this many slots, which live as long as the root.
        unsafe { core::slice::from_raw_parts(self.slots, self.num_slots as usize) }
    }

    /// Replaces a layer. The network must be finished again before it runs.
    pub(super) fn set_slot(&mut self, index: u32, slot: Slot) -> Result<(), Error> {
        self.check_index(index)?;
        // SAFETY: `check_index` found the slot.
        unsafe { self.slots.add(index as usize).write(slot) };
        self.forget_buffers();
        Ok(())
    }

    /// Makes the network one that is still to be finished.
    pub(super) fn forget_buffers(&mut self) {
        self.model = NO_MODEL;
        self.taps = [NO_TAP; MAX_TAPS as usize];
    }

    /// Refuses the index of a layer that is not there.
    pub(super) fn check_index(&self, index: u32) -> Result<(), Error> {
        if self.slots.is_null() {
            return Err(invalid("the layers of a loaded network cannot be changed"));
        }
        if index < self.num_slots {
            return Ok(());
        }
        let error = Error::new(ErrorKind::Argument).field("layer_idx").found(u64::from(index));
        Err(error.at_most(u64::from(self.num_slots) - 1))
    }

    /// A feature tap, once there are buffers.
    pub(super) fn tap(&self, id: u8) -> Tap {
        self.taps.get(usize::from(id)).copied().unwrap_or(NO_TAP)
    }

    /// Leaves out the softmax at the end, or brings it back.
    ///
    /// # Safety
    /// The arena's memory is valid, and no run uses the network.
    pub(super) unsafe fn set_omit_softmax(&mut self, omit: bool) {
        self.omits_softmax = omit;
        // SAFETY: by this function's contract.
        if let Some(Ok(mut network)) = self.loaded().map(|loaded| unsafe { loaded.network() }) {
            network.set_omit_final_softmax(omit);
        }
    }

    /// Whether the softmax at the end is left out.
    ///
    /// # Safety
    /// As for [`Root::set_omit_softmax`].
    pub(super) unsafe fn omits_softmax(&self) -> bool {
        match self.loaded() {
            // SAFETY: by this function's contract.
            Some(loaded) => unsafe { loaded.network() }.is_ok_and(|network| network.omits_final_softmax()),
            None => self.omits_softmax && self.slots().last().is_some_and(Slot::is_softmax),
        }
    }
}

const _: () = {
    assert!(size_of::<nk_mlp>() == NK_MLP_STORAGE_BYTES && size_of::<nk_cnn>() == NK_CNN_STORAGE_BYTES);
    assert!(size_of::<Link>() <= NK_MLP_STORAGE_BYTES && size_of::<Link>() <= NK_CNN_STORAGE_BYTES);
    // Documented at the loaders.
    assert!(size_of::<Root>() + align_of::<Root>() <= 240);
};
