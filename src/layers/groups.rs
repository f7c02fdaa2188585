//! Layer kinds that a build may leave out: the cargo features `blocks` and `yolox`, and what float networks alone have.
//!
//! Such a build refuses models with them: where it lacks a feature when they are parsed, where it is one for int8 when they are
//! planned.

use crate::element;
use crate::fault::{Text, text};

/// Whether this build has the blocks of classification networks.
pub const BLOCKS: bool = cfg!(feature = "blocks");

/// Whether it has the parts of YOLOX detectors.
pub const YOLOX: bool = cfg!(feature = "yolox");

/// Whether it runs the layers that have no int8 form.
pub const FLOAT: bool = !matches!(element::ONLY_INT8, Some(true));

/// The error of a build without the feature for a layer of this kind.
pub fn left_out(kind: u8) -> &'static Text {
    match kind {
        8..=11 => text!(Unsupported, note "this layer is left out: build netkit with the cargo feature blocks"),
        _ => text!(Unsupported, note "this layer is left out: build netkit with the cargo feature yolox"),
    }
}
