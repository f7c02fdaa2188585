//! What reading a model decided, for reports.

use std::collections::BTreeMap;

/// Facts about a file, and what was done to its graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Version of the file format.
    pub ir_version: i64,
    /// Program that wrote the file.
    pub producer: String,
    /// Operations in the file.
    pub nodes_in_file: usize,
    /// What the file leaves open, and which value was taken: sentences.
    pub assumptions: Vec<String>,
    /// Operations whose result does not depend on the input: computed once.
    pub folded: usize,
    /// Operations that do nothing.
    pub removed_identities: usize,
    /// Operations whose result nobody reads.
    pub removed_dead: usize,
    /// Scales of what the file dequantises, by the names of the results.
    pub dequantized: BTreeMap<String, Vec<f32>>,
}
