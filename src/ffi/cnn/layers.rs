//! CNN: simple layers
//!
//! Each call describes one layer of a CNN from nk_cnn_create(). Only the description is taken: weights must stay where
//! they are until nk_cnn_init_activation_buffers() has copied them. Calling again replaces the layer, and the buffers must
//! then be made anew. Weights are never written to; a bias that is NULL is all zeros.
//!
//! All return NK_OK; NK_ERR_NOT_INITIALIZED when cnn is NULL or holds no network; NK_ERR_INVALID_ARGUMENT for an index
//! out of range, NULL weights, a negative size, and padding that the format cannot express: padding at an end is that at
//! the start, which NK_PAD_MIRROR stands for, or up to 15 more. Whether a layer fits its input is checked by
//! nk_cnn_init_activation_buffers(). Threads: any.
#![allow(clippy::too_many_arguments, reason = "the interface has as many")]

use core::ffi::c_int;

use super::super::builder::{self, Pads, Pair, Slot, byte, count, elementwise};
use super::super::errors::nk_status_t;
use super::super::last_error::report;
use super::super::tensor::nk_tensor_t;
use super::super::{nk_activation_int, nk_conv_activation_int};
use super::nk_cnn_t;
use crate::error::{Error, ErrorKind};
use crate::format::Layer;
use crate::format::records::{BatchNorm2d, ChannelsEps};

/// Describes a convolution with a square kernel.
///
/// - cnn, layer_idx: which layer.
/// - kernel_size: height and width of the kernel.
/// - stride: step on both axes.
/// - in_channels, out_channels: channels before and after.
/// - weights: floats [out_channels, kernel_size, kernel_size, in_channels].
/// - bias: out_channels floats, or NULL.
/// - activation: one of nk_conv_activation_t.
/// - leaky_alpha: slope below 0 of NK_CONV_ACTIVATION_LEAKY_RELU; otherwise without meaning.
/// - pad_h, pad_w: rows above and columns to the left, 0 to 255.
/// - pad_h_end, pad_w_end: rows below and columns to the right.
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_conv_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    kernel_size: c_int,
    stride: c_int,
    in_channels: c_int,
    out_channels: c_int,
    weights: *const f32,
    bias: *const f32,
    activation: nk_conv_activation_int,
    leaky_alpha: f32,
    pad_h: c_int,
    pad_w: c_int,
    pad_h_end: c_int,
    pad_w_end: c_int,
) -> nk_status_t {
    let make = || {
        let (kernel, inputs) = (count("kernel_size", kernel_size)?, count("in_channels", in_channels)?);
        let (stride, filters) = (count("stride", stride)?, count("out_channels", out_channels)?);
        let pads = Pads::new(pad_h, pad_w, pad_h_end, pad_w_end)?;
        let layer = builder::conv2d(kernel, stride, filters, elementwise(activation, leaky_alpha), pads);
        let pair = Pair::new(weights, "weights is NULL", bias, &[filters, kernel, kernel, inputs], filters);
        Slot::simple(layer, Some(pair))
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 2, make) })
}

/// Describes a depthwise convolution: each channel has a kernel of its own.
///
/// - cnn, layer_idx: which layer.
/// - kernel_h, kernel_w: height and width of the kernel, 1 to 255. The format has one field for the width of a
///   rectangular kernel and for padding at the ends; combinations that it cannot express are refused.
/// - stride: step on both axes.
/// - channels: channels before and after.
/// - weights: floats [channels, kernel_h, kernel_w].
/// - bias: channels floats, or NULL.
/// - activation, leaky_alpha: as in nk_cnn_init_conv_layer().
/// - pad_h, pad_w, pad_h_end, pad_w_end: as in nk_cnn_init_conv_layer().
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_depthwise_conv_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    kernel_h: c_int,
    kernel_w: c_int,
    stride: c_int,
    channels: c_int,
    weights: *const f32,
    bias: *const f32,
    activation: nk_conv_activation_int,
    leaky_alpha: f32,
    pad_h: c_int,
    pad_w: c_int,
    pad_h_end: c_int,
    pad_w_end: c_int,
) -> nk_status_t {
    let make = || {
        let kernel = (u32::from(byte("kernel_h", kernel_h)?), u32::from(byte("kernel_w", kernel_w)?));
        let (stride, channels) = (count("stride", stride)?, count("channels", channels)?);
        let pads = Pads::new(pad_h, pad_w, pad_h_end, pad_w_end)?;
        let layer = builder::depthwise(kernel, stride, channels, elementwise(activation, leaky_alpha), pads)?;
        let pair = Pair::new(weights, "weights is NULL", bias, &[channels, kernel.0, kernel.1], channels);
        Slot::simple(layer, Some(pair))
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 7, make) })
}

/// Describes a maximum pooling. Padding never is the maximum.
///
/// - cnn, layer_idx: which layer.
/// - pool_h, pool_w: height and width of the window; the width 1 to 255.
/// - stride: step on both axes.
/// - pad_h, pad_w, pad_h_end, pad_w_end: as in nk_cnn_init_conv_layer().
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_pool_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    pool_h: c_int,
    pool_w: c_int,
    stride: c_int,
    pad_h: c_int,
    pad_w: c_int,
    pad_h_end: c_int,
    pad_w_end: c_int,
) -> nk_status_t {
    let make = || {
        let pads = Pads::new(pad_h, pad_w, pad_h_end, pad_w_end)?;
        Slot::simple(Layer::MaxPool2d(builder::pool(pool_h, pool_w, stride, pads)?), None)
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 3, make) })
}

/// Describes an average pooling over the values inside the map; otherwise as nk_cnn_init_pool_layer(). Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_avg_pool_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    pool_h: c_int,
    pool_w: c_int,
    stride: c_int,
    pad_h: c_int,
    pad_w: c_int,
    pad_h_end: c_int,
    pad_w_end: c_int,
) -> nk_status_t {
    let make = || {
        let pads = Pads::new(pad_h, pad_w, pad_h_end, pad_w_end)?;
        Slot::simple(Layer::AvgPool2d(builder::pool(pool_h, pool_w, stride, pads)?), None)
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 5, make) })
}

/// Describes a batch normalisation that is folded to x * scale + bias for each channel.
///
/// - cnn, layer_idx: which layer.
/// - channels: channels.
/// - scale: channels floats.
/// - bias: channels floats, or NULL.
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_batch_norm_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    channels: c_int,
    scale: *const f32,
    bias: *const f32,
) -> nk_status_t {
    let make = || {
        let channels = count("channels", channels)?;
        let pair = Pair::new(scale, "scale is NULL", bias, &[channels], channels);
        Slot::simple(Layer::BatchNorm2d(BatchNorm2d { channels }), Some(pair))
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 6, make) })
}

/// Describes a layer normalisation over the channels of each pixel.
///
/// - cnn, layer_idx: which layer.
/// - channels: channels.
/// - eps: added to the variance, not negative.
/// - weight: channels floats that the normalised values are multiplied by.
/// - bias: channels floats, or NULL.
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_layernorm_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    channels: c_int,
    eps: f32,
    weight: *const f32,
    bias: *const f32,
) -> nk_status_t {
    let make = || {
        let channels = count("channels", channels)?;
        let pair = Pair::new(weight, "weight is NULL", bias, &[channels], channels);
        Slot::simple(Layer::LayerNorm2d(ChannelsEps { channels, eps }), Some(pair))
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 11, make) })
}

/// Describes a flatten layer: the map becomes one row of features.
///
/// Returns NK_OK, NK_ERR_NOT_INITIALIZED or NK_ERR_INVALID_ARGUMENT; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_flatten_layer(cnn: *mut nk_cnn_t, layer_idx: u32) -> nk_status_t {
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, layer_idx, 4, || Slot::simple(Layer::Flatten, None)) })
}

/// Describes a dense layer, which stands behind a flatten layer; otherwise as nk_mlp_init_layer(), whose statuses it gives:
/// NK_ERR_INVALID_ARGUMENT when cnn is NULL or holds no network. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_dense_layer(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    weights: *const nk_tensor_t,
    bias: *const nk_tensor_t,
    activation: nk_activation_int,
    leaky_alpha: f32,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which both functions repeat.
    report(unsafe {
        builder::require(cnn, ErrorKind::Argument)
            .and_then(|_| init(cnn, layer_idx, 1, || builder::dense(weights, bias, activation, leaky_alpha)))
    })
}

/// Puts what `make` makes into a layer.
///
/// # Safety
/// `cnn` is null or points to a handle whose arena is as it was.
unsafe fn init(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    kind: u8,
    make: impl FnOnce() -> Result<Slot, Error>,
) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let root = unsafe { builder::require(cnn, ErrorKind::NotInitialized) }?;
    root.check_index(layer_idx)?;
    root.set_slot(layer_idx, make().map_err(|error| error.in_layer(layer_idx as usize, kind))?)
}
