//! Why a model is not quantised.

use std::fmt;

/// A layer that int8 cannot carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Index in the float model; `None` for the model as a whole.
    pub layer: Option<usize>,
    /// Name of its kind.
    pub kind: &'static str,
    /// Why there is no int8 form with the same meaning, and what would work.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layer {
            Some(layer) => write!(f, "layer {layer} ({}): {}", self.kind, self.reason),
            None => write!(f, "{}: {}", self.kind, self.reason),
        }
    }
}

/// Why a model is not quantised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The model is fine, but int8 cannot carry it: every layer in the way.
    #[error("{} parts of the model have no int8 form", .0.len())]
    Unsupported(Vec<Refusal>),
    /// The library cannot read or run the model.
    #[error("{0}")]
    Engine(netkit::Error),
    /// The samples are not fit for calibration.
    #[error("{0}")]
    Samples(String),
}

impl From<netkit::Error> for Error {
    fn from(error: netkit::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<netkit::Fault> for Error {
    fn from(fault: netkit::Fault) -> Self {
        Self::Engine(fault.into())
    }
}
