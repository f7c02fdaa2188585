//! Global response normalisation.

use crate::kernels::Grn;

/// The squares of a channel are added up in f64: a map has thousands of pixels, and f32 would lose the small ones. The
/// norms and their mean are f32.
#[expect(clippy::needless_range_loop, reason = "the index is the c of the formula")]
pub fn grn(args: &mut Grn<'_>) {
    let channels = args.gamma.len();
    if channels == 0 {
        return;
    }
    let pixels = args.data.len() / channels;
    let norms = &mut args.scratch[..channels];
    let mut sum = 0.0;
    for c in 0..channels {
        let mut squares = 0.0f64;
        for p in 0..pixels {
            let x = f64::from(args.data[p * channels + c]);
            squares += x * x;
        }
        norms[c] = libm::sqrtf(squares as f32);
        sum += norms[c];
    }
    let mean = sum / channels as f32;
    for p in 0..pixels {
        for c in 0..channels {
            let x = args.data[p * channels + c];
            let response = norms[c] / (mean + args.eps);
            args.data[p * channels + c] = args.gamma[c] * (x * response) + args.beta[c] + x;
        }
    }
}
