//! Batch normalisation, folded into one scale and one shift per channel.

/// `x * scale[c] + shift[c]` in place; bit-identical with the reference.
#[inline(always)]
pub fn batch_norm2d(data: &mut [f32], scale: &[f32], shift: &[f32]) {
    if scale.is_empty() {
        return;
    }
    for pixel in data.chunks_mut(scale.len()) {
        for ((x, scale), shift) in pixel.iter_mut().zip(scale).zip(shift) {
            *x = *x * scale + shift;
        }
    }
}
