//! Dense layers, and 1x1 convolutions as a matrix product.

use super::epilogue::finish;
use crate::kernels::Dense;

/// Each sum starts from 0 and runs over the input features in order. No rows, no work.
pub fn dense(args: &mut Dense<'_>) {
    if args.rows == 0 {
        return;
    }
    let in_features = args.input.len() / args.rows;
    let out_features = args.epilogue.bias.len();
    for r in 0..args.rows {
        for o in 0..out_features {
            let mut acc = 0.0;
            for i in 0..in_features {
                acc += args.input[r * in_features + i] * args.weights[o * in_features + i];
            }
            let at = r * args.columns.pitch + args.columns.first + o;
            args.output[at] = finish(acc, o, args.output[at], &args.epilogue);
        }
    }
}
