//! Why a model cannot be converted: all reasons at once.

use std::fmt;

/// One node, or the model as a whole, that cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Name of the node; of an input or output where no node is to blame.
    pub node: String,
    /// Operation of the node, such as `Conv`, or `input`, `output`, `model`.
    pub op: String,
    /// What was found: the attribute with its value, or the shapes.
    pub found: String,
    /// Why that has no exact form in a `.nk` model.
    pub reason: String,
    /// What would work.
    pub advice: Option<String>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\": {}: {}", self.op, self.node, self.found, self.reason)?;
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}
