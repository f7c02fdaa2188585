//! Why a node has no translation.

/// Why a node has no translation.
#[derive(Debug)]
pub enum Trouble {
    /// An operand was refused before.
    Unknown,
    /// The node itself is to blame.
    Refused {
        /// What was found.
        found: String,
        /// Why that has no exact form.
        reason: String,
        /// What would work.
        advice: Option<String>,
        /// Whether another layout of the input may help.
        is_layout: bool,
    },
}

impl Trouble {
    /// A refusal without advice.
    pub fn refuse(found: String, reason: &str) -> Self {
        Self::Refused { found, reason: reason.into(), advice: None, is_layout: false }
    }

    /// A refusal that says what would work.
    pub fn advise(found: String, reason: &str, advice: &str) -> Self {
        Self::Refused { found, reason: reason.into(), advice: Some(advice.into()), is_layout: false }
    }

    /// The refusal of an operand that lies in memory in another way than the node needs.
    pub fn misplaced(found: String, reason: &str, advice: &str) -> Self {
        Self::Refused { found, reason: reason.into(), advice: Some(advice.into()), is_layout: true }
    }
}
