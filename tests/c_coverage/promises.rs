//! The statuses that the comment of a function promises.

use std::fmt;

use crate::c_header::Function;

/// A set of statuses.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Statuses(u32);

/// Names of the statuses in the order of their bits.
const NAMES: [&str; 14] = [
    "NK_OK",
    "NK_ERR_MODEL_OPEN",
    "NK_ERR_MODEL_READ",
    "NK_ERR_MODEL_PARSE",
    "NK_ERR_UNSUPPORTED_NETWORK",
    "NK_ERR_VERSION_MISMATCH",
    "NK_ERR_LAYER_CONFIG",
    "NK_ERR_WEIGHT_MISMATCH",
    "NK_ERR_ARENA_OVERFLOW",
    "NK_ERR_INVALID_ARGUMENT",
    "NK_ERR_BUFFER_TOO_SMALL",
    "NK_ERR_MODEL_NOT_LOADED",
    "NK_ERR_NOT_INITIALIZED",
    "NK_ERR_STOPPED",
];

impl Statuses {
    pub const NONE: Statuses = Statuses(0);
    pub const OK: Statuses = Statuses(1);

    pub fn of_bits(bits: u32) -> Self {
        assert!(bits < 1 << NAMES.len(), "a status that is not listed: {bits:#x}");
        Self(bits)
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The statuses that a text names, by name or as in `any of 1 to 7 and 9`.
    fn named_in(text: &str) -> Self {
        let words = || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let by_name = words().filter_map(|word| NAMES.iter().position(|&name| name == word)).map(|bit| 1 << bit);
        let mut bits = by_name.fold(0, |all, bit: u32| all | bit);
        for list in text.split("any of ").skip(1) {
            let (mut last, mut is_range) = (0, false);
            for word in list.split([' ', ',', '.', ';']).filter(|word| !word.is_empty()) {
                match (word, word.parse::<u32>()) {
                    ("to", _) => is_range = true,
                    ("and", _) => {}
                    (_, Ok(number)) => {
                        let first = if is_range { last } else { number };
                        bits |= (first..=number).map(|status| 1 << status).sum::<u32>();
                        (last, is_range) = (number, false);
                    }
                    _ => break,
                }
            }
        }
        Self(bits)
    }
}

impl fmt::Debug for Statuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = NAMES.iter().enumerate().filter(|(bit, _)| self.0 & 1 << bit != 0).map(|(_, name)| *name);
        f.write_str(&names.collect::<Vec<_>>().join(" "))
    }
}

/// The statuses that a function can give: those that its comment names behind `Returns` or `Checks in this order`, or
/// else those of the function that its comment refers to first, as in `otherwise as nk_mlp_load()`.
pub fn promised(function: &Function, all: &[Function]) -> Statuses {
    let about = &function.about;
    if let Some(start) = ["Returns ", "Checks in this order"].iter().filter_map(|words| about.find(words)).min() {
        return Statuses::named_in(about[start..].split("Threads:").next().unwrap_or_default()).and(Statuses::OK);
    }
    let name = about.split_once("nk_").and_then(|(_, rest)| rest.split("()").next()).unwrap_or_default();
    let other = all.iter().find(|other| other.name.strip_prefix("nk_") == Some(name));
    promised(other.unwrap_or_else(|| panic!("{}: the comment names no statuses", function.name)), all)
}
