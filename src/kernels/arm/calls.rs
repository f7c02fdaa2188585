//! Checked calls of loops in assembly that several processors have, each with a function of its own.

use crate::kernels::int8::compact::machine::{GROUP, Machine, Rectangle, SIDE};

/// Reads rows and weights of some groups, not 0, and adds to sums: see [`Machine::four_pixels`].
pub(super) type FourPixels = unsafe extern "C" fn(*const i32, *const i8, usize, &mut [i32; SIDE]);

/// Reads a row and the weights of four filters, so many elements apart, of some groups, not 0: see [`Machine::four_filters`].
pub(super) type FourFilters = unsafe extern "C" fn(*const i32, *const i8, usize, usize, &mut [i32; SIDE]);

/// Reads input and taps of a rectangle: see [`Machine::four_channels`].
pub(super) type FourChannels = unsafe extern "C" fn(*const i8, *const i32, &Rectangle, &mut [i32; SIDE]);

#[inline(always)]
pub(super) fn four_pixels<M: Machine>(function: FourPixels, rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
    let groups = (weights.len() / GROUP).min(rows.len() / M::GROUP_WORDS);
    if groups > 0 {
        // SAFETY: rows and weights have so many groups.
        unsafe { function(rows.as_ptr(), weights.as_ptr(), groups, sums) }
    }
}

#[allow(dead_code, reason = "a processor with few registers has other loops")]
#[inline(always)]
pub(super) fn four_filters<M: Machine>(
    function: FourFilters,
    row: &[i32],
    weights: &[i8],
    (pitch, k): (usize, usize),
    sums: &mut [i32; SIDE],
) {
    let groups = k / GROUP;
    let is_inside = groups * M::SINGLE_WORDS <= row.len() && (SIDE - 1) * pitch + k <= weights.len();
    if groups > 0 && is_inside {
        // SAFETY: the row has so many groups, and so have four filters, `pitch` apart.
        unsafe { function(row.as_ptr(), weights.as_ptr(), pitch, groups, sums) }
    }
}

#[allow(dead_code, reason = "a processor with few registers has other loops")]
#[inline(always)]
pub(super) fn four_channels<M: Machine>(
    function: FourChannels,
    input: &[i8],
    taps: &[i32],
    rectangle: &Rectangle,
    sums: &mut [i32; SIDE],
) {
    if rectangle.is_inside(input, taps, M::TAP_WORDS) {
        // SAFETY: the rectangle lies inside input and taps, and has at least one row and column.
        unsafe { function(input.as_ptr(), taps.as_ptr(), rectangle, sums) }
    }
}
