//! Models from files and blobs behind the handle of one kind of network.

use core::ffi::{CStr, c_char};

use super::super::arena::{self, nk_arena_t};
use super::super::cnn::nk_cnn;
use super::super::files;
use super::super::inspect::{nk_arch_info_t, nk_network_kind, nk_network_kind_t};
use super::super::mappings;
use super::super::mlp::nk_mlp;
use super::super::raw::{self, Span, invalid, required};
use super::assemble::Parked;
use super::{IN_ROOT, NO_MODEL, NO_TAP, Root, erase, seal, store, take_root};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};
use crate::format::{Model, NETWORK_CNN, NETWORK_MLP};
use crate::layers::feature_tap::MAX_TAPS;

/// Where a loaded network goes.
#[derive(Clone, Copy)]
pub(in crate::ffi) enum Destination {
    /// An MLP, and nothing else.
    Mlp(*mut nk_mlp),
    /// A CNN, and nothing else.
    Cnn(*mut nk_cnn),
    /// Whichever it is. The handles may be null; they keep what they hold until the network is there.
    Either { kind: *mut nk_network_kind_t, mlp: *mut nk_mlp, cnn: *mut nk_cnn },
}

impl Destination {
    fn check(self) -> Result<(), Error> {
        match self {
            Self::Mlp(mlp) => required(mlp, "mlp is NULL"),
            Self::Cnn(cnn) => required(cnn, "cnn is NULL"),
            Self::Either { kind, .. } => required(kind, "kind is NULL"),
        }
    }

    /// Empties a handle that is given up when loading fails.
    ///
    /// # Safety
    /// The pointers are null or point to handles.
    unsafe fn give_up(self) {
        // SAFETY: `check` found the pointer not null, and by this function's contract it is a handle.
        unsafe {
            match self {
                Self::Mlp(mlp) => erase(mlp),
                Self::Cnn(cnn) => erase(cnn),
                Self::Either { .. } => {}
            }
        }
    }

    /// Refuses the kind of a model.
    fn check_kind(self, found: u8) -> Result<(), Error> {
        let wrong = |expected: u8, note| {
            let error = Error::new(ErrorKind::Unsupported).field("network_kind").found(u64::from(found));
            Err(error.expected(u64::from(expected)).note(note))
        };
        match self {
            Self::Mlp(_) if found == NETWORK_CNN => wrong(NETWORK_MLP, "the model is a CNN"),
            Self::Mlp(_) if found != NETWORK_MLP => wrong(NETWORK_MLP, "the model is no MLP"),
            Self::Cnn(_) if found == NETWORK_MLP => wrong(NETWORK_CNN, "the model is an MLP"),
            Self::Cnn(_) if found != NETWORK_CNN => wrong(NETWORK_CNN, "the model is no CNN"),
            Self::Either { .. } if found != NETWORK_MLP && found != NETWORK_CNN => {
                let error = Error::new(ErrorKind::Layer).field("network_kind").found(u64::from(found));
                Err(error.note("this library runs MLP (1) and CNN (2)"))
            }
            _ => Ok(()),
        }
    }

    /// Puts the network into its handle.
    ///
    /// # Safety
    /// The pointers are null or point to handles and to room for a kind.
    unsafe fn fill(self, network: u8, root: *mut Root) {
        // SAFETY: by this function's contract.
        unsafe {
            match self {
                Self::Mlp(mlp) => store(mlp, root),
                Self::Cnn(cnn) => store(cnn, root),
                Self::Either { kind, mlp, cnn } => {
                    let is_mlp = network == NETWORK_MLP;
                    kind.write_unaligned(if is_mlp {
                        nk_network_kind::NK_NETWORK_MLP
                    } else {
                        nk_network_kind::NK_NETWORK_CNN
                    });
                    if is_mlp && !mlp.is_null() {
                        store(mlp, root);
                    } else if !is_mlp && !cnn.is_null() {
                        store(cnn, root);
                    }
                }
            }
        }
    }
}

/// Loads a file.
///
/// # Safety
/// Each pointer is null or as the header says: a C string, a handle of an arena with valid memory, room for handles and
/// facts.
pub(in crate::ffi) unsafe fn load_file(
    path: *const c_char,
    arena: *mut nk_arena_t,
    to: Destination,
    info: *mut nk_arch_info_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let path = unsafe { raw::path(path) }?;
    required(arena, "arena is NULL")?;
    to.check()?;
    // SAFETY: `check` passed; by this function's contract handles.
    unsafe {
        to.give_up();
        place_file(path, arena, to, info)
    }
}

/// # Safety
/// As for [`load_file`], with the checks done.
unsafe fn place_file(
    path: &CStr,
    arena: *mut nk_arena_t,
    to: Destination,
    info: *mut nk_arch_info_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract a handle.
    let mut state = unsafe { arena::get_or_empty(arena) };
    let file = files::open_into(path, &mut state)?;
    let model = Model::parse(file.bytes())?;
    to.check_kind(model.header().network)?;
    let network = model.header().network;
    let root = take_root(&mut state)?;
    let mut parked = Parked::place(&model, &mut state)?;
    parked.loaded = mappings::adopt(&mut state, parked.loaded, file)?;
    // SAFETY: by this function's contract.
    unsafe { commit(arena, state, root, parked, network, to, info) };
    Ok(())
}

/// Loads a blob, which is used in place.
///
/// # Safety
/// As for [`load_file`], with `size` bytes at `data` that stay.
pub(in crate::ffi) unsafe fn load_memory(
    data: *const u8,
    size: usize,
    arena: *mut nk_arena_t,
    to: Destination,
    info: *mut nk_arch_info_t,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let blob = unsafe { raw::blob(data, size) }?;
    required(arena, "arena is NULL")?;
    to.check()?;
    let model = Model::parse(blob)?;
    let network = model.header().network;
    to.check_kind(network)?;
    // SAFETY: as in `load_file`.
    let mut state = unsafe {
        to.give_up();
        arena::get_or_empty(arena)
    };
    let root = take_root(&mut state)?;
    if Span::of(root, 1).overlaps(Span::of(data, size)) {
        return Err(invalid("the model lies in the free part of the arena"));
    }
    let parked = Parked::place(&model, &mut state)?;
    // SAFETY: by this function's contract.
    unsafe { commit(arena, state, root, parked, network, to, info) };
    Ok(())
}

/// Nothing can fail any more: fills everything in.
///
/// # Safety
/// As for [`load_file`]; `root` was taken from `state`.
unsafe fn commit(
    arena: *mut nk_arena_t,
    state: Arena,
    root: *mut Root,
    parked: Parked,
    network: u8,
    to: Destination,
    info: *mut nk_arch_info_t,
) {
    let arch = parked.loaded.facts.arch();
    let mut content = Root {
        seal: seal(network, root, IN_ROOT),
        slots: core::ptr::null_mut(),
        num_slots: 0,
        omits_softmax: false,
        model: NO_MODEL,
        output: core::ptr::null_mut(),
        taps: [NO_TAP; MAX_TAPS as usize],
    };
    parked.settle(&mut content);
    // SAFETY: by this function's contract.
    unsafe {
        root.write(content);
        arena::store(arena, state);
        to.fill(network, root);
        if !info.is_null() {
            info.write_unaligned(arch);
        }
    }
}
