//! Functions of two elements under broadcasting.

use super::index::Walk;

/// Applies a function to pairs of elements of two tensors that are broadcast to `shape`.
pub(super) fn combine<A: Copy, B: Copy, T>(
    (a, a_shape): (&[A], &[usize]),
    (b, b_shape): (&[B], &[usize]),
    shape: &[usize],
    function: impl Fn(A, B) -> T,
) -> Vec<T> {
    if a_shape == shape && b_shape == shape {
        return a.iter().zip(b).map(|(&a, &b)| function(a, b)).collect();
    }
    if a_shape == shape && b.len() == 1 {
        return a.iter().map(|&a| function(a, b[0])).collect();
    }
    let indices = Walk::broadcast(a_shape, shape).zip(Walk::broadcast(b_shape, shape));
    indices.map(|(i, j)| function(a[i], b[j])).collect()
}
