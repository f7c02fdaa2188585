//! Sums of two maps.

/// `data[i] += other[i]`.
pub fn add(data: &mut [f32], other: &[f32]) {
    for (x, y) in data.iter_mut().zip(other) {
        *x += y;
    }
}

/// `data[y][x][c] += half[y / 2][x / 2][c]`: `half` enlarged by nearest-neighbour upsampling, then added.
pub fn add_upsampled2x(data: &mut [f32], half: &[f32], half_w: usize, channels: usize) {
    let half_h = half.len().checked_div(half_w * channels).unwrap_or(0);
    for y in 0..2 * half_h {
        for x in 0..2 * half_w {
            for c in 0..channels {
                data[(y * 2 * half_w + x) * channels + c] += half[((y / 2) * half_w + x / 2) * channels + c];
            }
        }
    }
}
