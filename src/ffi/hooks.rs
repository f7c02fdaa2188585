//! Models: layer hook and clock
//!
//! A hook sees each layer of a run: before it is computed, and afterwards with its output and the time it took. It finds
//! the slow layer, compares intermediate results, feeds a watchdog or stops a run that takes too long.

use core::ffi::c_void;
use core::hint::black_box;
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::callbacks::Callback;
use super::dtype::nk_dtype;
use super::errors::nk_status_t;
use super::handle;
use super::last_error::report;
use super::layers::{block_type, nk_cnn_block_type_t};
use super::model::nk_model_t;
use super::raw::required;
use super::tensor::{nk_tensor, nk_tensor_t, view};
use crate::error::{Error, ErrorKind};
use crate::network::SharedNetwork;
use crate::plan::LayerFacts;
use crate::run::{Element, Watcher};

/// What a layer hook sees.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_layer_event {
    /// Size of this structure in bytes, set by the library.
    pub struct_size: u32,
    /// Index of the layer in the model from 0.
    pub layer_index: u32,
    /// Kind of the layer.
    pub r#type: nk_cnn_block_type_t,
    /// 0 before the layer is computed, 1 afterwards.
    pub phase: i32,
    /// Nanoseconds that the layer took, without the hook itself; 0 in phase 0 and without a clock.
    pub elapsed_ns: u64,
    /// The layer's output in phase 1, else NULL. It is there during the call only, and must not be changed.
    pub output: *const nk_tensor_t,
}

/// What a layer hook sees.
pub type nk_layer_event_t = nk_layer_event;

/// A layer hook. Any result but 0 stops the run.
pub type nk_layer_hook_fn = Option<unsafe extern "C" fn(user: *mut c_void, event: *const nk_layer_event_t) -> i32>;

/// A clock: nanoseconds since any moment.
pub type nk_clock_fn = Option<unsafe extern "C" fn(user: *mut c_void) -> u64>;

type HookFunction = unsafe extern "C" fn(*mut c_void, *const nk_layer_event) -> i32;
type ClockFunction = unsafe extern "C" fn(*mut c_void) -> u64;

static CLOCK: Callback = Callback::new();

/// Sets the hook of a model, which every run of it calls twice for each layer, in the order of the layers.
///
/// The hook lives in the arena with the model: all copies of the handle share it, and loading starts without one. Layers
/// that the library merges keep their events: a batch norm, or in int8 models a max pool, that became part of the
/// convolution in front takes no time, and the output of that convolution is the normalised or pooled one. Flatten and
/// feature taps compute nothing and take no time either. When the hook stops a run, the call returns NK_ERR_STOPPED with the layer in nk_last_error_info(), and part of
/// the output buffer may be written.
///
/// - model: a loaded model whose arena is as it was.
/// - fn: called on the thread of the run, before the run returns; when several threads run the model at the same time,
///   on all of them. It may use other models, but must not run, unload or change this one, or take memory of its arena.
///   NULL takes the hook away.
/// - user: handed to the hook.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL or NK_ERR_MODEL_NOT_LOADED. Threads: any, but not during a run of the
/// model. Cost: constant; each run with a hook reads the layer records of the model again. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_set_layer_hook(
    model: *mut nk_model_t,
    r#fn: nk_layer_hook_fn,
    user: *mut c_void,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `set_hook` repeats.
    report(unsafe { set_hook(model, r#fn, user) })
}

/// Sets the clock that times layers for hooks. Without one, hosts with Unix use the monotonic clock of the system, and
/// other builds have none.
///
/// - fn: called before and after each layer of a run with a hook; it must not go backwards. NULL brings the clock of the
///   system back.
/// - user: handed to the function.
///
/// Threads: any, but no other one may use the library meanwhile; the clock belongs to the whole process. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_set_clock(r#fn: nk_clock_fn, user: *mut c_void) {
    CLOCK.set(r#fn.map_or(core::ptr::null_mut(), |function| function as *mut ()), user);
}

/// # Safety
/// `model` is null or a handle of a model that nobody uses meanwhile.
unsafe fn set_hook(model: *mut nk_model_t, function: nk_layer_hook_fn, user: *mut c_void) -> Result<(), Error> {
    required(model, "model is NULL")?;
    // SAFETY: not null, and by this function's contract a handle.
    let loaded = unsafe { handle::get(model) }.ok_or(handle::NOT_LOADED)?;
    let function = function.map_or(0, |function| (function as *mut ()).expose_provenance());
    let user = user.expose_provenance();
    // SAFETY: by this function's contract.
    unsafe { loaded.network() }?.set_hook_words([function, user, seal(function, user)]);
    // Hidden from the optimiser, which would call the only function that is ever stored here without looking.
    WATCHED_RUN.store(black_box(run_watched as *mut ()), Ordering::Release);
    Ok(())
}

/// A run whose input and output are the bytes of the values that the network takes and gives.
type WatchedRun = fn(&SharedNetwork<'_>, &mut [u8], &[u8], &mut [u8]) -> Result<(), Error>;

/// How a network with a hook runs; null until the first hook is set. Thus programs that never set one do not carry the
/// code for it.
static WATCHED_RUN: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Runs a network, watched by its hook if it has one.
pub(super) fn run<T: Element>(
    network: &SharedNetwork<'_>,
    scratch: &mut [u8],
    input: &[T],
    output: &mut [T],
) -> Result<(), Error> {
    let [function, ..] = network.hook_words();
    let watched = if function == 0 { null_mut() } else { WATCHED_RUN.load(Ordering::Acquire) };
    if watched.is_null() || network.is_quantized() != T::IS_INT8 {
        return Ok(network.run_in(scratch, input, output)?);
    }
    // SAFETY: `set_hook` stores nothing but a function of this type.
    let watched = unsafe { transmute::<*mut (), WatchedRun>(watched) };
    watched(network, scratch, bytemuck::cast_slice(input), bytemuck::cast_slice_mut(output))
}

/// The run behind [`WATCHED_RUN`].
fn run_watched(network: &SharedNetwork<'_>, scratch: &mut [u8], input: &[u8], output: &mut [u8]) -> Result<(), Error> {
    if network.is_quantized() {
        run_watched_as::<i8>(network, scratch, input, output)
    } else {
        run_watched_as::<f32>(network, scratch, input, output)
    }
}

fn run_watched_as<T: Element>(
    network: &SharedNetwork<'_>,
    scratch: &mut [u8],
    input: &[u8],
    output: &mut [u8],
) -> Result<(), Error> {
    // Aligned, because they were made of values of this type.
    let (input, output) = (bytemuck::cast_slice::<u8, T>(input), bytemuck::cast_slice_mut(output));
    match Hook::of(network) {
        Some(mut hook) => network.run_watched(scratch, &mut hook, input, output),
        None => Ok(network.run_in(scratch, input, output)?),
    }
}

/// Tells a hook from memory that was overwritten.
fn seal(function: usize, user: usize) -> usize {
    function.rotate_left(7) ^ user.rotate_left(17) ^ 0x4e4b_484b // "NKHK"
}

/// Nanoseconds since any moment.
fn now() -> u64 {
    match CLOCK.get() {
        // SAFETY: `nk_set_clock` stores nothing but functions of this type.
        Some((function, user)) => unsafe { transmute::<*mut (), ClockFunction>(function)(user) },
        None => system_now(),
    }
}

#[cfg(feature = "host")]
fn system_now() -> u64 {
    crate::host::monotonic_ns()
}

#[cfg(not(feature = "host"))]
fn system_now() -> u64 {
    0
}

/// The hook of a model during one run.
#[derive(Debug)]
pub(super) struct Hook {
    function: HookFunction,
    user: *mut c_void,
    dtype: nk_dtype,
    started: u64,
}

impl Hook {
    /// The hook of this network, if it has one.
    pub(super) fn of(network: &SharedNetwork<'_>) -> Option<Self> {
        let [function, user, sealed] = network.hook_words();
        if function == 0 || sealed != seal(function, user) {
            return None;
        }
        let function = core::ptr::with_exposed_provenance_mut::<()>(function);
        Some(Self {
            // SAFETY: the seal says that `set_hook` stored the address of a function of this type.
            function: unsafe { transmute::<*mut (), HookFunction>(function) },
            user: core::ptr::with_exposed_provenance_mut(user),
            dtype: if network.is_quantized() { nk_dtype::NK_DTYPE_INT8 } else { nk_dtype::NK_DTYPE_FLOAT32 },
            started: 0,
        })
    }

    fn call(&self, layer: &LayerFacts, elapsed_ns: u64, output: Option<&nk_tensor>) -> Result<(), Error> {
        let event = nk_layer_event {
            struct_size: size_of::<nk_layer_event>() as u32,
            layer_index: layer.index as u32,
            r#type: block_type(layer.kind),
            phase: i32::from(output.is_some()),
            elapsed_ns,
            output: output.map_or(core::ptr::null(), core::ptr::from_ref),
        };
        // SAFETY: whoever set the hook promised that it may be called; the event is alive during the call.
        match unsafe { (self.function)(self.user, &event) } {
            0 => Ok(()),
            _ => Err(Error::new(ErrorKind::Stopped).in_layer(layer.index, layer.kind)),
        }
    }
}

impl Watcher for Hook {
    fn before(&mut self, layer: &LayerFacts) -> Result<(), Error> {
        self.call(layer, 0, None)?;
        self.started = now();
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), Error> {
        let elapsed = now().saturating_sub(self.started);
        let data = output.as_ptr().cast_mut().cast();
        let tensor = match layer.result_shape.dims() {
            ([rows, features, ..], 2) => view(data, self.dtype, &[rows, features]),
            ([h, w, c, _], _) => view(data, self.dtype, &[h, w, c]),
        };
        self.call(layer, elapsed, Some(&tensor))
    }
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(nk_layer_event, layer_index) == 4 && offset_of!(nk_layer_event, r#type) == 8);
    assert!(offset_of!(nk_layer_event, phase) == 12 && offset_of!(nk_layer_event, elapsed_ns) == 16);
    assert!(offset_of!(nk_layer_event, output) == 24);
};
