//! What was done, for people and as JSON (schema netkit.quantize/1).

use std::io::Write;
use std::path::Path;

use netkit::text::General;
use netkit::{MemoryPlan, Model, plan};
use netkit_quantize::assemble::Options;
use netkit_quantize::calibrate::Values;
use netkit_quantize::evaluate::Sample;
use netkit_quantize::range::Method;
use serde::Serialize;

use super::advice::advice;
use super::layers::{Row, Table, worst};
use super::same_classes;
use crate::args::QuantizeArgs;
use crate::failure::{Failure, display};
use crate::input::samples::Samples;
use crate::output::{Output, STRONG, WARN, escaped};

/// Facts in the order in which they become known.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    model: String,
    method: String,
    per_channel: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Input>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Worst>,
    /// Root of the mean squared difference of the outputs, relative to that of the float outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    same_class: Option<Share>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<Accuracy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_cases: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    float: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    int8: Option<Size>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
}

#[derive(Debug, Serialize)]
struct Counts {
    taken: usize,
    total: usize,
}

#[derive(Debug, Serialize)]
struct Input {
    range: [f32; 2],
    scale: f32,
    zero_point: i32,
}

#[derive(Debug, Serialize)]
struct Worst {
    layer: usize,
    kind: &'static str,
    sqnr_db: f64,
    advice: String,
}

/// So many of all.
#[derive(Debug, Serialize)]
struct Share {
    count: usize,
    of: usize,
}

#[derive(Debug, Serialize)]
struct Accuracy {
    float: Share,
    int8: Share,
}

/// What a model takes of flash and memory.
#[derive(Debug, Serialize)]
struct Size {
    file_bytes: usize,
    arena_bytes: usize,
    recommended_arena_bytes: usize,
}

/// The report as one JSON document, with what stopped the work.
#[derive(Serialize)]
pub(super) struct Document<'r> {
    #[serde(flatten)]
    report: &'r Report,
    quantized: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Report {
    pub(super) fn new(args: &QuantizeArgs) -> Self {
        let method = match args.method {
            Method::MinMax => "minmax".to_owned(),
            Method::Percentile(outside) => format!("percentile={}", General((100.0 * (1.0 - outside)) as f32)),
            Method::Mse => "mse".to_owned(),
        };
        let (model, per_channel) = (display(&args.model), !args.per_tensor);
        Self { schema: "netkit.quantize/1", model, method, per_channel, ..Self::default() }
    }

    pub(super) fn samples(&mut self, samples: &Samples) {
        self.samples = Some(Counts { taken: samples.inputs.len(), total: samples.total });
    }

    pub(super) fn layers(&mut self, table: Table, options: Options, values: &Values) {
        let samples = self.samples.as_ref().map_or(0, |samples| samples.taken);
        self.worst = worst(&table.rows).map(|row| Worst {
            layer: row.layer,
            kind: row.kind,
            sqnr_db: row.sqnr_db.unwrap_or_default(),
            advice: advice(row, &values.layers[row.layer].output, options, samples),
        });
        self.output_error = table.last.map(|last| last.relative_error());
        let range = [values.input.low(), values.input.high()];
        self.input = Some(Input { range, scale: table.input.scale, zero_point: table.input.zero_point });
        self.layers = table.rows;
    }

    /// Compares the classes of both models with each other and with labels. Single outputs have no class.
    pub(super) fn classes(&mut self, samples: &[Sample], labels: Option<&[usize]>, float: &Model<'_>) {
        if plan::shapes(float).is_ok_and(|(_, output)| output.c > 1) {
            let count = same_classes(samples).filter(|is_same| *is_same).count();
            self.same_class = Some(Share { count, of: same_classes(samples).count() });
        }
        let right = |labels: &[usize], class: &dyn Fn(&Sample) -> usize| Share {
            count: samples.iter().zip(labels).filter(|(sample, label)| class(sample) == **label).count(),
            of: labels.len(),
        };
        self.accuracy = labels.map(|labels| Accuracy {
            float: right(labels, &|sample| sample.classes.float[0]),
            int8: right(labels, &|sample| sample.classes.int8[0]),
        });
    }

    pub(super) fn cases(&mut self, count: usize) {
        self.test_cases = Some(count);
    }

    pub(super) fn sizes(&mut self, float: &[u8], int8: &[u8]) -> Result<(), netkit::Error> {
        (self.float, self.int8) = (Some(Size::of(float)?), Some(Size::of(int8)?));
        Ok(())
    }

    pub(super) fn written(&mut self, path: &Path) {
        self.written = Some(display(path));
    }

    pub(super) fn document(&self, failure: Option<&Failure>) -> Document<'_> {
        let (refusals, error) = match failure {
            Some(Failure::Unsupported { refusals, .. }) => (refusals.clone(), None),
            Some(failure) => (Vec::new(), Some(failure.message().into_owned())),
            None => (Vec::new(), None),
        };
        Document { report: self, quantized: self.written.is_some(), refusals, error }
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if let Some(Counts { taken, total }) = self.samples {
            let scales = if self.per_channel { "for each channel" } else { "for each tensor" };
            let (model, method) = (escaped(&self.model), &self.method);
            writeln!(output, "{model}: {taken} of {total} samples, ranges by {method}, a weight scale {scales}")?;
        }
        self.print_layers(output)?;
        if let Some(error) = self.output_error {
            writeln!(output, "output: {:.2} % root mean square error", 100.0 * error)?;
        }
        if let Some(same) = &self.same_class {
            writeln!(output, "same class as the float model: {}", same.text())?;
        }
        if let Some(accuracy) = &self.accuracy {
            writeln!(output, "right class: float {}, int8 {}", accuracy.float.text(), accuracy.int8.text())?;
        }
        if let Some(count) = self.test_cases {
            writeln!(output, "test cases: {count}; `netkit test` runs them")?;
        }
        let (Some(float), Some(int8), Some(path)) = (&self.float, &self.int8, &self.written) else { return Ok(()) };
        let row = |what: &str, size: &Size| {
            let [file, least, recommended] = [size.file_bytes, size.arena_bytes, size.recommended_arena_bytes];
            vec![what.to_owned(), file.to_string(), least.to_string(), recommended.to_string()]
        };
        let header = ["bytes", "file", "least arena", "recommended arena"];
        output.table(&header, vec![row("float", float), row("int8", int8)])?;
        writeln!(output, "{STRONG}written{STRONG:#}: {} ({} bytes)", escaped(path), int8.file_bytes)?;
        Ok(())
    }

    fn print_layers(&self, output: &mut Output) -> Result<(), Failure> {
        let Some(input) = &self.input else { return Ok(()) };
        let span = |[low, high]: [f32; 2]| format!("{} to {}", General(low), General(high));
        let absent = || "-".to_owned();
        let head = ["", "kind", "range", "scale", "zero point", "clipped", "SQNR dB"];
        let mut rows = vec![vec![
            String::new(),
            "input".to_owned(),
            span(input.range),
            General(input.scale).to_string(),
            input.zero_point.to_string(),
            absent(),
            absent(),
        ]];
        rows.extend(self.layers.iter().map(|row| {
            vec![
                row.part.as_ref().map_or_else(|| format!("[{}]", row.layer), |_| String::new()),
                row.part.as_ref().map_or_else(|| row.kind.to_owned(), |part| format!("  {part}")),
                span(row.range),
                General(row.scale).to_string(),
                row.zero_point.to_string(),
                row.clipped.map_or_else(absent, |share| format!("{:.3} %", 100.0 * share)),
                row.sqnr_db.map_or_else(absent, |decibels| format!("{decibels:.1}")),
            ]
        }));
        output.table(&head, rows)?;
        if self.layers.iter().any(|row| row.is_merged) {
            writeln!(output, "  a layer without SQNR is computed along with the pool behind it; see that one")?;
        }
        if let Some(Worst { layer, kind, sqnr_db, advice }) = &self.worst {
            writeln!(output, "{WARN}most noise{WARN:#}: layer {layer} ({kind}), {sqnr_db:.1} dB: {advice}")?;
        }
        Ok(())
    }
}

impl Share {
    fn text(&self) -> String {
        format!("{} of {} ({:.2} %)", self.count, self.of, 100.0 * self.count as f64 / self.of.max(1) as f64)
    }
}

impl Size {
    fn of(bytes: &[u8]) -> Result<Self, netkit::Error> {
        let plan = MemoryPlan::of(&Model::parse(bytes)?)?;
        Ok(Self {
            file_bytes: bytes.len(),
            arena_bytes: plan.arena_bytes,
            recommended_arena_bytes: plan.recommended_arena_bytes()?,
        })
    }
}
