//! Models: layers
//!
//! What a model consists of. The answers come from the model's own bytes, which must still be there.

use core::ffi::{CStr, c_char};

use super::errors::nk_status_t;
use super::handle;
use super::int8::{nk_quant_params, nk_quant_params_t};
use super::last_error::report;
use super::limits::NK_MAX_TENSOR_RANK;
use super::model::nk_model_t;
use super::nk_block_type_int;
use super::raw::{self, required};
use crate::error::{Error, ErrorKind};
use crate::format::Model;
use crate::plan::{self, LayerFacts, Scheme};

/// Kind of a layer.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_cnn_block_type {
    /// Convolution.
    NK_CNN_BLOCK_CONV2D = 0,
    /// Convolution of each channel by itself.
    NK_CNN_BLOCK_DEPTHWISE_CONV2D = 1,
    /// Maximum of each window.
    NK_CNN_BLOCK_MAX_POOL2D = 2,
    /// Mean of each window.
    NK_CNN_BLOCK_AVG_POOL2D = 3,
    /// Scale and shift of each channel.
    NK_CNN_BLOCK_BATCH_NORM2D = 4,
    /// Normalisation of each pixel over its channels.
    NK_CNN_BLOCK_LAYERNORM2D = 5,
    /// A map becomes one row.
    NK_CNN_BLOCK_FLATTEN = 6,
    /// Fully connected; the layers of an MLP.
    NK_CNN_BLOCK_DENSE = 7,
    /// ConvNeXt V2 block.
    NK_CNN_BLOCK_CONVNEXTV2_BLOCK = 8,
    /// MobileNetV4 universal inverted bottleneck.
    NK_CNN_BLOCK_MOBILENETV4_UIB = 9,
    /// ResNet basic block.
    NK_CNN_BLOCK_RESNET_BASIC_BLOCK = 10,
    /// YOLOX decoupled head.
    NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD = 11,
    /// Remembers a map for a feature pyramid.
    NK_CNN_BLOCK_FEATURE_TAP = 12,
    /// YOLOX feature pyramid with three heads.
    NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE = 13,
}

/// Kind of a layer.
pub type nk_cnn_block_type_t = nk_cnn_block_type;

/// A layer of a model. Set struct_size to `sizeof(nk_layer_info_t)` before you pass it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_layer_info {
    /// Size of this structure in bytes, set by you.
    pub struct_size: u32,
    /// Kind of the layer.
    pub r#type: nk_cnn_block_type_t,
    /// Index of the layer from 0.
    pub index: u32,
    /// Extents of its input, outermost first; 0 beyond the rank.
    pub in_shape: [u32; NK_MAX_TENSOR_RANK],
    /// Extents of its output, outermost first; 0 beyond the rank.
    pub out_shape: [u32; NK_MAX_TENSOR_RANK],
    /// Number of dimensions of the input.
    pub in_rank: u32,
    /// Number of dimensions of the output.
    pub out_rank: u32,
    /// Size of its weights and biases in bytes.
    pub weight_bytes: usize,
    /// Multiply-accumulate operations of one run; 0 for a layer that only compares, copies or normalises.
    pub macs: u64,
    /// Scale and zero point of its input; both 0 in a float model.
    pub in_quant: nk_quant_params_t,
    /// Scale and zero point of its output; both 0 in a float model.
    pub out_quant: nk_quant_params_t,
}

/// A layer of a model.
pub type nk_layer_info_t = nk_layer_info;

/// Number of layers of a model; 0 without a model. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_layer_count(model: *const nk_model_t) -> u32 {
    // SAFETY: `model` is NULL or by the conventions points to a handle.
    unsafe { handle::get(model) }.map_or(0, |loaded| loaded.facts.arch().num_layers)
}

/// Describes a layer of a model.
///
/// - model: a loaded model whose arena is as it was.
/// - index: below nk_model_layer_count().
/// - info: filled in on success; its struct_size must be set.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, a wrong struct_size or an index that is too large, or
/// NK_ERR_MODEL_NOT_LOADED. Threads: any, also during runs. Cost: reads the model without its weights. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_model_layer_info(
    model: *const nk_model_t,
    index: u32,
    info: *mut nk_layer_info_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `write_info` repeats.
    report(unsafe { write_info(model, index, info) })
}

/// Names a kind of layer in the words of the file format, such as `depthwise_conv2d`.
///
/// - type: any number; `unknown` for one that is not listed.
///
/// Returns a constant string, never NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub extern "C" fn nk_block_type_string(r#type: nk_block_type_int) -> *const c_char {
    const NAMES: [&CStr; 14] = [
        c"conv2d",
        c"depthwise_conv2d",
        c"max_pool2d",
        c"avg_pool2d",
        c"batch_norm2d",
        c"layernorm2d",
        c"flatten",
        c"dense",
        c"convnextv2_block",
        c"mobilenetv4_uib",
        c"resnet_basic_block",
        c"yolox_decoupled_head",
        c"feature_tap",
        c"yolox_pafpn_multiscale",
    ];
    NAMES.get(r#type as usize).unwrap_or(&c"unknown").as_ptr()
}

/// The C name of a layer kind of the format.
pub(super) fn block_type(kind: u8) -> nk_cnn_block_type {
    use nk_cnn_block_type::*;
    match kind {
        1 => NK_CNN_BLOCK_DENSE,
        3 => NK_CNN_BLOCK_MAX_POOL2D,
        4 => NK_CNN_BLOCK_FLATTEN,
        5 => NK_CNN_BLOCK_AVG_POOL2D,
        6 => NK_CNN_BLOCK_BATCH_NORM2D,
        7 => NK_CNN_BLOCK_DEPTHWISE_CONV2D,
        8 => NK_CNN_BLOCK_CONVNEXTV2_BLOCK,
        9 => NK_CNN_BLOCK_MOBILENETV4_UIB,
        10 => NK_CNN_BLOCK_RESNET_BASIC_BLOCK,
        11 => NK_CNN_BLOCK_LAYERNORM2D,
        12 => NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD,
        13 => NK_CNN_BLOCK_FEATURE_TAP,
        14 => NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE,
        // 2; the parser knows no other kind.
        _ => NK_CNN_BLOCK_CONV2D,
    }
}

/// # Safety
/// `model` is null or a handle of a model whose bytes are there, `info` is null or begins with its size.
unsafe fn write_info(model: *const nk_model_t, index: u32, info: *mut nk_layer_info_t) -> Result<(), Error> {
    required(model, "model is NULL")?;
    // SAFETY: by this function's contract.
    let struct_size = unsafe { raw::struct_size(info, "info is NULL") }?;
    // SAFETY: not null, and by this function's contract a handle.
    let loaded = unsafe { handle::get(model) }.ok_or(handle::NOT_LOADED)?;
    // SAFETY: by this function's contract.
    let network = unsafe { loaded.shared() }?;
    let count = loaded.facts.arch().num_layers;
    if index >= count {
        let error = Error::new(ErrorKind::Argument).field("layer index").found(u64::from(index));
        return Err(error.at_most(u64::from(count.saturating_sub(1))));
    }
    let model = Model::parse(network.blob())?;
    let mut answer = None;
    plan::for_each_layer(&model, Scheme::COUNT, &mut |layer| {
        if layer.index == index as usize {
            answer = Some(describe(layer, struct_size));
        }
        Ok(())
    })?;
    let answer = answer.ok_or(handle::NOT_LOADED)?;
    // SAFETY: `struct_size` accepted the pointer and found room for the whole structure.
    unsafe { info.write_unaligned(answer) };
    Ok(())
}

fn describe(layer: &LayerFacts, struct_size: u32) -> nk_layer_info {
    let none = nk_quant_params { scale: 0.0, zero_point: 0 };
    let ((in_shape, in_rank), (out_shape, out_rank)) = (layer.input.dims(), layer.output.dims());
    nk_layer_info {
        struct_size,
        r#type: block_type(layer.kind),
        index: layer.index as u32,
        in_shape,
        out_shape,
        in_rank,
        out_rank,
        weight_bytes: layer.payload_bytes,
        macs: layer.macs,
        in_quant: layer.input_quant.map_or(none, Into::into),
        out_quant: layer.output_quant.map_or(none, Into::into),
    }
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(nk_layer_info, in_shape) == 12 && offset_of!(nk_layer_info, in_rank) == 44);
    assert!(offset_of!(nk_layer_info, weight_bytes).is_multiple_of(size_of::<usize>()));
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_keeps_its_name() {
        for kind in 1..=14 {
            // SAFETY: a constant string.
            let name = unsafe { CStr::from_ptr(nk_block_type_string(block_type(kind) as nk_block_type_int)) };
            assert_eq!(name.to_str().ok(), crate::format::kind_name(kind));
        }
    }
}
