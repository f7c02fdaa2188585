//! Register tiles: the inner loops of products.
//!
//! ```text
//! dot    weights in place [out][k]: R rows x 4 outputs, both operands contiguous in k
//! outer  weights widened and transposed in pairs [k / 2][out][2], for short k: 4 rows x 8 outputs
//! ```
//!
//! Inputs are i16 with the zero point subtracted. Sums wrap, so their order does not matter.

/// Outputs of a `dot` tile.
pub(in crate::kernels) const OUTPUTS: usize = 4;
/// Outputs next to each other in a transposed panel of weights.
pub(in crate::kernels) const PANEL: usize = 8;
/// Rows of a tile over a panel.
pub(in crate::kernels) const PANEL_ROWS: usize = 4;

/// Weights of two neighbouring k of each output of a panel.
pub(in crate::kernels) type Pairs = [[i16; 2]; PANEL];

/// The inner loops as one level compiles them.
pub(in crate::kernels) trait InnerLoops {
    /// Whether the transposed form pays: where there are vectors.
    const HAS_OUTER: bool;

    /// `sums[r][o]` over k of `input[r][k] * weights[o][k]`; all slices have one length.
    fn dot<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R];

    /// `sums[r][o]` over k of `input[r][k] * panel[k][o]`; all slices have one length.
    fn outer(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS];
}

/// For targets without vectors of integers.
#[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "x86-64 always has vectors"))]
pub(in crate::kernels) struct Scalar;

impl InnerLoops for Scalar {
    const HAS_OUTER: bool = false;

    #[inline(never)]
    fn dot<const R: usize>(input: [&[i16]; R], weights: [&[i8]; OUTPUTS]) -> [[i32; OUTPUTS]; R] {
        let mut sums = [[0; OUTPUTS]; R];
        add_rest(&mut sums, input, weights);
        sums
    }

    fn outer(input: [&[[i16; 2]]; PANEL_ROWS], panel: &[Pairs]) -> [[i32; PANEL]; PANEL_ROWS] {
        let mut sums = [[0i32; PANEL]; PANEL_ROWS];
        for (sums, input) in sums.iter_mut().zip(input) {
            for (x, weights) in input.iter().zip(panel) {
                for (sum, w) in sums.iter_mut().zip(weights) {
                    let products = i32::from(x[0]) * i32::from(w[0]) + i32::from(x[1]) * i32::from(w[1]);
                    *sum = sum.wrapping_add(products);
                }
            }
        }
        sums
    }
}

/// Adds `input[r][k] * weights[o][k]` to `sums[r][o]`, one k after the other.
#[inline(always)]
pub(in crate::kernels) fn add_rest<const R: usize>(
    sums: &mut [[i32; OUTPUTS]; R],
    input: [&[i16]; R],
    weights: [&[i8]; OUTPUTS],
) {
    let [a, b, c, d] = weights;
    for (sums, input) in sums.iter_mut().zip(input) {
        for ((((&x, &a), &b), &c), &d) in input.iter().zip(a).zip(b).zip(c).zip(d) {
            for (sum, w) in sums.iter_mut().zip([a, b, c, d]) {
                *sum = sum.wrapping_add(i32::from(x) * i32::from(w));
            }
        }
    }
}

/// `len` elements from `start`, or none where the slice is too short (which the planner rules out).
#[inline(always)]
pub(super) fn part<T>(data: &[T], start: usize, len: usize) -> &[T] {
    data.get(start..start + len).unwrap_or_default()
}
