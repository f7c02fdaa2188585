//! Dense layers, and 1x1 convolutions as a matrix product.

use crate::kernels::int8::Dense;

/// No rows, no work. Sums wrap; a loaded model never gets there.
pub fn dense(args: &mut Dense<'_>) {
    if args.rows == 0 {
        return;
    }
    let requantize = args.requantize;
    let in_features = args.input.len() / args.rows;
    let out_features = requantize.bias.len();
    for r in 0..args.rows {
        for o in 0..out_features {
            let mut acc = 0i32;
            for i in 0..in_features {
                let input = i32::from(args.input[r * in_features + i]) - requantize.input_zero_point;
                let weight = i32::from(args.weights[o * in_features + i]) - requantize.weight_zero_point;
                acc = acc.wrapping_add(input * weight);
            }
            args.output[r * out_features + o] = requantize.output(o, acc);
        }
    }
}
