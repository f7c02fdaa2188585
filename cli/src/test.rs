//! `netkit test`: the test cases that models carry.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use netkit::format::Cases;
use netkit::regression::{self, Options};
use netkit::{Error, Model};
use serde::Serialize;

use crate::args::TestArgs;
use crate::failure::{Failure, Outcome, display};
use crate::golden;
use crate::model_file::ModelFile;
use crate::output::{BAD, GOOD, Output, escaped};
use crate::run::zeroed;

const RULE: &str = "============================";

/// The document of `--json`.
#[derive(Debug, Default, Serialize)]
struct Report {
    schema: &'static str,
    passed: u32,
    failed: u32,
    models: Vec<ModelReport>,
}

/// What became of one model. A model that cannot be tested counts as one failure and has an `error`.
#[derive(Debug, Serialize)]
struct ModelReport {
    path: String,
    passed: u32,
    failed: u32,
    error: Option<String>,
    tolerance: Option<f32>,
    cases: Vec<CaseReport>,
}

#[derive(Debug, Serialize)]
struct CaseReport {
    name: String,
    label: Option<i32>,
    passed: bool,
    message: String,
}

/// Which lines of the library's report are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    /// None; they are kept for the JSON document.
    Silent,
    /// Only those of failures.
    Failures,
    /// All.
    All,
}

pub(crate) fn execute(args: &TestArgs, out: &mut Output) -> Result<Outcome, Failure> {
    if let Some(folder) = &args.per_layer {
        return golden::execute(args, folder, out);
    }
    if args.prepare.changes_values() || args.prepare.layout.is_some() {
        return Err(Failure::Usage("--scale, --mean, --std and --layout belong to --per-layer".to_owned()));
    }
    let detail = match (args.json, args.quiet) {
        (true, _) => Detail::Silent,
        (_, true) => Detail::Failures,
        _ => Detail::All,
    };
    let verbose = args.verbose || (detail == Detail::All && verbose_by_environment());
    let options = Options { verbose, strict: args.strict };
    let mut report = Report { schema: "netkit.test/1", ..Report::default() };
    let mut outcome = Outcome::Done;
    for (index, path) in args.models.iter().enumerate() {
        if index > 0 && detail == Detail::All {
            writeln!(out)?;
        }
        let (model, result) = test_model(path, options, detail, out)?;
        outcome = outcome.max(result);
        report.passed += model.passed;
        report.failed += model.failed;
        report.models.push(model);
    }
    if args.json {
        out.json(&report)?;
    } else {
        if !args.quiet {
            writeln!(out, "\n{RULE}\n MODEL TEST SUMMARY\n{RULE}")?;
        }
        writeln!(out, "Passed: {}\nFailed: {}", report.passed, report.failed)?;
    }
    Ok(outcome)
}

/// The environment's word on long tensors: shown, unless a build server would fill its log with them.
fn verbose_by_environment() -> bool {
    match std::env::var_os("NETKIT_REGRESSION_VERBOSE").as_deref().map(|value| value.as_encoded_bytes().first()) {
        Some(Some(b'1')) => true,
        Some(Some(b'0')) => false,
        _ => std::env::var_os("GITHUB_ACTIONS").is_none(),
    }
}

/// Tests one model. A file that is not fit for a test is reported and counted; only a failing output is an error.
fn test_model(
    path: &Path,
    options: Options,
    detail: Detail,
    out: &mut Output,
) -> Result<(ModelReport, Outcome), Failure> {
    let mut report =
        ModelReport { path: display(path), passed: 0, failed: 1, error: None, tolerance: None, cases: Vec::new() };
    let mut log = Log { out, detail, line: String::new(), text: String::new(), error: None };
    match ModelFile::read(path).and_then(|file| run_cases(&file, options, &mut log, &mut report)) {
        Ok(()) => {}
        Err(Failure::Stdout(error)) => return Err(Failure::Stdout(error)),
        Err(failure) => {
            out.finish()?;
            failure.report("test");
            report.error = Some(failure.message().into_owned());
            return Ok((report, Outcome::Invalid));
        }
    }
    out.finish()?;
    let outcome = if report.failed == 0 { Outcome::Done } else { Outcome::Negative };
    Ok((report, outcome))
}

fn run_cases(file: &ModelFile, options: Options, log: &mut Log<'_>, report: &mut ModelReport) -> Result<(), Failure> {
    let model = file.parse()?;
    let invalid = |error: Error| file.failure(&error);
    let cases = Cases::read(&model).map_err(invalid)?;
    let bytes = regression::memory_bytes(&model).map_err(invalid)?;
    model.check_payload().map_err(invalid)?;
    let mut memory = zeroed(bytes).map_err(invalid)?;
    let summary = regression::run(&escaped(&report.path), &model, &mut memory, options, log);
    log.error.take().map_or(Ok(()), Err)?;
    (report.passed, report.failed) = (summary.passed, summary.failed);
    report.tolerance = Some(cases.tolerance);
    report.cases = case_reports(&model, &log.text);
    Ok(())
}

/// Finds the verdict of each case, in order, in the library's report.
fn case_reports(model: &Model<'_>, text: &str) -> Vec<CaseReport> {
    let mut rest = text;
    let cases = Cases::read(model).into_iter().flat_map(|cases| cases.iter());
    let report = |case: netkit::format::Case<'_>| {
        let verdicts = ["PASS", "FAIL"].map(|word| {
            let start = format!("\n{word} {} (", case.name);
            rest.find(&start).map(|at| (at + start.len(), word == "PASS"))
        });
        let (at, passed) = verdicts.into_iter().flatten().min()?;
        rest = rest.get(at..)?;
        let line = rest.lines().next().unwrap_or_default();
        let label = (case.label >= 0).then_some(case.label);
        let message = line.strip_suffix(')').unwrap_or(line).to_owned();
        Some(CaseReport { name: case.name.to_owned(), label, passed, message })
    };
    cases.filter_map(report).collect()
}

/// Takes the library's report line by line: keeps it, and prints what is wanted in color.
struct Log<'a> {
    out: &'a mut Output,
    detail: Detail,
    line: String,
    text: String,
    error: Option<Failure>,
}

impl Log<'_> {
    fn print(&mut self) -> io::Result<()> {
        let line = escaped(&self.line);
        let style = match line.split_once(' ') {
            Some(("PASS", _)) => GOOD,
            Some(("FAIL", _)) => BAD,
            _ => anstyle::Style::new(),
        };
        match (self.detail, style == BAD) {
            (Detail::All, _) | (Detail::Failures, true) => writeln!(self.out, "{style}{line}{style:#}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Write for Log<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece.strip_suffix('\n').unwrap_or(piece));
            if piece.ends_with('\n') {
                let result = self.print();
                self.line.clear();
                if let Err(error) = result {
                    self.error.get_or_insert(error.into());
                    return Err(fmt::Error);
                }
            }
        }
        Ok(())
    }
}
