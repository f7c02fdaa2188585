//! The geometry of a step.

use netkit::tensor::Window;

use super::At;
use crate::source::{Source, fields};

/// A window as a structure inside another one.
pub(super) fn window(w: &Window) -> String {
    fields(&window_fields(w))
}

/// The window of a step as a structure of its own; its address is given back.
pub(super) fn window_of(at: &At<'_, '_>, source: &mut Source) -> String {
    source.structure("nk_window", at.name("window"), &window_fields(&at.step.window))
}

/// Whether part of the window lies outside the map anywhere.
pub(super) fn has_edges(w: &Window) -> bool {
    let beyond = |out: u32, kernel: u32, pad: u32, input: u32| {
        u64::from(out - 1) * u64::from(w.stride) + u64::from(kernel) > u64::from(input) + u64::from(pad)
    };
    w.pad_top > 0
        || w.pad_left > 0
        || beyond(w.out_h, w.kernel_h, w.pad_top, w.in_h)
        || beyond(w.out_w, w.kernel_w, w.pad_left, w.in_w)
}

fn window_fields(w: &Window) -> [(&'static str, String); 11] {
    let values = [
        ("in_h", w.in_h),
        ("in_w", w.in_w),
        ("in_c", w.in_c),
        ("out_h", w.out_h),
        ("out_w", w.out_w),
        ("out_c", w.out_c),
        ("kernel_h", w.kernel_h),
        ("kernel_w", w.kernel_w),
        ("stride", w.stride),
        ("pad_top", w.pad_top),
        ("pad_left", w.pad_left),
    ];
    values.map(|(name, value)| (name, value.to_string()))
}
