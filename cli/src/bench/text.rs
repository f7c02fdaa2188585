//! The report for people.

use std::io::Write;

use netkit::text::Dims;

use super::samples::time;
use super::{LayerReport, Report};
use crate::failure::Failure;
use crate::output::{Output, STRONG, escaped};

/// Characters of the longest bar.
const BAR: f64 = 20.0;

pub(super) fn print(report: &Report<'_>, out: &mut Output) -> Result<(), Failure> {
    let total = &report.total;
    let (dtype, unit) = if report.quantized { ("int8", "GOP/s") } else { ("float32", "GFLOP/s") };
    writeln!(out, "{}: {dtype}, {} kernels, one thread\n", escaped(report.name), report.kernels)?;
    writeln!(out, "  median  {STRONG}{}{STRONG:#}{}", time(total.median_ns), speed(report.gops, unit))?;
    writeln!(out, "  p95     {}", time(total.p95_ns))?;
    writeln!(out, "  min     {}", time(total.min_ns))?;
    writeln!(out, "  runs    {}", total.runs)?;
    match &report.layers {
        Some(layers) => per_layer(layers, unit, out),
        None => Ok(()),
    }
}

/// `  (19.4 GFLOP/s)` where there is something to compute.
fn speed(gops: Option<f64>, unit: &str) -> String {
    gops.map_or(String::new(), |gops| format!("  ({gops:.1} {unit})"))
}

fn per_layer(layers: &[LayerReport], unit: &str, out: &mut Output) -> Result<(), Failure> {
    writeln!(out, "\nLayers, median times:")?;
    let most = layers.iter().map(|layer| layer.share).fold(0.0, f64::max);
    let row = |layer: &LayerReport| {
        vec![
            format!("[{}]", layer.index),
            layer.kind.to_owned(),
            Dims(&layer.output_shape).to_string(),
            layer.macs.to_string(),
            if layer.merged_into.is_some() { "-".to_owned() } else { time(layer.median_ns) },
            format!("{:.1} %", 100.0 * layer.share),
            layer.gops.map_or("-".to_owned(), |gops| format!("{gops:.1}")),
            match layer.merged_into {
                Some(index) => format!("part of [{index}]"),
                None => bar(layer.share / most.max(f64::MIN_POSITIVE)),
            },
        ]
    };
    let header = ["", "kind", "output", "MACs", "time", "share", unit, ""];
    out.table(&header, layers.iter().map(row).collect())
}

fn bar(part: f64) -> String {
    "▇".repeat((BAR * part).round() as usize)
}
