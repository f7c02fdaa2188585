//! Layer kinds that a build may leave out: the cargo features `blocks` and `yolox`, and what float networks alone have.
//!
//! Such a build refuses models with them when they are planned or loaded. It still reads and describes them.

use crate::element;
use crate::fault::{Fault, text};
use crate::format::Layer;

/// Whether this build runs the blocks of classification networks.
pub const BLOCKS: bool = cfg!(feature = "blocks");

/// Whether it runs the layers that have no int8 form.
pub const FLOAT: bool = !matches!(element::ONLY_INT8, Some(true));

/// Whether it runs those of the blocks that have no int8 form.
pub const FLOAT_BLOCKS: bool = BLOCKS && FLOAT;

/// Whether it runs the parts of YOLOX detectors, which have no int8 form.
pub const YOLOX: bool = cfg!(feature = "yolox") && FLOAT;

/// The error of a build that leaves out a layer.
#[cold]
pub fn left_out(layer: &Layer) -> Fault {
    match layer {
        Layer::ConvNextV2Block(_) | Layer::LayerNorm2d(_) | Layer::MobilenetV4Uib(_) | Layer::ResnetBasicBlock(_)
            if !BLOCKS =>
        {
            text!(Unsupported, note "this layer is left out: build netkit with the cargo feature blocks").fault()
        }
        Layer::FeatureTap(_) | Layer::YoloxDecoupledHead(_) | Layer::YoloxPafpnMultiscale(_)
            if !cfg!(feature = "yolox") =>
        {
            text!(Unsupported, note "this layer is left out: build netkit with the cargo feature yolox").fault()
        }
        _ => text!(Unsupported, note "int8 has no form of this layer; keep this model in float").fault(),
    }
}
