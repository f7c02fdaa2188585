//! Softmax.

/// `exp(x - max) * (1 / sum of exp(x - max))` for each row of `row_elems` elements.
///
/// Negative infinity beside a finite element becomes 0. A row with a NaN, with positive infinity, or with nothing but
/// negative infinity has no softmax: all its elements become NaN. Elements after the last whole row stay untouched.
pub fn softmax(data: &mut [f32], row_elems: usize) {
    if row_elems == 0 {
        return;
    }
    for row in data.chunks_exact_mut(row_elems) {
        softmax_of_every(1, row);
    }
}

/// The softmax of one row whose elements lie `step` elements apart, beginning with the first of `data`. What lies between
/// them stays untouched.
pub fn softmax_of_every(step: usize, data: &mut [f32]) {
    let mut max = f32::NEG_INFINITY;
    for &x in data.iter().step_by(step) {
        if x > max {
            max = x;
        }
    }
    let mut sum = 0.0;
    for x in data.iter_mut().step_by(step) {
        *x = libm::expf(*x - max);
        sum += *x;
    }
    let factor = 1.0 / sum;
    for x in data.iter_mut().step_by(step) {
        *x *= factor;
    }
}
