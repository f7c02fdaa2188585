//! Depthwise weights as instructions multiply them that add up products of four bytes: four kernel rows at a time.
//!
//! ```text
//! [ line: form | 16 channels | 16 channels | ... ]      zeros where there are no channels
//!   16 channels: offsets [16] as i32, weights [kernel_h / 4][kernel_w][16][4], zeros past the last kernel row
//! ```
//!
//! Packed when the model was loaded; else a kernel packs a few channels at a time for itself. Offsets are what sums begin
//! with where inputs are larger by 128 and have their zero point: the bias, and what that contributes.

use bytemuck::cast;

use crate::kernels::int8::Requantize;
use crate::tensor::Window;

/// Channels that are packed together.
pub(in crate::kernels) const LANES: usize = 16;
/// Kernel rows that are multiplied at a time.
pub(in crate::kernels) const ROWS: usize = 4;

/// The offsets of some channels, or the weights of one column of [`ROWS`] kernel rows.
pub(in crate::kernels) type Line = [i8; LANES * ROWS];

/// The first byte where weights are packed.
const FORM: i8 = 1;

/// Lines of 16 channels; nothing where there are more than memory has.
pub(in crate::kernels) fn lines(window: &Window) -> Option<usize> {
    let rows = window.kernel_h.div_ceil(ROWS as u32) as usize;
    rows.checked_mul(window.kernel_w as usize)?.checked_add(1)
}

/// Bytes of the packed weights.
pub fn bytes(window: &Window) -> usize {
    let channels = (window.in_c as usize).div_ceil(LANES);
    let lines = lines(window).and_then(|lines| lines.checked_mul(channels));
    lines.unwrap_or(usize::MAX).saturating_add(1).saturating_mul(size_of::<Line>())
}

/// Packs all weights; `packed` has [`bytes`] bytes.
pub fn pack(window: &Window, weights: &[i8], requantize: &Requantize<'_>, packed: &mut [i8]) {
    let (Some((form, channels)), Some(lines)) = (packed.as_chunks_mut().0.split_first_mut(), lines(window)) else {
        return;
    };
    *form = [0; LANES * ROWS];
    form[0] = FORM;
    for (first, lines) in (0..).step_by(LANES).zip(channels.chunks_exact_mut(lines)) {
        pack_channels(window, weights, requantize, first, lines);
    }
}

/// The lines of all channels, if they are packed.
pub(in crate::kernels) fn packed_lines(packed: &[i8]) -> Option<&[Line]> {
    let (form, lines) = packed.as_chunks().0.split_first()?;
    (form[0] == FORM).then_some(lines)
}

/// Packs the channels from `first` on.
pub(in crate::kernels) fn pack_channels(
    window: &Window,
    weights: &[i8],
    requantize: &Requantize<'_>,
    first: usize,
    lines: &mut [Line],
) {
    let kernel_w = (window.kernel_w as usize).max(1);
    let kernel_elems = window.kernel_h as usize * kernel_w;
    let Some((offset_line, lines)) = lines.split_first_mut() else { return };
    lines.fill([0; LANES * ROWS]);
    let mut offsets = [0i32; LANES];
    let kernels = weights.get(first * kernel_elems..).unwrap_or_default().chunks_exact(kernel_elems);
    let biases = requantize.bias.get(first..).unwrap_or_default();
    for (channel, ((kernel, bias), offset)) in kernels.zip(biases).zip(&mut offsets).enumerate() {
        let mut sum = 0i32;
        for (row, taps) in kernel.chunks_exact(kernel_w).enumerate() {
            let lines = lines.get_mut(row / ROWS * kernel_w..).unwrap_or_default();
            for (line, &weight) in lines.iter_mut().zip(taps) {
                line[channel * ROWS + row % ROWS] = weight;
                sum = sum.wrapping_add(i32::from(weight));
            }
        }
        *offset = bias.wrapping_sub(sum.wrapping_mul(requantize.input_zero_point.wrapping_add(128)));
    }
    *offset_line = cast(offsets);
}
