//! Batch normalisation, folded into one scale and one shift per channel.

/// `x * scale[c] + shift[c]`, rounded after the product and after the sum.
pub fn batch_norm2d(data: &mut [f32], scale: &[f32], shift: &[f32]) {
    for (at, x) in data.iter_mut().enumerate() {
        let c = at % scale.len();
        *x = *x * scale[c] + shift[c];
    }
}
