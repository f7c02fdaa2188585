//! CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED.

use super::{Call, Translated, exact};
use crate::lower::import::Trouble;
use crate::lower::ir::{Activation, Conv, Depthwise, Extent, Kind, Quant, Window};
use crate::tensor::ElementType;
use crate::tflite::interpret::Axis;
use crate::tflite::model::{FusedActivation, Sliding};

/// Most elements of weights that a form with more zeros may have.
const MAX_WEIGHTS: usize = 1 << 22;

/// A convolution; its weights are `[filter][row][column][channel]` as in memory.
pub fn conv_2d(call: &mut Call<'_, '_, '_>, sliding: Sliding) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.map_extent(input)?;
    let [filters, rows, columns, channels] = weight_shape(call, 4)?[..] else { return Err(unfit_weights(call)) };
    if channels != extent.c {
        return Err(Trouble::advise(
            format!("{channels} channels of weights on a map of {}", extent.c),
            "a .nk convolution reads all channels",
            "use a convolution without groups",
        ));
    }
    let axes = axes(sliding, (rows, columns), extent)?;
    let Parts { weights, bias, activation, quant, range } = parts(call, filters, sliding.activation)?;
    let weights = dilate(&weights, axes, channels)?;
    let conv = Conv { window: window(axes)?, weights, bias, activation, is_dense: false, quant };
    let output = Extent { h: axes[0].output, w: axes[1].output, c: filters, ..extent };
    Ok(call.push(Kind::Conv(conv), &[input], output, range))
}

/// A convolution of each channel by itself; with several kernels for a channel, a convolution with zeros for the others.
pub fn depthwise_conv_2d(call: &mut Call<'_, '_, '_>, sliding: Sliding) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.map_extent(input)?;
    let [1, rows, columns, filters] = weight_shape(call, 4)?[..] else { return Err(unfit_weights(call)) };
    let multiplier = filters / extent.c;
    if multiplier * extent.c != filters {
        return Err(unfit_weights(call));
    }
    let axes = axes(sliding, (rows, columns), extent)?;
    let Parts { weights, bias, activation, quant, range } = parts(call, filters, sliding.activation)?;
    let area = rows * columns;
    let output = Extent { h: axes[0].output, w: axes[1].output, c: filters, ..extent };
    // `[row][column][filter]` in the file.
    let of_filter = |filter: usize| weights.iter().skip(filter).step_by(filters).copied();
    if multiplier == 1 {
        let weights: Vec<f64> = (0..filters).flat_map(of_filter).collect();
        let weights = dilate(&weights, axes, 1)?;
        let conv = Depthwise { window: window(axes)?, weights, bias, activation, quant };
        return Ok(call.push(Kind::Depthwise(conv), &[input], output, range));
    }
    let mut full = zeros(filters.saturating_mul(area).saturating_mul(extent.c))?;
    for filter in 0..filters {
        for (tap, weight) in of_filter(filter).enumerate() {
            full[(filter * area + tap) * extent.c + filter / multiplier] = weight;
        }
    }
    let weights = dilate(&full, axes, extent.c)?;
    let conv = Conv { window: window(axes)?, weights, bias, activation, is_dense: false, quant };
    let result = call.push(Kind::Conv(conv), &[input], output, range);
    Ok(call.rewritten(result, "several kernels for each channel as a convolution with zeros"))
}

/// A matrix product: of the whole map, or of each pixel.
pub fn fully_connected(call: &mut Call<'_, '_, '_>, activation: FusedActivation) -> Result<Translated, Trouble> {
    let input = call.operand(0)?;
    let extent = call.extent(input);
    let [units, features] = weight_shape(call, 2)?[..] else { return Err(unfit_weights(call)) };
    let is_whole = features == extent.elements();
    if !is_whole && features != extent.c {
        let found = format!("{features} features of weights on a row of {}", extent.elements());
        return Err(Trouble::refuse(found, "a matrix product reads a whole row, or the channels of each pixel"));
    }
    let Parts { weights, bias, activation, quant, range } = parts(call, units, activation)?;
    let kernel = if is_whole { (extent.h, extent.w) } else { (1, 1) };
    let window = Window { kernel, ..Window::POINT };
    let output = if is_whole { Extent { h: 1, w: 1, c: units, ..extent } } else { Extent { c: units, ..extent } };
    let conv = Conv { window, weights, bias, activation, is_dense: is_whole, quant };
    Ok(call.push(Kind::Conv(conv), &[input], output, range))
}

/// What an operator with weights has besides its geometry.
struct Parts {
    weights: Vec<f64>,
    bias: Vec<f64>,
    activation: Activation,
    quant: Option<Quant>,
    range: (i32, i32),
}

fn parts(call: &Call<'_, '_, '_>, filters: usize, fused: FusedActivation) -> Result<Parts, Trouble> {
    let (weights, bias) = (call.tensor(1).ok_or_else(|| super::missing(1))?, call.tensor(2));
    if bias.is_some_and(|bias| bias.elements() != filters) {
        let found = format!("a bias of {} elements", bias.map_or(0, |bias| bias.elements()));
        return Err(Trouble::refuse(found, "there must be one for each filter"));
    }
    if !call.is_int8() {
        let read = |tensor: &crate::tflite::model::Tensor<'_>| {
            tensor.real().ok_or_else(|| constant_expected(tensor.name, "float32, or int8 with scales"))
        };
        let bias = bias.map_or_else(|| Ok(vec![0.0; filters]), read)?;
        let activation = exact::plain(fused)?;
        return Ok(Parts { weights: read(weights)?, bias, activation, quant: None, range: (-128, 127) });
    }
    let codes = weights.int8().ok_or_else(|| constant_expected(weights.name, "int8"))?;
    let bias = match bias {
        Some(tensor) => tensor.int32().ok_or_else(|| constant_expected(tensor.name, "int32"))?,
        None => vec![0; filters],
    };
    let mut quant = quant(call, filters)?;
    let (activation, range) = exact::clamp(fused, quant.output)?;
    Ok(Parts {
        weights: without_zero_point(&codes, &mut quant).into_iter().map(f64::from).collect(),
        bias: bias.into_iter().map(f64::from).collect(),
        activation,
        quant: Some(quant),
        range,
    })
}

/// The codes around zero, as convolutions need them, where all of them are int8 still.
fn without_zero_point(codes: &[i8], quant: &mut Quant) -> Vec<i8> {
    let shifted = codes.iter().map(|&code| i8::try_from(i32::from(code) - quant.weight_zero_point).ok());
    match shifted.collect() {
        Some(shifted) => {
            quant.weight_zero_point = 0;
            shifted
        }
        None => codes.to_vec(),
    }
}

/// Scales and zero points around an operator with int8 weights.
fn quant(call: &Call<'_, '_, '_>, filters: usize) -> Result<Quant, Trouble> {
    let weights = call.tensor(1).filter(|tensor| tensor.kind == Some(ElementType::I8)).and_then(|tensor| tensor.quant);
    let Some(weights) = weights.filter(|quant| [1, filters].contains(&quant.scales.len())) else {
        let found = "int8 weights without one scale, or one for each filter".to_owned();
        return Err(Trouble::refuse(found, "codes mean nothing without them"));
    };
    let zeros: Vec<Option<i32>> = (0..weights.scales.len()).map(|index| weights.zero_point(index)).collect();
    let is_matrix = call.tensor(1).is_some_and(|tensor| tensor.shape.len() == 2);
    let zero = zeros[0].filter(|zero| (-128..=127).contains(zero) && (*zero == 0 || is_matrix && zeros.len() == 1));
    let Some(weight_zero_point) = zero.filter(|&zero| zeros.iter().all(|other| *other == Some(zero))) else {
        let found = format!("weights with zero points {:?}", &zeros[..zeros.len().min(4)]);
        return Err(Trouble::refuse(found, "they must be 0; a matrix of one scale may have another"));
    };
    Ok(Quant {
        input: call.params(call.tensor(0))?,
        scales: weights.scales.iter().collect(),
        weight_zero_point,
        output: call.params(Some(call.output()))?,
    })
}

fn constant_expected(name: &str, kind: &str) -> Trouble {
    let found = format!("\"{name}\" is no constant of type {kind}");
    Trouble::refuse(found, "weights and biases are read from the file")
}

fn weight_shape(call: &Call<'_, '_, '_>, rank: usize) -> Result<Vec<usize>, Trouble> {
    let shape = call.tensor(1).map(|tensor| tensor.shape.clone()).unwrap_or_default();
    if shape.len() == rank && !shape.contains(&0) { Ok(shape) } else { Err(unfit_weights(call)) }
}

fn unfit_weights(call: &Call<'_, '_, '_>) -> Trouble {
    let shape = |position: usize| call.tensor(position).map(|tensor| tensor.shape.clone()).unwrap_or_default();
    let found = format!("weights of shape {:?} for an input of shape {:?}", shape(1), shape(0));
    Trouble::refuse(found, "they do not fit each other")
}

/// Rows and columns of a window.
pub fn axes(sliding: Sliding, kernel: (usize, usize), extent: Extent) -> Result<[Axis; 2], Trouble> {
    let axis = |size, kernel, stride, dilation| Axis::new(sliding.padding, size, (kernel, stride, dilation));
    let rows = axis(extent.h, kernel.0, sliding.stride.0, sliding.dilation.0);
    let columns = axis(extent.w, kernel.1, sliding.stride.1, sliding.dilation.1);
    rows.zip(columns).map(|(rows, columns)| [rows, columns]).ok_or_else(|| {
        let found = format!("{sliding:?} of kernel {kernel:?} on {}x{}", extent.h, extent.w);
        Trouble::refuse(found, "the window does not fit the map")
    })
}

/// The window over the map with one stride; an axis with a single result takes that of the other.
pub fn window([rows, columns]: [Axis; 2]) -> Result<Window, Trouble> {
    let stride = match (rows.output, columns.output) {
        (1, 1) => 1,
        (1, _) => columns.stride,
        (_, 1) => rows.stride,
        _ if rows.stride == columns.stride => rows.stride,
        _ => {
            let found = format!("strides {} and {}", rows.stride, columns.stride);
            return Err(Trouble::advise(found, "a .nk layer has one stride for both axes", "use the same stride"));
        }
    };
    let covered = |axis: Axis| (axis.kernel - 1) * axis.dilation + 1;
    Ok(Window { kernel: (covered(rows), covered(columns)), stride, before: (rows.before, columns.before) })
}

/// Kernels with zeros between their taps, where those do not lie next to each other.
fn dilate(weights: &[f64], [rows, columns]: [Axis; 2], depth: usize) -> Result<Vec<f64>, Trouble> {
    if (rows.dilation, columns.dilation) == (1, 1) {
        return Ok(weights.to_vec());
    }
    let covered = |axis: Axis| (axis.kernel - 1) * axis.dilation + 1;
    let (from, width) = (rows.kernel * columns.kernel * depth, covered(columns));
    let to = covered(rows).saturating_mul(width).saturating_mul(depth);
    let mut dilated = zeros((weights.len() / from).saturating_mul(to))?;
    for (source, target) in weights.chunks_exact(from).zip(dilated.chunks_exact_mut(to)) {
        for (tap, channels) in source.chunks_exact(depth).enumerate() {
            let (row, column) = (tap / columns.kernel * rows.dilation, tap % columns.kernel * columns.dilation);
            target[(row * width + column) * depth..][..depth].copy_from_slice(channels);
        }
    }
    Ok(dilated)
}

/// Room for weights that are mostly zeros.
pub fn zeros(elements: usize) -> Result<Vec<f64>, Trouble> {
    if elements > MAX_WEIGHTS {
        let found = format!("{elements} weights with the zeros that its form needs");
        return Err(Trouble::refuse(found, &format!("at most {MAX_WEIGHTS} are made")));
    }
    Ok(vec![0.0; elements])
}
