//! Products of inputs with the weights of several filters.

/// Filters at a time.
pub(super) const FILTERS: usize = 4;
/// Inputs at a time.
const INPUTS: usize = 4;

/// Adds the products of `input` with the weights of the filters from the first of `weights` on, `pitch` apart. Filters that are
/// not there, or shorter than the input, add nothing.
#[inline(never)]
pub(super) fn add_products(input: &[f32], weights: &[f32], pitch: usize, sums: &mut [f32; FILTERS]) {
    let mut filters = [&[][..]; FILTERS];
    for (i, filter) in filters.iter_mut().enumerate() {
        *filter = weights.get(i * pitch..).and_then(|rest| rest.get(..input.len())).unwrap_or_default();
    }
    let [a, b, c, d] = filters;
    if d.is_empty() {
        for (sum, filter) in sums.iter_mut().zip(filters) {
            input.iter().zip(filter).for_each(|(x, w)| *sum += x * w);
        }
        return;
    }
    let mut totals = *sums;
    let (blocks, rest) = input.as_chunks::<INPUTS>();
    let mut add = |x: f32, w: [f32; FILTERS]| {
        for (total, w) in totals.iter_mut().zip(w) {
            *total += x * w;
        }
    };
    let (a, b, c, d) =
        (a.as_chunks::<INPUTS>(), b.as_chunks::<INPUTS>(), c.as_chunks::<INPUTS>(), d.as_chunks::<INPUTS>());
    for ((((x, a), b), c), d) in blocks.iter().zip(a.0).zip(b.0).zip(c.0).zip(d.0) {
        for i in 0..INPUTS {
            add(x[i], [a[i], b[i], c[i], d[i]]);
        }
    }
    for ((((x, a), b), c), d) in rest.iter().zip(a.1).zip(b.1).zip(c.1).zip(d.1) {
        add(*x, [*a, *b, *c, *d]);
    }
    *sums = totals;
}
