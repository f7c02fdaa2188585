//! What can go wrong between the bytes of a model and its graph.

use crate::refusal::Refusal;

/// Why a model was not read. [`Error::kind`] tells whose fault it is.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The bytes are not an ONNX file.
    #[error("not a readable ONNX file: at byte {offset}, {found}")]
    Malformed {
        /// Position in the file.
        offset: usize,
        /// What stands there.
        found: String,
    },
    /// The file is well-formed but breaks a rule of ONNX.
    #[error("not a valid ONNX model: {0}")]
    Invalid(String),
    /// The bytes are no TensorFlow Lite file, or break a rule of its format.
    #[error("not a valid TensorFlow Lite model: {0}")]
    TfliteFile(String),
    /// A file with weights is missing or too short, or lies elsewhere.
    #[error("external data of tensor \"{tensor}\": {found}")]
    ExternalData {
        /// Name of the initializer.
        tensor: String,
        /// What is wrong.
        found: String,
    },
    /// The model needs more memory than its size justifies.
    #[error("{wanted} need more memory than the limit of 4 times the size of the file plus 64 MiB")]
    Memory {
        /// What the memory was wanted for.
        wanted: String,
    },
    /// An option does not fit the model.
    #[error("{0}")]
    Usage(String),
    /// The model is valid, but parts of it cannot be handled: all of them.
    #[error("{}", sentences(.0))]
    Unsupported(Vec<Refusal>),
}

/// Whose fault an [`Error`] is; decides the exit code of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The file is damaged, incomplete or no valid model.
    Unreadable,
    /// The model is fine, but it cannot be converted.
    Unsupported,
    /// The options are wrong.
    Usage,
}

impl Error {
    /// Whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Malformed { .. } | Self::Invalid(_) | Self::TfliteFile(_) | Self::ExternalData { .. } => {
                ErrorKind::Unreadable
            }
            Self::Memory { .. } | Self::Unsupported(_) => ErrorKind::Unsupported,
            Self::Usage(_) => ErrorKind::Usage,
        }
    }

    /// An error about the model as a whole.
    pub(crate) fn unsupported_model(found: impl Into<String>, reason: &str, advice: Option<&str>) -> Self {
        Self::Unsupported(vec![Refusal {
            node: "model".into(),
            op: "model".into(),
            found: found.into(),
            reason: reason.into(),
            advice: advice.map(Into::into),
        }])
    }
}

fn sentences(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n")
}
