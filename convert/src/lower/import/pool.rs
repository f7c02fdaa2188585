//! Pools.

use super::call::Call;
use super::conv::{Taps, spatial_axes};
use super::window::{Frame, require_map};
use super::{Operand, Trouble};
use crate::lower::ir::{Activation, Depthwise, Extent, Kind, PoolKind, Window};

/// `MaxPool`.
pub fn max_pool(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    let frame = frame(call, &x)?;
    call.ignore(&["storage_order"]);
    let dilations = frame.dilations();
    if Taps::new(&frame).is_dilated() {
        let found = format!("dilations = [{}, {}]", dilations.0, dilations.1);
        return Err(Trouble::advise(found, "a .nk max pool looks at neighbours", "use dilations of 1"));
    }
    let (window, extent) = frame.window(x.extent, x.extent.c)?;
    Ok(push(call, PoolKind::Max, window, &x, extent))
}

/// `AveragePool`: a .nk average counts only elements inside the map. Where the model counts padding too, the sum over the window
/// has constant weights.
pub fn average_pool(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    let frame = frame(call, &x)?;
    let counts_padding = call.int("count_include_pad", 0)? != 0 && frame.is_padded();
    let taps = Taps::new(&frame);
    let (window, extent) = frame.window(x.extent, x.extent.c)?;
    if !counts_padding && !taps.is_dilated() {
        return Ok(push(call, PoolKind::Average, window, &x, extent));
    }
    if frame.overhangs()? {
        let found = "ceil_mode = 1 and count_include_pad = 1 with windows that reach past the padding".to_string();
        return Err(Trouble::refuse(found, "the divisor would change from window to window"));
    }
    if !counts_padding && frame.is_padded() {
        let found = "dilations with padding that is not counted".to_string();
        return Err(Trouble::refuse(found, "the divisor would change from window to window"));
    }
    let mut kernel = vec![0.0; window.area()];
    taps.each().for_each(|(_, at)| kernel[at] = 1.0 / taps.count() as f64);
    let kind = Kind::Depthwise(Depthwise {
        window,
        weights: kernel.repeat(x.extent.c),
        bias: vec![0.0; x.extent.c],
        activation: Activation::None,
        quant: None,
    });
    let view = view(&x, extent);
    Ok(call.push_rewritten(kind, &[&x], (extent, view), "average with a constant divisor as a depthwise convolution"))
}

/// `GlobalMaxPool`.
pub fn global_max_pool(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    Ok(push_global(call, PoolKind::Max, &x))
}

/// `GlobalAveragePool`.
pub fn global_average_pool(call: &mut Call<'_, '_>) -> Result<Operand, Trouble> {
    let x = call.operand(0)?;
    require_map(&x)?;
    Ok(push_global(call, PoolKind::Average, &x))
}

fn push_global(call: &mut Call<'_, '_>, kind: PoolKind, x: &Operand) -> Operand {
    let (window, extent) = whole_map(x.extent);
    push(call, kind, window, x, extent)
}

/// The window over a whole map and the extent of the result.
pub fn whole_map(input: Extent) -> (Window, Extent) {
    let window = Window { kernel: (input.h, input.w), stride: 1, before: (0, 0) };
    (window, Extent { h: 1, w: 1, ..input })
}

fn frame(call: &mut Call<'_, '_>, x: &Operand) -> Result<Frame, Trouble> {
    let frame = Frame::read(call, x, None)?;
    Ok(frame.rounded_up(call.int("ceil_mode", 0)? != 0))
}

fn push(call: &mut Call<'_, '_>, kind: PoolKind, window: Window, x: &Operand, extent: Extent) -> Operand {
    call.push(Kind::Pool(kind, window), &[x], extent, view(x, extent))
}

fn view(x: &Operand, extent: Extent) -> crate::lower::view::View {
    spatial_axes(x).into_iter().fold(x.view.clone(), |view, (dim, axis)| view.with_axis(dim, axis, extent))
}
