//! The `netkit` command: makes, inspects, runs, tests and measures `.nk` models.
//!
//! ```text
//! args.rs         the command line
//! convert/        netkit convert: the crate netkit-convert does the work, this is its command line and report
//! quantize/       netkit quantize: the same with the crate netkit-quantize
//! inspect/        netkit inspect: facts.rs gathers them as serializable structs, text.rs prints them for people
//! run.rs          netkit run
//! test.rs         netkit test
//! golden.rs       netkit test --per-layer
//! bench/          netkit bench
//! aot/            netkit aot: the crate netkit-aot does the work
//! runner.rs       a loaded network with its buffers
//! top.rs          the largest outputs
//! input/          where the values of --input come from
//! codes.rs        real numbers as int8 codes
//! npy.rs          .npy files
//! draw/           drawings in SVG
//! atomic.rs       files that are complete or not there
//! model_file.rs   reading a model
//! failure.rs      errors, what to do about them, exit codes
//! progress.rs     a bar for work that takes long
//! output.rs       standard output and standard error
//! generated.rs    test: man pages and shell completions of packaging/command are those of args.rs
//! ```

mod aot;
mod args;
mod atomic;
mod bench;
mod codes;
mod convert;
mod draw;
mod failure;
#[cfg(test)]
mod generated;
mod golden;
mod input;
mod inspect;
mod model_file;
mod npy;
mod npz;
mod output;
mod progress;
mod quantize;
mod run;
mod runner;
mod test;
mod top;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::{Failure, Outcome};
use output::Output;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Help and version are errors too for clap, with code 0. Nobody is left to hear of a closed pipe.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::USAGE));
        }
    };
    args.color.apply();
    let mut output = Output::new();
    let outcome = execute(&args.command, &mut output);
    // Everything that was printed before an error stands above it.
    let outcome = outcome.and_then(|outcome| output.finish().map(|()| outcome));
    match outcome {
        Ok(outcome) => outcome.code(),
        Err(failure) => {
            let _ = output.finish();
            failure.report(args.command.name());
            failure.code()
        }
    }
}

fn execute(command: &Command, output: &mut Output) -> Result<Outcome, Failure> {
    match command {
        Command::Convert(args) => convert::execute(args, output),
        Command::Quantize(args) => quantize::execute(args, output),
        Command::Inspect(args) => inspect::execute(args, output),
        Command::Run(args) => run::execute(args, output),
        Command::Test(args) => test::execute(args, output),
        Command::Bench(args) => bench::execute(args, output),
        Command::Aot(args) => aot::execute(args, output),
    }
}
