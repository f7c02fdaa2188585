//! Depthwise convolution: one output after another.

use crate::kernels::DepthwiseConv2d;
use crate::kernels::reference::epilogue::finish;
use crate::tensor::Window;

/// No scratch.
pub const fn scratch_elems(_window: &Window) -> u32 {
    0
}

/// [`Kernels::depthwise_conv2d`](crate::kernels::Kernels::depthwise_conv2d).
pub fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    let window = &args.window;
    let (channels, kernel_w) = (window.in_c as usize, window.kernel_w as usize);
    let row_elems = window.in_w as usize * channels;
    let elems = window.kernel_h as usize * kernel_w;
    let mut outputs = args.output.iter_mut();
    for y in 0..window.out_h as usize {
        let rows = window.rows_at(y);
        for x in 0..window.out_w as usize {
            let columns = window.columns_at(x);
            for channel in 0..channels {
                let mut sum = 0.0;
                for row in 0..rows.count {
                    let taps = channel * elems + (rows.first + row) * kernel_w + columns.first;
                    let taps = args.weights.get(taps..).and_then(|rest| rest.get(..columns.count)).unwrap_or_default();
                    let mut at = (rows.input + row) * row_elems + columns.input * channels + channel;
                    for weight in taps {
                        let Some(x) = args.input.get(at) else { break };
                        sum += x * weight;
                        at += channels;
                    }
                }
                let Some(output) = outputs.next() else { return };
                *output = finish(sum, channel, *output, &args.epilogue);
            }
        }
    }
}
