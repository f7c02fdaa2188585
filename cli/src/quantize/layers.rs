//! The table of layers.

use netkit::format::kind_name;
use netkit::format::quant::QuantParams;
use netkit_quantize::assemble::Quantized;
use netkit_quantize::calibrate::Values;
use netkit_quantize::distribution::Distribution;
use netkit_quantize::evaluate::Closeness;
use netkit_quantize::form::FormLayer;
use serde::Serialize;

/// A layer's result, or what it keeps inside.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) layer: usize,
    pub(super) kind: &'static str,
    /// What of the layer it is, such as a convolution of a block; null for its result.
    pub(super) part: Option<String>,
    /// Least and largest float value that was seen.
    pub(super) range: [f32; 2],
    pub(super) scale: f32,
    pub(super) zero_point: i32,
    /// Share of the float values that int8 clips; null where nothing is compared.
    pub(super) clipped: Option<f64>,
    /// Signal-to-quantisation-noise ratio in decibels; null where nothing is compared, or nothing differs.
    pub(super) sqnr_db: Option<f64>,
    /// Whether the library computes this layer along with the next one, so that only that can be compared.
    pub(super) is_merged: bool,
    #[serde(skip)]
    pub(super) has_weights: bool,
}

/// All rows, and the closeness of the last layer.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    pub(super) input: QuantParams,
    pub(super) last: Option<Closeness>,
}

impl Table {
    pub(super) fn new(
        form: &[FormLayer],
        values: &Values,
        quantized: &Quantized,
        closeness: &[Option<Closeness>],
    ) -> Self {
        let mut rows = Vec::new();
        for (index, layer) in form.iter().enumerate() {
            let (seen, made) = (&values.layers[index], &quantized.layers[index]);
            let row = |part: Option<String>, seen: &Distribution, params: QuantParams, close: Option<Closeness>| Row {
                layer: index,
                kind: kind_name(layer.record.kind()).unwrap_or("unknown"),
                is_merged: part.is_none() && close.is_none(),
                part,
                range: [seen.low(), seen.high()],
                scale: params.scale,
                zero_point: params.zero_point,
                clipped: close.map(|close| close.clipped_share()),
                sqnr_db: close.and_then(|close| close.decibels()),
                has_weights: !layer.linears.is_empty(),
            };
            for ((linear, seen), (entry, ..)) in layer.linears.iter().zip(&seen.inner).zip(&made.linears) {
                let part = match linear.role {
                    "" => format!("before {}", layer.activation().name()),
                    role => role.to_owned(),
                };
                rows.push(row(Some(part), seen, entry.output, None));
            }
            rows.push(row(None, &seen.output, made.output, closeness[index]));
        }
        Self { rows, input: quantized.input, last: closeness.last().copied().flatten() }
    }
}

/// The result with the most noise, of those that weights make.
pub(super) fn worst(rows: &[Row]) -> Option<&Row> {
    let noisy = rows.iter().filter(|row| row.has_weights && row.sqnr_db.is_some());
    noisy.min_by(|a, b| a.sqnr_db.partial_cmp(&b.sqnr_db).unwrap_or(std::cmp::Ordering::Equal))
}
