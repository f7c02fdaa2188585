//! Average pooling.

use super::At;
use super::window::window_of;
use crate::Error;
use crate::program::pointer;
use crate::source::Source;

/// Most codes minus a zero point, 255 each, whose sum and half their number fit 32 bits.
const MOST_TAPS: u64 = i32::MAX as u64 / 256;

pub(super) fn emit(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    source.need("avg_pool2d");
    let (input, output) = (pointer(&at.step.input), pointer(&at.step.output));
    let window = window_of(at, source);
    if !at.program.is_int8() {
        return source.call("nk_avg_pool2d", &[&window, &input, &output]);
    }
    let w = &at.step.window;
    let taps = u64::from(w.kernel_h.min(w.in_h)) * u64::from(w.kernel_w.min(w.in_w));
    if taps > MOST_TAPS {
        return Err(Error::PoolTooLarge { layer: at.step.layer, taps, most: MOST_TAPS });
    }
    let zero_point = at.step.quant.input_zero_point.to_string();
    source.call("nk_avg_pool2d", &[&window, &zero_point, &input, &output])
}
