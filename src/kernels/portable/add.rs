//! Sums of two maps; bit-identical with the reference.

/// `data[i] += other[i]`.
#[inline(always)]
pub fn add(data: &mut [f32], other: &[f32]) {
    for (x, y) in data.iter_mut().zip(other) {
        *x += y;
    }
}

/// `data[y][x] += half[y / 2][x / 2]`.
pub fn add_upsampled2x(data: &mut [f32], half: &[f32], half_w: usize, channels: usize) {
    upsampled2x(data, half, half_w, channels, add);
}

/// The same with the addition of a level.
#[inline(never)]
pub(in crate::kernels) fn upsampled2x(
    data: &mut [f32],
    half: &[f32],
    half_w: usize,
    channels: usize,
    add: fn(&mut [f32], &[f32]),
) {
    // Never 0, so that no chunk below is empty; a map without elements has no chunks.
    let channels = channels.max(1);
    let half_row_elems = (half_w * channels).max(1);
    let mut rows = data.chunks_mut((2 * half_row_elems).max(1));
    for half_row in half.chunks(half_row_elems) {
        for row in rows.by_ref().take(2) {
            for (pixels, half_pixel) in row.chunks_mut((2 * channels).max(1)).zip(half_row.chunks(channels)) {
                for pixel in pixels.chunks_mut(channels) {
                    add(pixel, half_pixel);
                }
            }
        }
    }
}
