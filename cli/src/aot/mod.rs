//! `netkit aot`: a model becomes C source.

mod report;

use std::fs;
use std::path::Path;

use netkit_aot::{Error, Layout, Mode, Options, Package, Scratch, Symbol};

use crate::args::{AotArgs, AotMode, AotScratch};
use crate::atomic;
use crate::failure::{Failure, Outcome};
use crate::model_file::ModelFile;
use crate::output::Output;
use crate::progress::Progress;
use report::Report;

pub(crate) fn execute(args: &AotArgs, out: &mut Output) -> Result<Outcome, Failure> {
    let options = options(args)?;
    let symbol = match &args.name {
        Some(name) => Symbol::new(name).map_err(|error| Failure::Usage(format!("--name: {error}")))?,
        None => Symbol::of_file(&args.model),
    };
    let mut progress = Progress::new();
    let file = ModelFile::read(&args.model)?;
    let model = file.parse()?;
    progress.update(0.1, "writing C");
    let name = args.model.file_name().unwrap_or_default().to_string_lossy();
    let package = netkit_aot::generate(&model, &name, &symbol, &options).map_err(|error| refused(&file, error))?;
    write(&package, &args.output, &mut progress)?;
    let report = Report::new(args, &package);
    if args.json {
        out.json(&report)?
    } else {
        report.print(out)?
    }
    Ok(Outcome::Done)
}

fn options(args: &AotArgs) -> Result<Options, Failure> {
    let is_embedded = args.mode == AotMode::Embed;
    let useless = [("--scratch", args.scratch.is_some()), ("--arduino", args.arduino)];
    let useless: Vec<&str> = useless.iter().filter(|(_, is_given)| *is_given).map(|(option, _)| *option).collect();
    if is_embedded && !useless.is_empty() {
        return Err(Failure::Usage(format!("{} cannot be used with --mode embed", useless.join(" and "))));
    }
    Ok(Options {
        mode: if is_embedded { Mode::Embed } else { Mode::Lowered },
        scratch: if args.scratch == Some(AotScratch::Caller) { Scratch::Caller } else { Scratch::Static },
        with_main: args.main,
        with_test: args.with_test,
        layout: if args.arduino { Layout::Arduino } else { Layout::Flat },
    })
}

fn refused(file: &ModelFile, error: Error) -> Failure {
    match error {
        Error::Model(error) => file.failure(&error),
        Error::NoCases => Failure::file(&file.path, error).with_hint(
            "leave out --with-test, or embed cases: `netkit convert` and `netkit quantize` have --embed-tests",
        ),
        error => Failure::file(&file.path, error),
    }
}

fn write(package: &Package, folder: &Path, progress: &mut Progress) -> Result<(), Failure> {
    for (index, file) in package.files.iter().enumerate() {
        progress.update(0.5 + 0.5 * index as f64 / package.files.len() as f64, "writing C");
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .map_err(|error| Failure::file(parent, format_args!("cannot make the folder: {error}")))?;
        atomic::write(&path, file.text.as_bytes(), "the source")?;
    }
    Ok(())
}
