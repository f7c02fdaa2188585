//! `netkit convert`: an ONNX or TensorFlow Lite model becomes a `.nk` model with the same answers, or nothing is written.

mod cases;
mod report;

use std::fs;
use std::path::Path;

use netkit_convert::error::{Error, ErrorKind};
use netkit_convert::lower::{self, Lowered};
use netkit_convert::network::Port;
use netkit_convert::onnx::Options;
use netkit_convert::proof::{self, Proof, ProofError, ProofOptions};
use netkit_convert::refusal::Refusal;
use netkit_convert::source::{Conversion, Source};

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
    let conversion = source.lower(options, !args.no_verify).map_err(|refusals| refused(&args.model, refusals))?;
    report.lowered(&conversion);
    let bytes = write(&conversion.lowered, None, &args.model)?;
    report.planned(&bytes).map_err(|error| Failure::model(target, &error))?;
    progress.update(0.2, "comparing with the source");
    let mut answers = Vec::new();
    if !args.no_verify {
        let proof = prove(args, &source, &conversion, &bytes)?;
        report.proof(&proof);
        if !proof.passes() {
            return Ok(Outcome::Negative);
        }
        answers = proof.answers;
    }
    progress.update(0.9, "writing");
    let bytes = match cases::gather(args, &source, &conversion, &answers)? {
        Some(cases) => {
            report.cases(cases.len());
            cases.with_spec(|spec| write(&conversion.lowered, Some(spec), &args.model))?
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
    let conversion = source.lower(lower::Options::default(), true).map_err(|refusals| refused(model, refusals))?;
    let bytes = write(&conversion.lowered, None, model)?;
    progress.update(0.05, "comparing with the source");
    if !prove(&args, &source, &conversion, &bytes)?.passes() {
        let message = "the .nk model that it becomes does not give the same answers";
        return Err(Failure::file(model, message).with_hint("`netkit convert` tells how they differ"));
    }
    Ok((bytes, conversion.lowered.network.input))
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

/// Compares both sides.
fn prove(args: &ConvertArgs, source: &Source<'_>, conversion: &Conversion, bytes: &[u8]) -> Result<Proof, Failure> {
    let is_exact = conversion.lowered.approximations.is_empty();
    let usual = if is_exact { source.tolerance() } else { APPROXIMATE_TOLERANCE };
    let options = ProofOptions { seed: args.seed, tolerance: args.tolerance.unwrap_or(usual) };
    proof::prove(source.reference(), bytes, conversion.placement(), &options)
        .map_err(|error| unproved(&args.model, error))
}

fn unproved(model: &Path, error: ProofError) -> Failure {
    match error {
        ProofError::Source(error) => unread(model, error),
        error => Failure::file(model, error),
    }
}
