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
    let dtype = if report.quantized { "int8" } else { "float32" };
    writeln!(out, "{}: {dtype}, {} kernels, one thread\n", escaped(report.name), report.kernels)?;
    writeln!(out, "  median  {STRONG}{}{STRONG:#}{}", time(total.median_ns), speed(report.macs, total.median_ns))?;
    writeln!(out, "  p95     {}", time(total.p95_ns))?;
    writeln!(out, "  min     {}", time(total.min_ns))?;
    writeln!(out, "  runs    {}", total.runs)?;
    match &report.layers {
        Some(layers) => per_layer(layers, out),
        None => Ok(()),
    }
}

/// `  (9.68 MACs/ns)` where there is something to compute.
fn speed(macs: u64, ns: u64) -> String {
    if macs == 0 { String::new() } else { format!("  ({:.2} MACs/ns)", macs as f64 / ns.max(1) as f64) }
}

fn per_layer(layers: &[LayerReport], out: &mut Output) -> Result<(), Failure> {
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
            layer.macs_per_ns.map_or("-".to_owned(), |speed| format!("{speed:.2}")),
            match layer.merged_into {
                Some(index) => format!("part of [{index}]"),
                None => bar(layer.share / most.max(f64::MIN_POSITIVE)),
            },
        ]
    };
    let header = ["", "kind", "output", "MACs", "time", "share", "MACs/ns", ""];
    out.table(&header, layers.iter().map(row).collect())
}

fn bar(part: f64) -> String {
    "▇".repeat((BAR * part).round() as usize)
}
