//! CNN: YOLOX
//!
//! As the other blocks. A head has num_convs 3x3 convolutions in each of its two branches: the arrays of pointers have as
//! many entries, and are only read during the call. They may be NULL when num_convs is 0; an array of biases may be NULL
//! for zeros.
#![allow(clippy::too_many_arguments, reason = "the interface has as many")]

use core::ffi::c_int;

use super::super::arena::nk_arena_t;
use super::super::builder::{self, Pair, Table, byte, count};
use super::super::errors::nk_status_t;
use super::super::last_error::report;
use super::super::raw::{invalid, required};
use super::blocks::init;
use super::nk_cnn_t;
use crate::error::{Error, ErrorKind};
use crate::format::Layer;
use crate::format::records::{FeatureTap, YoloxDecoupledHead, YoloxPafpnMultiscale};
use crate::layers::feature_tap::MAX_TAPS;
use crate::layers::yolox_decoupled_head;

/// Describes a decoupled head of YOLOX: a stem, a branch for classes, a branch for box and objectness. Its output has
/// 5 + num_classes channels: box 0 to 3, objectness 4, classes from 5 on.
///
/// - cnn, arena, layer_idx, spatial_h, spatial_w: see above.
/// - in_channels: channels of the input.
/// - hidden_dim: channels H inside the head.
/// - num_classes: classes.
/// - num_convs: convolutions in each branch, 0 to 255.
/// - stem_weights, stem_bias: floats [H, in_channels] and [H].
/// - cls_conv_weights, cls_conv_bias: num_convs pointers to floats [H, 3, 3, H] and [H].
/// - reg_conv_weights, reg_conv_bias: the same for the other branch.
/// - cls_pred_weights, cls_pred_bias: floats [num_classes, H] and [num_classes].
/// - reg_pred_weights, reg_pred_bias: floats [4, H] and [4].
/// - obj_pred_weights, obj_pred_bias: floats [1, H] and [1].
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_yolox_decoupled_head_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    spatial_h: u32,
    spatial_w: u32,
    in_channels: c_int,
    hidden_dim: c_int,
    num_classes: c_int,
    num_convs: c_int,
    stem_weights: *const f32,
    stem_bias: *const f32,
    cls_conv_weights: *const *mut f32,
    cls_conv_bias: *const *mut f32,
    reg_conv_weights: *const *mut f32,
    reg_conv_bias: *const *mut f32,
    cls_pred_weights: *const f32,
    cls_pred_bias: *const f32,
    reg_pred_weights: *const f32,
    reg_pred_bias: *const f32,
    obj_pred_weights: *const f32,
    obj_pred_bias: *const f32,
) -> nk_status_t {
    let record = || {
        Ok(YoloxDecoupledHead {
            in_channels: count("in_channels", in_channels)?,
            hidden_dim: count("hidden_dim", hidden_dim)?,
            num_classes: count("num_classes", num_classes)?,
            num_convs: byte("num_convs", num_convs)?,
        })
    };
    let head = Head {
        stem: (stem_weights, stem_bias, "stem_weights is NULL"),
        cls_conv: (cls_conv_weights.cast(), cls_conv_bias.cast(), "cls_conv_weights or an entry of it is NULL"),
        reg_conv: (reg_conv_weights.cast(), reg_conv_bias.cast(), "reg_conv_weights or an entry of it is NULL"),
        cls_pred: (cls_pred_weights, cls_pred_bias, "cls_pred_weights is NULL"),
        reg_pred: (reg_pred_weights, reg_pred_bias, "reg_pred_weights is NULL"),
        obj_pred: (obj_pred_weights, obj_pred_bias, "obj_pred_weights is NULL"),
    };
    let fill = |table: &mut Table| {
        let r: YoloxDecoupledHead = record()?;
        let size =
            HeadSize { inputs: r.in_channels, hidden: r.hidden_dim, classes: r.num_classes, num_convs: r.num_convs };
        // SAFETY: by this function's documentation the arrays have as many entries.
        unsafe { head.for_each(&size, &mut |pair| table.push(&[pair])) }
    };
    let layer = || record().map(Layer::YoloxDecoupledHead);
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 12, (spatial_h, spatial_w), layer, fill) })
}

/// Describes a feature tap: the map at this place is kept for a feature pyramid behind it, and for
/// nk_cnn_get_feature_tap_buffer(). It changes nothing.
///
/// - cnn, arena, layer_idx, spatial_h, spatial_w: see above; nothing is taken from the arena.
/// - channels: channels of the map.
/// - tap_id: 0 to 3. A later tap with the same number replaces this one.
///
/// Returns NK_OK or NK_ERR_INVALID_ARGUMENT, also for a tap_id above 3. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_feature_tap_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    spatial_h: u32,
    spatial_w: u32,
    channels: c_int,
    tap_id: u8,
) -> nk_status_t {
    let record = || {
        if tap_id >= MAX_TAPS {
            let error = Error::new(ErrorKind::Argument).field("tap_id").found(u64::from(tap_id));
            return Err(error.at_most(u64::from(MAX_TAPS) - 1));
        }
        Ok(Layer::FeatureTap(FeatureTap { channels: count("channels", channels)?, tap_id }))
    };
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 13, (spatial_h, spatial_w), record, |_| Ok(())) })
}

/// Describes a feature pyramid of YOLOX with a head on each of three scales. It reads feature tap 0 (C3, four times the
/// height and width of its input) and tap 1 (C4, twice), which stand before it. nk_cnn_set_yolox_pafpn_head() must
/// follow for scale 0, 1 and 2.
///
/// Its output is one row of (16 + 4 + 1) * c5_h * c5_w * (5 + num_classes) floats: the predictions of scale 0, 1 and 2,
/// each as nk_cnn_init_yolox_decoupled_head_layer() says.
///
/// - cnn, arena, layer_idx: see above.
/// - c5_h, c5_w: height and width of the map at its input.
/// - c3_channels, c4_channels, c5_channels: channels of tap 0, of tap 1 and of the input.
/// - hidden_dim: channels H inside the pyramid and the heads.
/// - num_classes, num_convs: of each head.
/// - lat3_weights to lat5_bias: floats [H, channels of the map] and [H].
/// - td_p4_dw_weights to bu_n5_pw_bias: four refinements, each a depthwise convolution of floats [H, 3, 3] and [H], and
///   a pointwise one of floats [H, H] and [H]; top-down at P4 and P3, bottom-up at N4 and N5.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT or NK_ERR_ARENA_OVERFLOW; see above. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_init_yolox_pafpn_layer(
    cnn: *mut nk_cnn_t,
    arena: *mut nk_arena_t,
    layer_idx: u32,
    c5_h: u32,
    c5_w: u32,
    c3_channels: c_int,
    c4_channels: c_int,
    c5_channels: c_int,
    hidden_dim: c_int,
    num_classes: c_int,
    num_convs: c_int,
    lat3_weights: *const f32,
    lat3_bias: *const f32,
    lat4_weights: *const f32,
    lat4_bias: *const f32,
    lat5_weights: *const f32,
    lat5_bias: *const f32,
    td_p4_dw_weights: *const f32,
    td_p4_dw_bias: *const f32,
    td_p4_pw_weights: *const f32,
    td_p4_pw_bias: *const f32,
    td_p3_dw_weights: *const f32,
    td_p3_dw_bias: *const f32,
    td_p3_pw_weights: *const f32,
    td_p3_pw_bias: *const f32,
    bu_n4_dw_weights: *const f32,
    bu_n4_dw_bias: *const f32,
    bu_n4_pw_weights: *const f32,
    bu_n4_pw_bias: *const f32,
    bu_n5_dw_weights: *const f32,
    bu_n5_dw_bias: *const f32,
    bu_n5_pw_weights: *const f32,
    bu_n5_pw_bias: *const f32,
) -> nk_status_t {
    let record = || {
        Ok(YoloxPafpnMultiscale {
            c3_channels: count("c3_channels", c3_channels)?,
            c4_channels: count("c4_channels", c4_channels)?,
            c5_channels: count("c5_channels", c5_channels)?,
            hidden_dim: count("hidden_dim", hidden_dim)?,
            num_classes: count("num_classes", num_classes)?,
            num_convs: byte("num_convs", num_convs)?,
        })
    };
    let fill = |table: &mut Table| {
        let r: YoloxPafpnMultiscale = record()?;
        let hidden = r.hidden_dim;
        let lateral =
            |weights, missing, bias, channels| Pair::new(weights, missing, bias, &[hidden, 1, 1, channels], hidden);
        let depthwise = |weights, missing, bias| Pair::new(weights, missing, bias, &[hidden, 3, 3], hidden);
        let pointwise = |weights, missing, bias| Pair::new(weights, missing, bias, &[hidden, 1, 1, hidden], hidden);
        table.push(&[
            lateral(lat3_weights, "lat3_weights is NULL", lat3_bias, r.c3_channels),
            lateral(lat4_weights, "lat4_weights is NULL", lat4_bias, r.c4_channels),
            lateral(lat5_weights, "lat5_weights is NULL", lat5_bias, r.c5_channels),
            depthwise(td_p4_dw_weights, "td_p4_dw_weights is NULL", td_p4_dw_bias),
            pointwise(td_p4_pw_weights, "td_p4_pw_weights is NULL", td_p4_pw_bias),
            depthwise(td_p3_dw_weights, "td_p3_dw_weights is NULL", td_p3_dw_bias),
            pointwise(td_p3_pw_weights, "td_p3_pw_weights is NULL", td_p3_pw_bias),
            depthwise(bu_n4_dw_weights, "bu_n4_dw_weights is NULL", bu_n4_dw_bias),
            pointwise(bu_n4_pw_weights, "bu_n4_pw_weights is NULL", bu_n4_pw_bias),
            depthwise(bu_n5_dw_weights, "bu_n5_dw_weights is NULL", bu_n5_dw_bias),
            pointwise(bu_n5_pw_weights, "bu_n5_pw_weights is NULL", bu_n5_pw_bias),
        ])?;
        (0..3 * yolox_decoupled_head::tensor_pairs(r.num_convs))
            .try_for_each(|_| table.push_unchecked(&[Pair::MISSING]))
    };
    let layer = || record().map(Layer::YoloxPafpnMultiscale);
    // SAFETY: the conventions of the header, which `init` repeats.
    report(unsafe { init(cnn, arena, layer_idx, 14, (c5_h, c5_w), layer, fill) })
}

/// Gives a feature pyramid one of its three heads.
///
/// - cnn, layer_idx: a layer from nk_cnn_init_yolox_pafpn_layer().
/// - scale: 0 for P3, the largest map, 1 for N4, 2 for N5.
/// - stem_w, stem_b: floats [H, H] and [H]; H is the pyramid's hidden_dim.
/// - cls_conv_w to obj_pred_b: as in nk_cnn_init_yolox_decoupled_head_layer(), with the pyramid's num_convs and
///   num_classes.
///
/// Returns as the other blocks, and NK_ERR_INVALID_ARGUMENT for a layer that is no pyramid and a scale above 2. Since
/// 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_cnn_set_yolox_pafpn_head(
    cnn: *mut nk_cnn_t,
    layer_idx: u32,
    scale: u32,
    stem_w: *const f32,
    stem_b: *const f32,
    cls_conv_w: *const *const f32,
    cls_conv_b: *const *const f32,
    reg_conv_w: *const *const f32,
    reg_conv_b: *const *const f32,
    cls_pred_w: *const f32,
    cls_pred_b: *const f32,
    reg_pred_w: *const f32,
    reg_pred_b: *const f32,
    obj_pred_w: *const f32,
    obj_pred_b: *const f32,
) -> nk_status_t {
    let head = Head {
        stem: (stem_w, stem_b, "stem_w is NULL"),
        cls_conv: (cls_conv_w, cls_conv_b, "cls_conv_w or an entry of it is NULL"),
        reg_conv: (reg_conv_w, reg_conv_b, "reg_conv_w or an entry of it is NULL"),
        cls_pred: (cls_pred_w, cls_pred_b, "cls_pred_w is NULL"),
        reg_pred: (reg_pred_w, reg_pred_b, "reg_pred_w is NULL"),
        obj_pred: (obj_pred_w, obj_pred_b, "obj_pred_w is NULL"),
    };
    // SAFETY: the conventions of the header, which `set_head` repeats.
    report(unsafe { set_head(cnn, layer_idx, scale, &head) })
}

/// # Safety
/// `cnn` is null or points to a handle whose arena is as it was; the arrays have as many entries as the pyramid says.
unsafe fn set_head(cnn: *mut nk_cnn_t, layer_idx: u32, scale: u32, head: &Head) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let root = unsafe { builder::require(cnn, ErrorKind::Argument) }?;
    root.check_index(layer_idx)?;
    if scale > 2 {
        return Err(Error::new(ErrorKind::Argument).field("scale").found(u64::from(scale)).at_most(2));
    }
    let mut slot = root.slots()[layer_idx as usize];
    let Some(r) = slot.pafpn() else { return Err(invalid("this layer is no yolox_pafpn_multiscale")) };
    let size = HeadSize { inputs: r.hidden_dim, hidden: r.hidden_dim, classes: r.num_classes, num_convs: r.num_convs };
    let in_layer = |error: Error| error.in_layer(layer_idx as usize, 14);
    // SAFETY: by this function's contract. All or nothing: the first pass only looks.
    unsafe { head.for_each(&size, &mut |pair| pair.check()) }.map_err(in_layer)?;
    let mut at = 11 + scale * yolox_decoupled_head::tensor_pairs(r.num_convs);
    // SAFETY: as above.
    unsafe {
        head.for_each(&size, &mut |pair| {
            slot.replace(at as usize, pair);
            at += 1;
            Ok(())
        })
    }?;
    root.set_slot(layer_idx, slot)
}

/// Sizes of a head.
struct HeadSize {
    inputs: u32,
    hidden: u32,
    classes: u32,
    num_convs: u8,
}

/// Weights, bias, and what is said when the weights are null.
type Floats = (*const f32, *const f32, &'static str);
/// The same for each convolution of a branch.
type FloatArrays = (*const *const f32, *const *const f32, &'static str);

/// Weights and biases of a head.
struct Head {
    stem: Floats,
    cls_conv: FloatArrays,
    reg_conv: FloatArrays,
    cls_pred: Floats,
    reg_pred: Floats,
    obj_pred: Floats,
}

impl Head {
    /// Shows the pairs in catalog order.
    ///
    /// # Safety
    /// The arrays are null or have as many entries as `size` says.
    unsafe fn for_each(&self, size: &HeadSize, visit: &mut dyn FnMut(Pair) -> Result<(), Error>) -> Result<(), Error> {
        let hidden = size.hidden;
        let one = |(weights, bias, missing): Floats, outputs, inputs| {
            Pair::new(weights, missing, bias, &[outputs, 1, 1, inputs], outputs)
        };
        visit(one(self.stem, hidden, size.inputs))?;
        for (weights, bias, missing) in [self.cls_conv, self.reg_conv] {
            for index in 0..usize::from(size.num_convs) {
                required(weights, missing)?;
                // SAFETY: not null, and by this function's contract there are as many entries.
                let weights = unsafe { weights.add(index).read_unaligned() };
                // SAFETY: as above.
                let bias = if bias.is_null() { core::ptr::null() } else { unsafe { bias.add(index).read_unaligned() } };
                visit(Pair::new(weights, missing, bias, &[hidden, 3, 3, hidden], hidden))?;
            }
        }
        visit(one(self.cls_pred, size.classes, hidden))?;
        visit(one(self.reg_pred, 4, hidden))?;
        visit(one(self.obj_pred, 1, hidden))
    }
}
