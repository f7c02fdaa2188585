//! One row times packed weights, to the bit as with the weights in place.
//!
//! In place, the sum of an output is kept in lanes: lane `l` has the products of the elements `k` with `k % lanes == l`. Panels
//! keep the same lanes apart, each for all outputs at once, so that the weights pass as one stream of whole lines of
//! the cache and nothing but the lanes is added up in the end.

/// The sum of the lanes of each output, in the order of [`tile::add_up`](crate::kernels::portable::tile::add_up).
#[inline(always)]
pub(super) fn add_up<const P: usize, const L: usize>(lanes: &[[f32; P]; L]) -> [f32; P] {
    let mut quads = [[0.0; P]; 4];
    let (first, others) = lanes.split_at(4);
    quads.copy_from_slice(first);
    for lanes in others.chunks(4) {
        quads.iter_mut().zip(lanes).for_each(|(sums, lane)| add(sums, lane));
    }
    let [mut a, mut b, c, d] = quads;
    add(&mut a, &c);
    add(&mut b, &d);
    add(&mut a, &b);
    a
}

#[inline(always)]
fn add<const P: usize>(sums: &mut [f32; P], others: &[f32; P]) {
    for (sum, other) in sums.iter_mut().zip(others) {
        *sum += other;
    }
}

/// Adds the products of the elements that do not fill the lanes, one after the other.
#[inline(always)]
pub(super) fn add_rest<const P: usize>(rest: &[f32], weights: &[[f32; P]], sums: &mut [f32; P]) {
    for (x, weights) in rest.iter().zip(weights) {
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum += x * weight;
        }
    }
}
