//! `netkit quantize`: a float model becomes an int8 model, with a report of what that costs. Every number of the report
//! is what the library computes with the two models.
//!
//! ```text
//! source.rs   the float model: a .nk file, or what becomes of an .onnx file
//! layers.rs   the table of layers, and which one is worst
//! advice.rs   what to do about it
//! cases.rs    test cases
//! report.rs   what was done, for people and as JSON
//! ```

mod advice;
mod cases;
mod layers;
mod report;
mod source;

use netkit::{Model, plan};
use netkit_quantize::assemble::{self, Options};
use netkit_quantize::evaluate::{self, Sample};
use netkit_quantize::{Error, calibrate, form};

use crate::args::QuantizeArgs;
use crate::atomic;
use crate::failure::{Failure, Outcome};
use crate::input::samples::{self, Draw, Form, Samples};
use crate::output::Output;
use crate::progress::Progress;
use report::Report;
use source::Source;

pub(crate) fn execute(args: &QuantizeArgs, output: &mut Output) -> Result<Outcome, Failure> {
    let mut report = Report::new(args);
    let outcome = quantize(args, &mut report);
    // Everything that is known stands above the error.
    if args.json {
        output.json(&report.document(outcome.as_ref().err()))?;
    } else {
        report.print(output)?;
    }
    outcome.map(|()| Outcome::Done)
}

fn quantize(args: &QuantizeArgs, report: &mut Report) -> Result<(), Failure> {
    let fault = |error| failure(args, error);
    let mut progress = Progress::new();
    progress.update(0.0, "reading");
    let source = Source::read(&args.model, &mut progress)?;
    let form = form::form(&source.bytes).map_err(fault)?;
    let model = Model::parse(&source.bytes).map_err(|error| Failure::model(&args.model, &error))?;
    progress.update(0.1, "reading samples");
    let (samples, labels) = read_samples(args, &source, &model)?;
    report.samples(&samples);
    let mut part = |from: f64, to: f64, what: &'static str, done: usize| {
        progress.update(from + (to - from) * done as f64 / samples.inputs.len() as f64, what);
    };
    let mut calibrating = |done| part(0.2, 0.6, "calibrating", done);
    let values = calibrate::calibrate(&source.bytes, &form, &samples.inputs, &mut calibrating).map_err(fault)?;
    let options = Options { method: args.method, per_channel: !args.per_tensor };
    let quantized = assemble::quantize(&form, &values, options);
    let bytes = assemble::assemble(&model, &quantized, None).map_err(fault)?;
    let mut comparing = |done| part(0.6, 1.0, "comparing", done);
    let evaluated = evaluate::evaluate(&source.bytes, &bytes, &form, &samples.inputs, &mut comparing).map_err(fault)?;
    report.layers(layers::Table::new(&form, &values, &quantized, &evaluate::layers(&evaluated)), options, &values);
    report.classes(&evaluated, labels.as_deref(), &model);
    let bytes = match args.embed_tests {
        None => bytes,
        Some(count) => {
            let cases = cases::Cases::new(&bytes, &evaluated, &samples.indices, labels.as_deref(), count)
                .map_err(|message| Failure::file(&args.model, message).with_hint("leave out --embed-tests"))?;
            report.cases(cases.len());
            cases.with_spec(|spec| assemble::assemble(&model, &quantized, Some(spec))).map_err(fault)?
        }
    };
    report.sizes(&source.bytes, &bytes).map_err(|error| Failure::model(&args.output, &error))?;
    atomic::write(&args.output, &bytes, "the model")?;
    report.written(&args.output);
    Ok(())
}

/// The samples, and the class of each of them if they have labels.
fn read_samples(
    args: &QuantizeArgs,
    source: &Source,
    model: &Model<'_>,
) -> Result<(Samples, Option<Vec<usize>>), Failure> {
    let (shape, output) = plan::shapes(model).map_err(|error| Failure::model(&args.model, &error))?;
    let draw = Draw { most: args.samples as usize, seed: args.seed };
    let samples = samples::read(&args.calib, &Form::new(shape, source.input.as_ref(), &args.prepare)?, draw)?;
    let Some(path) = &args.labels else { return Ok((samples, None)) };
    if output.h * output.w != 1 {
        return Err(Failure::Usage("--labels is for models with one row of outputs, a class each".to_owned()));
    }
    let labels = samples::read_labels(path, samples.total)?;
    if let Some(label) = labels.iter().find(|&&label| label >= output.c as usize) {
        let message = format!("class {label}, but the model has {} outputs, from class 0 on", output.c);
        return Err(Failure::file(path, message));
    }
    let drawn = samples.indices.iter().map(|&index| labels[index]).collect();
    Ok((samples, Some(drawn)))
}

/// Why a model is not quantised, as the failure that has its exit code.
fn failure(args: &QuantizeArgs, error: Error) -> Failure {
    match error {
        Error::Unsupported(refusals) => {
            Failure::unsupported(&args.model, refusals.iter().map(ToString::to_string).collect())
        }
        Error::Engine(error) => Failure::model(&args.model, &error),
        Error::Samples(message) => Failure::file(args.calib.as_ref(), message),
    }
}

/// Whether the int8 model says the same class as another.
fn same_classes<'s>(samples: &'s [Sample]) -> impl Iterator<Item = bool> + 's {
    samples.iter().flat_map(|sample| sample.classes.float.iter().zip(&sample.classes.int8)).map(|(a, b)| a == b)
}
