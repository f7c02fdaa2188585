//! Softmax.

use super::math;

/// `exp(x - max) / sum of exp(x - max)` for each row of `row_elems` elements. What NaN and infinities give is said at
/// the reference: nothing here treats them specially, the arithmetic has the same outcome.
#[inline(always)]
pub fn softmax(data: &mut [f32], row_elems: usize) {
    if row_elems == 0 {
        return;
    }
    for row in data.chunks_exact_mut(row_elems) {
        let max = math::largest(row);
        for x in row.iter_mut() {
            *x = math::exp(*x - max);
        }
        let factor = 1.0 / math::sum(row, |x| x);
        for x in row.iter_mut() {
            *x *= factor;
        }
    }
}
