//! MLPs, built by hand or loaded
//!
//! A network of dense layers over rows of features. By hand: nk_mlp_create(), nk_mlp_init_layer() for every layer,
//! nk_mlp_init_activation_buffers(), nk_mlp_forward(). From a model: nk_mlp_load(), nk_mlp_forward().
//!
//! A network lives in the arena until the arena is reset; its handle must not be used after that.

use super::arena::nk_arena_t;
use super::builder::{self, Handle};
use super::errors::nk_status_t;
use super::last_error::report;
use super::limits::NK_MLP_STORAGE_BYTES;
use super::tensor::nk_tensor_t;
use super::{nk_activation_int, nk_storage_byte};
use crate::error::ErrorKind;

/// Activation of a dense layer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_activation {
    /// The sum itself.
    NK_ACTIVATION_NONE = 0,
    /// The larger of x and 0.
    NK_ACTIVATION_RELU = 1,
    /// 1 / (1 + exp(-x)).
    NK_ACTIVATION_SIGMOID = 2,
    /// Hyperbolic tangent.
    NK_ACTIVATION_TANH = 3,
    /// x, or x times leaky_alpha below 0.
    NK_ACTIVATION_LEAKY_RELU = 4,
    /// x between 0 and 6.
    NK_ACTIVATION_RELU6 = 5,
    /// Softmax over each row.
    NK_ACTIVATION_SOFTMAX = 6,
}

/// Activation of a dense layer.
pub type nk_activation_t = nk_activation;

/// Handle of an MLP. Its content belongs to the library.
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
#[derive(Clone, Copy, Debug)]
pub struct nk_mlp {
    /// Opaque.
    pub storage: [nk_storage_byte; NK_MLP_STORAGE_BYTES],
}

/// Handle of an MLP.
pub type nk_mlp_t = nk_mlp;

/// Begins an MLP whose layers you describe one by one.
///
/// - arena: takes the list of layers in.
/// - num_layers: 1 to NK_MAX_LAYERS.
/// - mlp: becomes the handle. It may be uninitialised; it is empty when this fails.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, NK_ERR_ARENA_OVERFLOW without room and for no layers,
/// NK_ERR_LAYER_CONFIG for too many; the arena is as before then. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_create(arena: *mut nk_arena_t, num_layers: u32, mlp: *mut nk_mlp_t) -> nk_status_t {
    // SAFETY: the conventions of the header, which `create` repeats.
    report(unsafe { builder::create(arena, num_layers, mlp) })
}

/// Whether the handle holds an MLP, finished or not. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_is_valid(mlp: *const nk_mlp_t) -> bool {
    // SAFETY: `mlp` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(mlp) }.is_some()
}

/// Describes a layer: activation(weights x + bias) for each row.
///
/// Only the description is taken. The values of both tensors must stay until nk_mlp_init_activation_buffers() has copied
/// them; calling this again replaces the layer, and the buffers must then be made anew.
///
/// - mlp: from nk_mlp_create().
/// - layer_idx: from 0.
/// - weights: floats [out_features, in_features].
/// - bias: floats [1, out_features] or [out_features].
/// - activation: one of nk_activation_t.
/// - leaky_alpha: slope below 0 of NK_ACTIVATION_LEAKY_RELU; otherwise without meaning.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, a tensor that is not as above and an index
/// that is out of range; NK_ERR_WEIGHT_MISMATCH for a bias of another length. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_init_layer(
    mlp: *mut nk_mlp_t,
    layer_idx: u32,
    weights: *const nk_tensor_t,
    bias: *const nk_tensor_t,
    activation: nk_activation_int,
    leaky_alpha: f32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `require` and `dense` repeat.
    report(unsafe { builder::require(mlp, ErrorKind::Argument) }.and_then(|root| {
        root.check_index(layer_idx)?;
        // SAFETY: as above.
        let slot = unsafe { builder::dense(weights, bias, activation, leaky_alpha) };
        root.set_slot(layer_idx, slot.map_err(|error| error.in_layer(layer_idx as usize, 1))?)
    }))
}

/// Finishes an MLP: copies its weights to the arena, checks that the layers fit each other and makes room for what lies
/// between them.
///
/// An MLP of one layer needs no call: the first nk_mlp_forward() does it for batches of one row. A loaded MLP has its
/// buffers already and only accepts the number of rows that it was made for.
///
/// - mlp: every layer was described.
/// - arena: takes weights and buffers in; it may be another one than before.
/// - batch_rows: rows of an input, at least 1.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, no rows and a weight that is NaN or
/// infinite; NK_ERR_NOT_INITIALIZED when a layer is missing; NK_ERR_LAYER_CONFIG or NK_ERR_WEIGHT_MISMATCH when layers
/// do not fit each other; NK_ERR_ARENA_OVERFLOW without room. The arena and the MLP are as before then. Threads: any.
/// Cost: copies all weights. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_init_activation_buffers(
    mlp: *mut nk_mlp_t,
    arena: *mut nk_arena_t,
    batch_rows: u32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which both functions repeat.
    report(unsafe {
        builder::require(mlp, ErrorKind::Argument).and_then(|root| builder::finish_mlp(root, arena, batch_rows))
    })
}

/// Whether nk_mlp_forward() can run: after nk_mlp_init_activation_buffers() or loading, and always for one layer.
/// Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_has_activation_buffers(mlp: *const nk_mlp_t) -> bool {
    // SAFETY: `mlp` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(mlp) }.is_some_and(|root| root.loaded().is_some() || root.slots().len() == 1)
}

/// Leaves out the softmax at the end of an MLP from now on, or brings it back; see nk_model_set_omit_final_softmax().
///
/// - mlp: an MLP, finished or not; nothing happens without one.
/// - omit: true to leave the softmax out.
///
/// Threads: any, but not during a run of the MLP. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_set_omit_final_softmax(mlp: *mut nk_mlp_t, omit: bool) {
    // SAFETY: `mlp` is NULL or by the conventions a handle, whose arena is as it was; no run uses it.
    unsafe {
        if let Some(root) = builder::get(mlp) {
            root.set_omit_softmax(omit);
        }
    }
}

/// Whether the softmax at the end of an MLP is left out; false when there is none. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_omit_final_softmax(mlp: *const nk_mlp_t) -> bool {
    // SAFETY: `mlp` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(mlp).is_some_and(|root| root.omits_softmax()) }
}

/// Runs an MLP once.
///
/// - mlp: an MLP with buffers.
/// - arena: any arena; used only when input and output overlap, as by nk_model_run(), and by the first run of a single
///   layer that has no buffers yet, which takes them from it.
/// - input: a tensor whose elements are the rows of one batch or of several, then one after another; floats, or int8
///   values for an int8 MLP.
/// - output: a tensor of the same type with room for all results; its values are written, its description is not.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, and a tensor of the wrong type or size;
/// NK_ERR_NOT_INITIALIZED without buffers; NK_ERR_BUFFER_TOO_SMALL for a short output; NK_ERR_ARENA_OVERFLOW without
/// room; NK_ERR_MODEL_NOT_LOADED when the arena of the buffers was reset. The arena is as before then. Threads: any. Cost:
/// the network's arithmetic. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_mlp_forward(
    mlp: *mut nk_mlp_t,
    arena: *mut nk_arena_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which both functions repeat.
    report(unsafe {
        builder::require(mlp, ErrorKind::Argument).and_then(|root| builder::forward_mlp(root, arena, input, output))
    })
}

const _: () = assert!(nk_mlp::NETWORK == crate::format::NETWORK_MLP);
