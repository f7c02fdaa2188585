//! Errors, what to do about them, and the exit codes.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use netkit::ErrorKind;

use crate::output::{BAD, escaped};

/// Exit code of a wrong command line.
pub(crate) const USAGE: u8 = 2;

/// Exit code of a model that cannot be converted.
pub(crate) const UNSUPPORTED: u8 = 4;

/// How a command that did its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// As hoped.
    Done,
    /// The answer is no: a test failed.
    Negative,
    /// Something was wrong with a file, and has been reported.
    Invalid,
}

impl Outcome {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Outcome::Done => 0,
            Outcome::Negative => 1,
            Outcome::Invalid => 3,
        })
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value on the command line is wrong.
    Usage(String),
    /// A file cannot be read, written or used.
    File {
        /// Path as the user gave it.
        path: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it, if there is anything to say.
        hint: &'static str,
    },
    /// A model that is fine but cannot be converted: all reasons.
    Unsupported {
        /// Path as the user gave it.
        path: String,
        /// One sentence for each node.
        refusals: Vec<String>,
    },
    /// Standard output cannot be written.
    Stdout(io::Error),
}

impl Failure {
    /// The library's error about a model.
    pub(crate) fn model(path: &Path, error: &netkit::Error) -> Self {
        Self::File { path: display(path), message: error.to_string(), hint: hint(error.kind) }
    }

    /// A file other than a model, or a model that cannot be read.
    pub(crate) fn file(path: &Path, message: impl Display) -> Self {
        Self::File { path: display(path), message: message.to_string(), hint: "" }
    }

    /// A model that cannot be converted.
    pub(crate) fn unsupported(path: &Path, refusals: Vec<String>) -> Self {
        Self::Unsupported { path: display(path), refusals }
    }

    pub(crate) fn with_hint(self, new: &'static str) -> Self {
        match self {
            Self::File { path, message, .. } => Self::File { path, message, hint: new },
            other => other,
        }
    }

    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(USAGE),
            Self::Unsupported { .. } => ExitCode::from(UNSUPPORTED),
            Self::File { .. } | Self::Stdout(_) => Outcome::Invalid.code(),
        }
    }

    /// The sentence without path and hint.
    pub(crate) fn message(&self) -> Cow<'_, str> {
        match self {
            Self::Usage(message) | Self::File { message, .. } => Cow::Borrowed(message),
            Self::Unsupported { refusals, .. } => Cow::Owned(match &refusals[..] {
                [refusal] => refusal.clone(),
                _ => format!("{} parts cannot be converted:\n  {}", refusals.len(), refusals.join("\n  ")),
            }),
            Self::Stdout(error) => Cow::Owned(error.to_string()),
        }
    }

    /// Prints `netkit: <path>: <sentence>` and what to do on standard error. A wrong value is one of `command`.
    pub(crate) fn report(&self, command: &str) {
        let mut stderr = anstream::stderr().lock();
        let message = self.message();
        // A closed standard error leaves nobody to tell.
        let _ = match self {
            Self::Usage(_) => writeln!(stderr, "{BAD}netkit{BAD:#}: {message}\n  hint: see `netkit help {command}`"),
            Self::Stdout(_) => writeln!(stderr, "{BAD}netkit{BAD:#}: standard output: {message}"),
            Self::Unsupported { path, .. } => writeln!(stderr, "{BAD}netkit{BAD:#}: {}: {message}", escaped(path)),
            Self::File { path, hint: "", .. } => writeln!(stderr, "{BAD}netkit{BAD:#}: {}: {message}", escaped(path)),
            Self::File { path, hint, .. } => {
                writeln!(stderr, "{BAD}netkit{BAD:#}: {}: {message}\n  hint: {hint}", escaped(path))
            }
        };
    }
}

impl From<io::Error> for Failure {
    /// The only stream whose errors are passed on as they are is standard output.
    fn from(error: io::Error) -> Self {
        Self::Stdout(error)
    }
}

/// Prints a warning about a file on standard error.
pub(crate) fn warn(path: &Path, message: &str) {
    let style = crate::output::WARN;
    let _ = writeln!(
        anstream::stderr().lock(),
        "{style}netkit{style:#}: {}: warning: {}",
        escaped(&display(path)),
        escaped(message)
    );
}

/// A path for people.
pub(crate) fn display(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What the user can do about an error of the library; empty when its sentence says it all.
fn hint(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Magic => "only .nk files are read; convert other formats to .nk first",
        ErrorKind::Version => "export the model again with a writer of one of these versions",
        ErrorKind::Truncated | ErrorKind::FileSize => "the file was cut or changed on its way; copy it again",
        ErrorKind::Header | ErrorKind::Limit | ErrorKind::LayerKind | ErrorKind::Catalog | ErrorKind::Quant => {
            "the file is damaged, or its writer does not follow the format; export it again"
        }
        ErrorKind::Payload => "the weights are damaged, or training diverged; export the model again",
        ErrorKind::Layer | ErrorKind::Weights => "`netkit inspect --tensors` shows layers and tensors side by side",
        ErrorKind::Cases => "only the test section is concerned; the model itself can be inspected and run",
        ErrorKind::Unsupported => "`netkit inspect --tensors` describes the model",
        _ => "",
    }
}
