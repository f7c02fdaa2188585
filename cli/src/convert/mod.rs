//! `netkit convert`: an ONNX or TensorFlow Lite model becomes a `.nk` model with the same answers, or nothing is written.

mod cases;
mod report;

use std::fs;
use std::path::Path;

use netkit_convert::error::{Error, ErrorKind};
use netkit_convert::lower::{self, Lowered};
use netkit_convert::network::Port;
use netkit_convert::onnx::Options;
use netkit_convert::proof::{self, Placement, ProofError, ProofOptions};
use netkit_convert::refusal::Refusal;
use netkit_convert::source::Source;

use crate::args::{ConvertArgs, ReportForm};
use crate::atomic;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::progress::Progress;
use report::Report;

/// Largest difference that is accepted by default where a layer kind computes another form of a function than the source,
/// which the report then says.
const APPROXIMATE_TOLERANCE: f64 = 1e-3;

pub(crate) fn execute(args: &ConvertArgs, output: &mut Output) -> Result<Outcome, Failure> {
    let target = args.output.clone().unwrap_or_else(|| args.model.with_extension("nk"));
    let mut report = Report::new(&args.model, args.explain);
    let outcome = convert(args, &target, &mut report);
    // Everything that is known stands above the error.
    match args.report {
        ReportForm::Text => report.print(output)?,
        ReportForm::Json => output.json(&report.document(outcome.as_ref().err()))?,
    }
    outcome
}

fn convert(args: &ConvertArgs, target: &Path, report: &mut Report) -> Result<Outcome, Failure> {
    let mut progress = Progress::new();
    progress.update(0.0, "reading");
    let file = fs::read(&args.model).map_err(|error| Failure::file(&args.model, error))?;
    let source = read(args, &file)?;
    report.source(&source);
    progress.update(0.1, "converting");
    let options = lower::Options { lower_residual: args.lower_residual, keeps_linear_layers: args.no_optimize };
    let lowered = source.lower(options).map_err(|refusals| refused(&args.model, refusals))?;
    report.lowered(&lowered);
    let bytes = write(&lowered, None, &args.model)?;
    report.planned(&bytes).map_err(|error| Failure::model(target, &error))?;
    progress.update(0.2, "comparing with the source");
    if !args.no_verify && !prove(args, &source, &lowered, &bytes, report)? {
        return Ok(Outcome::Negative);
    }
    progress.update(0.9, "writing");
    let bytes = match cases::gather(args, &source, &lowered)? {
        Some(cases) => {
            report.cases(cases.len());
            cases.with_spec(|spec| write(&lowered, Some(spec), &args.model))?
        }
        None => bytes,
    };
    atomic::write(target, &bytes, "the model")?;
    report.written(target, bytes.len());
    Ok(Outcome::Done)
}

/// The `.nk` model of a source model that leaves nothing open, proven, and how its input lies in memory.
pub(crate) fn float_model(model: &Path, progress: &mut Progress) -> Result<(Vec<u8>, Port), Failure> {
    let args = ConvertArgs { model: model.to_owned(), ..ConvertArgs::default() };
    let file = fs::read(model).map_err(|error| Failure::file(model, error))?;
    let source = read(&args, &file)?;
    let lowered = source.lower(lower::Options::default()).map_err(|refusals| refused(model, refusals))?;
    let bytes = write(&lowered, None, model)?;
    progress.update(0.05, "comparing with the source");
    if !prove(&args, &source, &lowered, &bytes, &mut Report::new(model, false))? {
        let message = "the .nk model that it becomes does not give the same answers";
        return Err(Failure::file(model, message).with_hint("`netkit convert` tells how they differ"));
    }
    Ok((bytes, lowered.network.input))
}

fn read<'f>(args: &ConvertArgs, file: &'f [u8]) -> Result<Source<'f>, Failure> {
    let mut options = Options { outputs: args.outputs.clone(), ..Options::default() };
    let usage = |error: Error| Failure::Usage(error.to_string());
    args.input_shapes.iter().try_for_each(|text| options.add_input_shape(text)).map_err(usage)?;
    args.dimensions.iter().try_for_each(|text| options.add_dimension(text)).map_err(usage)?;
    Source::read(file, &args.model, &options).map_err(|error| unread(&args.model, error))
}

/// The error about a source model, as the failure that has its exit code.
fn unread(model: &Path, error: Error) -> Failure {
    match error {
        Error::Unsupported(refusals) => refused(model, refusals),
        error => match error.kind() {
            ErrorKind::Usage => Failure::Usage(error.to_string()),
            ErrorKind::Unsupported => Failure::unsupported(model, vec![error.to_string()]),
            ErrorKind::Unreadable => Failure::file(model, error),
        },
    }
}

fn refused(model: &Path, refusals: Vec<Refusal>) -> Failure {
    Failure::unsupported(model, refusals.iter().map(Refusal::to_string).collect())
}

fn write(
    lowered: &Lowered,
    cases: Option<netkit::format::write::CasesSpec<'_>>,
    model: &Path,
) -> Result<Vec<u8>, Failure> {
    lowered.network.write(cases).map_err(|error| Failure::file(model, error))
}

/// Compares both sides; false when they differ too much.
fn prove(
    args: &ConvertArgs,
    source: &Source<'_>,
    lowered: &Lowered,
    bytes: &[u8],
    report: &mut Report,
) -> Result<bool, Failure> {
    let usual = if lowered.approximations.is_empty() { source.tolerance() } else { APPROXIMATE_TOLERANCE };
    let options = ProofOptions { seed: args.seed, tolerance: args.tolerance.unwrap_or(usual) };
    let proof = proof::prove(source.reference(), bytes, placement(lowered), &options)
        .map_err(|error| unproved(&args.model, error))?;
    let passes = proof.passes();
    report.proof(&proof);
    Ok(passes)
}

/// How the model's tensors lie in those of the network.
fn placement(lowered: &Lowered) -> Placement<'_> {
    Placement { input: lowered.network.input.places.as_deref(), output: lowered.network.output.places.as_deref() }
}

fn unproved(model: &Path, error: ProofError) -> Failure {
    match error {
        ProofError::Source(error) => unread(model, error),
        error => Failure::file(model, error),
    }
}
