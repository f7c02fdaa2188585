//! Matrix product: each row times four filters at a time.

use super::dot::{FILTERS, add_products};
use crate::kernels::Dense;
use crate::kernels::reference::epilogue::finish;

/// No scratch.
pub const fn scratch_elems(_rows: u32, _in_features: u32, _out_features: u32) -> u32 {
    0
}

/// [`Kernels::dense`](crate::kernels::Kernels::dense).
pub fn dense(args: &mut Dense<'_>) {
    let features = args.input.len().checked_div(args.rows).unwrap_or_default();
    let filters = args.epilogue.bias.len();
    for row in 0..args.rows {
        let input = args.input.get(row * features..).and_then(|rest| rest.get(..features)).unwrap_or_default();
        for first in (0..filters).step_by(FILTERS) {
            let mut sums = [0.0; FILTERS];
            let weights = args.weights.get(first * features..).unwrap_or_default();
            add_products(input, weights, features, &mut sums);
            let outputs = args.output.get_mut(row * args.columns.pitch + args.columns.first + first..);
            for ((filter, output), sum) in (first..filters).zip(outputs.unwrap_or_default()).zip(sums) {
                *output = finish(sum, filter, *output, &args.epilogue);
            }
        }
    }
}
