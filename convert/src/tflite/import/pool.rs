//! AVERAGE_POOL_2D, MAX_POOL_2D, and MEAN over height and width.

use netkit::format::quant::QuantParams;

use super::conv::{axes, window, zeros};
use super::{Call, Translated, exact};
use crate::lower::import::Trouble;
use crate::lower::ir::{Activation, Affine, Depthwise, Extent, Kind, PoolKind, Quant, Window};
use crate::tflite::interpret;
use crate::tflite::model::{FusedActivation, Sliding};

/// Means of windows, which count only what lies on the map.
pub fn average(call: &mut Call<'_, '_, '_>, sliding: Sliding) -> Result<Translated, Trouble> {
    pool(call, sliding, PoolKind::Average)
}

/// Largest elements of windows.
pub fn largest(call: &mut Call<'_, '_, '_>, sliding: Sliding) -> Result<Translated, Trouble> {
    pool(call, sliding, PoolKind::Max)
}

fn pool(call: &mut Call<'_, '_, '_>, sliding: Sliding, kind: PoolKind) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.map_extent(input)?;
    let axes = axes(sliding, sliding.kernel, extent)?;
    let output = Extent { h: axes[0].output, w: axes[1].output, ..extent };
    let activation = if call.is_int8() {
        let range = clamp_of_codes(call, input, sliding.activation)?;
        let result = call.push(Kind::Pool(kind, window(axes)?), &[input], output, range);
        return Ok(result);
    } else {
        exact::plain(sliding.activation)?
    };
    let result = call.push(Kind::Pool(kind, window(axes)?), &[input], output, input.range);
    if activation == Activation::None {
        return Ok(result);
    }
    let affine = Affine { scale: vec![1.0; extent.c], shift: vec![0.0; extent.c], activation };
    Ok(call.push(Kind::Affine(affine), &[result], output, input.range))
}

/// Codes that a pool can give: it only passes them on, so that a clamp must be without effect.
fn clamp_of_codes(
    call: &Call<'_, '_, '_>,
    input: Translated,
    activation: FusedActivation,
) -> Result<(i32, i32), Trouble> {
    let (from, to) = (call.params(call.tensor(0))?, call.params(Some(call.output()))?);
    let (least, most) = exact::clamp(activation, to)?.1;
    if from == to && least <= input.range.0 && input.range.1 <= most {
        return Ok(input.range);
    }
    let found = format!("codes {:?} of {from:?} clamped to {least} to {most} of {to:?}", input.range);
    Err(Trouble::advise(found, "a .nk pool keeps scale, zero point and codes", "put the activation before the pool"))
}

/// The mean of each channel. In int8, a depthwise convolution has the rounding of this operator.
pub fn mean(call: &mut Call<'_, '_, '_>) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.map_extent(input)?;
    let mut axes: Vec<i32> = call.tensor(1).and_then(|tensor| tensor.int32()).unwrap_or_default();
    axes.iter_mut().filter(|axis| **axis < 0).for_each(|axis| *axis += 4);
    axes.sort_unstable();
    if axes != [1, 2] || extent.n != 1 {
        let found = format!("axes {axes:?} of shape {:?}", call.tensor(0).map(|tensor| &tensor.shape));
        return Err(Trouble::refuse(found, "only the mean over height and width has a form in a .nk model"));
    }
    let window = Window { kernel: (extent.h, extent.w), ..Window::POINT };
    let output = Extent { h: 1, w: 1, ..extent };
    if !call.is_int8() {
        return Ok(call.push(Kind::Pool(PoolKind::Average, window), &[input], output, input.range));
    }
    let (from, to) = (call.params(call.tensor(0))?, call.params(Some(call.output()))?);
    let factor = interpret::mean_factor(from.scale, to.scale, window.area());
    let most_elements = i32::MAX as usize >> 16;
    let area = i32::try_from(window.area().min(most_elements)).unwrap_or(0);
    let sums = (area * (input.range.0 - from.zero_point), area * (input.range.1 - from.zero_point));
    let form = exact::mean(factor, sums, from.scale, to.scale).filter(|_| window.area() < most_elements);
    let Some(form) = form else {
        let found = format!("a mean of {} elements from {from:?} to {to:?}", window.area());
        return Err(Trouble::advise(
            found,
            "no layer has its rounding for numbers of both signs",
            "put a RELU before it, or use AVERAGE_POOL_2D",
        ));
    };
    let mut weights = zeros(window.area().saturating_mul(extent.c))?;
    weights.fill(form.weight.into());
    let quant = Quant {
        input: QuantParams { scale: form.input_scale, ..from },
        scales: vec![form.weight_scale],
        weight_zero_point: 0,
        output: to,
    };
    let bias = vec![form.bias.into(); extent.c];
    let conv = Depthwise { window, weights, bias, activation: Activation::None, quant: Some(quant) };
    let result = call.push(Kind::Depthwise(conv), &[input], output, (-128, 127));
    Ok(call.rewritten(result, "mean as a depthwise convolution whose weights are all the same, for its rounding"))
}
