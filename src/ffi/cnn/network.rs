//! CNNs, built by hand or loaded
//!
//! A network that works on maps [height, width, channels]. By hand: nk_cnn_create(), one nk_cnn_init_..._layer() for
//! every layer, nk_cnn_init_activation_buffers(), nk_cnn_forward(). From a model: nk_cnn_load(), nk_cnn_forward().
//!
//! A network lives in the arena until the arena is reset; its handle must not be used after that.

use super::super::arena::nk_arena_t;
use super::super::builder;
use super::super::errors::nk_status_t;
use super::super::last_error::report;
use super::super::limits::NK_CNN_STORAGE_BYTES;
use super::super::nk_storage_byte;
use super::super::tensor::nk_tensor_t;
use crate::error::ErrorKind;

/// Activation of a convolution.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_conv_activation {
    /// The sum itself.
    NK_CONV_ACTIVATION_NONE = 0,
    /// The larger of x and 0.
    NK_CONV_ACTIVATION_RELU = 1,
    /// 1 / (1 + exp(-x)).
    NK_CONV_ACTIVATION_SIGMOID = 2,
    /// Hyperbolic tangent.
    NK_CONV_ACTIVATION_TANH = 3,
    /// x, or x times leaky_alpha below 0.
    NK_CONV_ACTIVATION_LEAKY_RELU = 4,
    /// x between 0 and 6.
    NK_CONV_ACTIVATION_RELU6 = 5,
    /// Softmax over the whole map.
    NK_CONV_ACTIVATION_SOFTMAX = 6,
}

/// Activation of a convolution.
pub type nk_conv_activation_t = nk_conv_activation;

/// Handle of a CNN. Its content belongs to the library.
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(16)))]
#[cfg_attr(not(target_pointer_width = "64"), repr(align(8)))]
#[derive(Clone, Copy, Debug)]
pub struct nk_cnn {
    /// Opaque.
    pub storage: [nk_storage_byte; NK_CNN_STORAGE_BYTES],
}

/// Handle of a CNN.
pub type nk_cnn_t = nk_cnn;

/// Begins a CNN whose layers you describe one by one.
///
/// - arena: takes the list of layers in.
/// - num_layers: 1 to NK_MAX_LAYERS.
/// - cnn: becomes the handle. It may be uninitialised; it is empty when this fails.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, NK_ERR_ARENA_OVERFLOW without room and for no layers,
/// NK_ERR_LAYER_CONFIG for too many; the arena is as before then. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_create(arena: *mut nk_arena_t, num_layers: u32, cnn: *mut nk_cnn_t) -> nk_status_t {
    // SAFETY: the conventions of the header, which `create` repeats.
    report(unsafe { builder::create(arena, num_layers, cnn) })
}

/// Whether the handle holds a CNN, finished or not. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_is_valid(cnn: *const nk_cnn_t) -> bool {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(cnn) }.is_some()
}

/// Finishes a CNN: copies its weights to the arena, checks that the layers fit each other and makes room for what lies
/// between them, for the feature taps and for the output.
///
/// A loaded CNN has its buffers already and only accepts the input that it was made for.
///
/// - cnn: every layer was described.
/// - arena: takes weights and buffers in; it may be another one than before.
/// - in_h, in_w, in_c: extents of the input, each at least 1.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, an extent of 0 and a weight that is NaN or
/// infinite; NK_ERR_NOT_INITIALIZED when a layer or the heads of a pyramid are missing; NK_ERR_LAYER_CONFIG or
/// NK_ERR_WEIGHT_MISMATCH when layers do not fit each other or the height and width given for a block;
/// NK_ERR_ARENA_OVERFLOW without room. The arena and the CNN are as before then. Threads: any. Cost: copies all weights.
/// Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_activation_buffers(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    in_h: u32,
    in_w: u32,
    in_c: u32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which both functions repeat.
    report(unsafe {
        builder::require(cnn, ErrorKind::Argument).and_then(|root| builder::finish_cnn(root, arena, [in_h, in_w, in_c]))
    })
}

/// Whether nk_cnn_forward() can run: after nk_cnn_init_activation_buffers() or loading. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_has_activation_buffers(cnn: *const nk_cnn_t) -> bool {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(cnn) }.is_some_and(|root| root.loaded().is_some())
}

/// Scratch of the kernels outside the arena: none, so that this returns 0. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_kernel_workspace_bytes(cnn: *const nk_cnn_t) -> usize {
    let _ = cnn;
    0
}

/// Leaves out the softmax at the end of an int8 CNN from now on, or brings it back; see
/// nk_model_set_omit_final_softmax(). Nothing happens to a CNN of floats: load it as nk_model_t to leave its softmax out.
///
/// - cnn: an int8 CNN; nothing happens without one.
/// - omit: true to leave the softmax out.
///
/// Threads: any, but not during a run of the CNN. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_set_omit_final_softmax(cnn: *mut nk_cnn_t, omit: bool) {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was; no run uses it.
    unsafe {
        let int8 = |root: &&mut builder::Root| root.loaded().is_some_and(|loaded| loaded.facts.is_quantized());
        if let Some(root) = builder::get(cnn).filter(int8) {
            root.set_omit_softmax(omit);
        }
    }
}

/// Whether the softmax at the end of a CNN is left out; false when there is none and for floats. Threads: any. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_omit_final_softmax(cnn: *const nk_cnn_t) -> bool {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(cnn).is_some_and(|root| root.omits_softmax()) }
}

/// Runs a CNN once.
///
/// - cnn: a CNN with buffers.
/// - arena: any arena; used only when the input is the output of an earlier run: it then is copied to the arena's free
///   memory for the duration of the run. Nothing is taken from it.
/// - input: a tensor of height * width * channels elements in that order; floats, or int8 values for an int8 CNN.
/// - output: becomes a view of the result inside the network, whatever it was: [height, width, channels], or
///   [1, features] behind a flatten layer. Every run of a network gives the same address; the values change with the
///   next run and end with the arena.
///
/// Returns NK_OK; NK_ERR_INVALID_ARGUMENT for NULL, a handle without network, and a tensor of the wrong type or size;
/// NK_ERR_NOT_INITIALIZED without buffers; NK_ERR_ARENA_OVERFLOW without room for the copy; NK_ERR_MODEL_NOT_LOADED when
/// the arena of the buffers was reset. `output` is as before then. Threads: any. Cost: the network's arithmetic. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_forward(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    input: *const nk_tensor_t,
    output: *mut nk_tensor_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which both functions repeat.
    report(unsafe {
        builder::require(cnn, ErrorKind::Argument).and_then(|root| builder::forward_cnn(root, arena, input, output))
    })
}

/// The map that a feature tap marks, as the last run left it.
///
/// A CNN behind this kind of handle keeps its taps; behind nk_model_t their memory is used for other things as soon as
/// the network has read them.
///
/// - cnn: a CNN with buffers; the arena is as it was.
/// - tap_id: 0 to 3.
///
/// Returns nk_cnn_get_feature_tap_elems() floats [height, width, channels], which mean nothing before the first run;
/// NULL when there is no such tap. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_get_feature_tap_buffer(cnn: *const nk_cnn_t, tap_id: u8) -> *mut f32 {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(cnn) }.map_or(core::ptr::null_mut(), |root| root.tap(tap_id).data)
}

/// Number of floats at nk_cnn_get_feature_tap_buffer(); 0 when there is no such tap. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_get_feature_tap_elems(cnn: *const nk_cnn_t, tap_id: u8) -> u32 {
    // SAFETY: `cnn` is NULL or by the conventions a handle, whose arena is as it was.
    unsafe { builder::get(cnn) }.map_or(0, |root| root.tap(tap_id).elements)
}
