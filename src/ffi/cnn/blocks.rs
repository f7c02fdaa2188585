//! CNN: blocks
//!
//! As the simple layers, with these differences: all return NK_ERR_INVALID_ARGUMENT when cnn or arena is NULL or cnn holds
//! no network, and NK_ERR_ARENA_OVERFLOW when the arena has no room for the list of the block's tensors. spatial_h and
//! spatial_w are height and width of the map at the block's input; nk_cnn_init_activation_buffers() compares them with
//! the real ones. A batch norm is x * scale + bias; its scale and bias may be NULL for 1 and 0.
#![allow(clippy::too_many_arguments, reason = "the interface has as many")]

use core::ffi::c_int;

use super::super::arena::nk_arena_t;
use super::super::builder::{self, Pair, Slot, Table, byte, count};
use super::super::errors::nk_status_t;
use super::super::last_error::report;
use super::nk_cnn_t;
use crate::error::{Error, ErrorKind};
use crate::format::Layer;
use crate::format::records::{ChannelsEps, MobilenetV4Uib, ResnetBasicBlock};
use crate::layers::{mobilenetv4_uib, resnet_basic_block, tensor_pairs};

/// Describes a ConvNeXt V2 block: depthwise 7x7, layer norm, expansion to four times the channels, GELU, global response
/// normalisation, projection, and the input added.
///
/// - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
/// - channels: channels before and after.
/// - eps: of the layer norm and of the response normalisation.
/// - dw_weights, dw_bias: floats [channels, 7, 7] and [channels].
/// - ln_weight, ln_bias: channels floats each.
/// - pw1_weight, pw1_bias: floats [4 * channels, channels] and [4 * channels].
/// - grn_gamma, grn_beta: 4 * channels floats each.
/// - pw2_weight, pw2_bias: floats [channels, 4 * channels] and [channels].
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_convnextv2_block_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    spatial_h: u32,
    spatial_w: u32,
    channels: c_int,
    eps: f32,
    dw_weights: *const f32,
    dw_bias: *const f32,
    ln_weight: *const f32,
    ln_bias: *const f32,
    pw1_weight: *const f32,
    pw1_bias: *const f32,
    grn_gamma: *const f32,
    grn_beta: *const f32,
    pw2_weight: *const f32,
    pw2_bias: *const f32,
) -> nk_status_t {
    let make = |table: &mut Table| {
        let channels = count("channels", channels)?;
        let wide = channels.saturating_mul(4);
        table.push(&[
            Pair::new(dw_weights, "dw_weights is NULL", dw_bias, &[channels, 7, 7], channels),
            Pair::new(ln_weight, "ln_weight is NULL", ln_bias, &[channels], channels),
            Pair::new(pw1_weight, "pw1_weight is NULL", pw1_bias, &[wide, channels], wide),
            Pair::new(grn_gamma, "grn_gamma is NULL", grn_beta, &[wide], wide),
            Pair::new(pw2_weight, "pw2_weight is NULL", pw2_bias, &[channels, wide], channels),
        ])
    };
    let record = || Ok(Layer::ConvNextV2Block(ChannelsEps { channels: count("channels", channels)?, eps }));
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 8, (spatial_h, spatial_w), record, make) })
}

/// Describes a universal inverted bottleneck of MobileNetV4: optional depthwise convolution, expansion, optional depthwise
/// convolution, projection, a batch norm behind each. The input is added when the stride is 1 and the channels stay.
///
/// - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
/// - in_channels, out_channels: channels before and after.
/// - start_dw_kernel, middle_dw_kernel: kernels of the depthwise convolutions; 0 for none, whose pointers are not looked
///   at.
/// - stride: stride of the block.
/// - middle_dw_downsample: not 0 when the middle convolution has the stride, 0 when the first one has it.
/// - expand_ratio: expanded channels E are this times in_channels, rounded to a multiple of 8.
/// - start_dw_weights, start_dw_bias: floats [in_channels, k, k] and [in_channels].
/// - start_bn_scale, start_bn_bias: in_channels floats each.
/// - expand_weights, expand_bias: floats [E, in_channels] and [E].
/// - expand_bn_scale, expand_bn_bias: E floats each.
/// - middle_dw_weights, middle_dw_bias: floats [E, k, k] and [E].
/// - middle_bn_scale, middle_bn_bias: E floats each.
/// - proj_weights, proj_bias: floats [out_channels, E] and [out_channels].
/// - proj_bn_scale, proj_bn_bias: out_channels floats each.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW, see above, or NK_ERR_LAYER_CONFIG for an
/// expand_ratio that does not give a number of channels. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_mobilenetv4_uib_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    spatial_h: u32,
    spatial_w: u32,
    in_channels: c_int,
    out_channels: c_int,
    start_dw_kernel: c_int,
    middle_dw_kernel: c_int,
    stride: c_int,
    middle_dw_downsample: c_int,
    expand_ratio: f32,
    start_dw_weights: *const f32,
    start_dw_bias: *const f32,
    start_bn_scale: *const f32,
    start_bn_bias: *const f32,
    expand_weights: *const f32,
    expand_bias: *const f32,
    expand_bn_scale: *const f32,
    expand_bn_bias: *const f32,
    middle_dw_weights: *const f32,
    middle_dw_bias: *const f32,
    middle_bn_scale: *const f32,
    middle_bn_bias: *const f32,
    proj_weights: *const f32,
    proj_bias: *const f32,
    proj_bn_scale: *const f32,
    proj_bn_bias: *const f32,
) -> nk_status_t {
    let record = || {
        Ok(MobilenetV4Uib {
            in_channels: count("in_channels", in_channels)?,
            out_channels: count("out_channels", out_channels)?,
            start_dw_kernel: byte("start_dw_kernel", start_dw_kernel)?,
            middle_dw_kernel: byte("middle_dw_kernel", middle_dw_kernel)?,
            stride: byte("stride", stride)?,
            middle_dw_downsample: u8::from(middle_dw_downsample != 0),
            expand_ratio,
        })
    };
    let make = |table: &mut Table| {
        let r: MobilenetV4Uib = record()?;
        let (wide, start, middle) =
            (mobilenetv4_uib::expanded_channels(&r)?, u32::from(r.start_dw_kernel), u32::from(r.middle_dw_kernel));
        if start != 0 {
            let extents = [r.in_channels, start, start];
            let missing = "start_dw_weights is NULL";
            table.push(&[
                Pair::new(start_dw_weights, missing, start_dw_bias, &extents, r.in_channels),
                Pair::norm(start_bn_scale, start_bn_bias, r.in_channels),
            ])?;
        }
        table.push(&[
            Pair::new(expand_weights, "expand_weights is NULL", expand_bias, &[wide, r.in_channels], wide),
            Pair::norm(expand_bn_scale, expand_bn_bias, wide),
        ])?;
        if middle != 0 {
            let missing = "middle_dw_weights is NULL";
            table.push(&[
                Pair::new(middle_dw_weights, missing, middle_dw_bias, &[wide, middle, middle], wide),
                Pair::norm(middle_bn_scale, middle_bn_bias, wide),
            ])?;
        }
        table.push(&[
            Pair::new(proj_weights, "proj_weights is NULL", proj_bias, &[r.out_channels, wide], r.out_channels),
            Pair::norm(proj_bn_scale, proj_bn_bias, r.out_channels),
        ])
    };
    let layer = || record().map(Layer::MobilenetV4Uib);
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 9, (spatial_h, spatial_w), layer, make) })
}

/// Describes a basic block of ResNet: two 3x3 convolutions with batch norm, the shortcut added, ReLU.
///
/// The shortcut is the input itself when the stride is 1 and the channels stay; the pointers of the shortcut are not
/// looked at then. Otherwise it is a 1x1 convolution with batch norm.
///
/// - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
/// - in_channels, out_channels: channels before and after.
/// - stride: stride of the first convolution and of the shortcut.
/// - conv1_weights, conv1_bias: floats [out_channels, 3, 3, in_channels] and [out_channels].
/// - bn1_scale, bn1_bias: out_channels floats each.
/// - conv2_weights, conv2_bias: floats [out_channels, 3, 3, out_channels] and [out_channels].
/// - bn2_scale, bn2_bias: out_channels floats each.
/// - shortcut_weights, shortcut_bias: floats [out_channels, in_channels] and [out_channels].
/// - shortcut_bn_scale, shortcut_bn_bias: out_channels floats each.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_resnet_basic_block_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    spatial_h: u32,
    spatial_w: u32,
    in_channels: c_int,
    out_channels: c_int,
    stride: c_int,
    conv1_weights: *const f32,
    conv1_bias: *const f32,
    bn1_scale: *const f32,
    bn1_bias: *const f32,
    conv2_weights: *const f32,
    conv2_bias: *const f32,
    bn2_scale: *const f32,
    bn2_bias: *const f32,
    shortcut_weights: *const f32,
    shortcut_bias: *const f32,
    shortcut_bn_scale: *const f32,
    shortcut_bn_bias: *const f32,
) -> nk_status_t {
    let record = || {
        Ok(ResnetBasicBlock {
            in_channels: count("in_channels", in_channels)?,
            out_channels: count("out_channels", out_channels)?,
            stride: byte("stride", stride)?,
        })
    };
    let make = |table: &mut Table| {
        let r: ResnetBasicBlock = record()?;
        let (inputs, outputs) = (r.in_channels, r.out_channels);
        table.push(&[
            Pair::new(conv1_weights, "conv1_weights is NULL", conv1_bias, &[outputs, 3, 3, inputs], outputs),
            Pair::norm(bn1_scale, bn1_bias, outputs),
            Pair::new(conv2_weights, "conv2_weights is NULL", conv2_bias, &[outputs, 3, 3, outputs], outputs),
            Pair::norm(bn2_scale, bn2_bias, outputs),
        ])?;
        if !resnet_basic_block::has_projection(&r) {
            return Ok(());
        }
        let missing = "shortcut_weights is NULL";
        table.push(&[
            Pair::new(shortcut_weights, missing, shortcut_bias, &[outputs, 1, 1, inputs], outputs),
            Pair::norm(shortcut_bn_scale, shortcut_bn_bias, outputs),
        ])
    };
    let layer = || record().map(Layer::ResnetBasicBlock);
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 10, (spatial_h, spatial_w), layer, make) })
}

/// Puts a block into a layer, and its tensors into the arena.
///
/// # Safety
/// Each pointer is null or points to a handle whose arena is as it was.
pub(super) unsafe fn init(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    kind: u8,
    spatial: (u32, u32),
    record: impl FnOnce() -> Result<Layer, Error>,
    fill: impl FnOnce(&mut Table) -> Result<(), Error>,
) -> Result<(), Error> {
    let in_layer = |error: Error| error.in_layer(layer_idx as usize, kind);
    // SAFETY: by this function's contract.
    let root = unsafe { builder::require(cnn, ErrorKind::Argument) }?;
    super::super::raw::required(arena, "arena is NULL")?;
    root.check_index(layer_idx)?;
    let layer = record().map_err(in_layer)?;
    let pairs = tensor_pairs(&layer, false);
    if pairs == 0 {
        return root.set_slot(layer_idx, Slot::on_map(layer, spatial));
    }
    // SAFETY: by this function's contract.
    let mut table = unsafe { Table::new(arena, pairs) }?;
    fill(&mut table).map_err(in_layer)?;
    // SAFETY: the same arena.
    root.set_slot(layer_idx, unsafe { table.finish(arena, layer, spatial) })
}
