//! What was done, for people and as JSON (schema netkit.convert/1).

use std::io::Write;
use std::path::Path;

use netkit::{MemoryPlan, Model};
use netkit_convert::lower::Fate;
use netkit_convert::proof::Proof;
use netkit_convert::source::{self, Conversion};
use serde::Serialize;

use crate::failure::{Failure, display};
use crate::output::{GOOD, Output, STRONG, WARN, escaped};

/// Facts in the order in which they become known.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    schema: &'static str,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Verification>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_cases: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Written>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeFate>,
    #[serde(skip)]
    explain: bool,
}

#[derive(Debug, Serialize)]
struct Source {
    producer: String,
    #[serde(skip)]
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    opset: Option<i64>,
    nodes: usize,
    folded: usize,
    without_effect: usize,
    unused: usize,
    assumptions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Network {
    layers: usize,
    parameters: usize,
    rewrites: Vec<&'static str>,
    approximations: Vec<&'static str>,
    input: Port,
    output: Port,
    /// Rows of the source's batch; the network computes one at a time.
    rows: usize,
    arena_bytes: Option<usize>,
}

/// A tensor of the source model, and whether the `.nk` model wants its elements in another order.
#[derive(Debug, Serialize)]
struct Port {
    name: String,
    source_shape: Vec<usize>,
    reordered: bool,
}

#[derive(Debug, Serialize)]
struct Verification {
    tolerance: f64,
    /// A smaller difference is accepted whatever the output is: steps of an int8 output.
    slack: f64,
    passed: bool,
    largest_relative_difference: f64,
    inputs: Vec<Comparison>,
}

#[derive(Debug, Serialize)]
struct Comparison {
    input: String,
    largest_output: f64,
    absolute_difference: f64,
    relative_difference: f64,
}

#[derive(Debug, Serialize)]
struct Written {
    path: String,
    bytes: usize,
}

#[derive(Debug, Serialize)]
struct NodeFate {
    node: String,
    op: String,
    layers: Vec<usize>,
    how: Vec<&'static str>,
}

/// The report as one JSON document, with what stopped the conversion.
#[derive(Serialize)]
pub(super) struct Document<'r> {
    #[serde(flatten)]
    report: &'r Report,
    converted: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Report {
    pub(super) fn new(model: &Path, explain: bool) -> Self {
        Self { schema: "netkit.convert/1", model: display(model), explain, ..Self::default() }
    }

    pub(super) fn source(&mut self, source: &source::Source<'_>) {
        let notes = source.notes();
        let opset = source.graph().opset;
        self.source = Some(Source {
            producer: notes.producer,
            format: source.format(),
            opset: (opset > 0).then_some(opset),
            nodes: notes.nodes_in_file,
            folded: notes.folded,
            without_effect: notes.removed_identities,
            unused: notes.removed_dead,
            assumptions: notes.assumptions,
        });
    }

    pub(super) fn lowered(&mut self, conversion: &Conversion) {
        let lowered = &conversion.lowered;
        let network = &lowered.network;
        let mut rewrites: Vec<&'static str> =
            network.layers.iter().flat_map(|layer| layer.rewrites.iter().copied()).collect();
        rewrites.sort_unstable();
        rewrites.dedup();
        let port = |port: &netkit_convert::network::Port| Port {
            name: port.name.clone(),
            source_shape: port.shape.clone(),
            reordered: port.places.is_some(),
        };
        self.network = Some(Network {
            layers: network.layers.len(),
            parameters: network.parameters(),
            rewrites,
            approximations: lowered.approximations.clone(),
            input: port(&network.input),
            output: port(&network.output),
            rows: conversion.rows,
            arena_bytes: None,
        });
        if self.explain {
            self.nodes = lowered.fates.iter().map(NodeFate::of).collect();
        }
    }

    /// Notes how much memory the model needs.
    pub(super) fn planned(&mut self, bytes: &[u8]) -> Result<(), netkit::Error> {
        let plan = MemoryPlan::of(&Model::parse(bytes)?)?;
        if let Some(network) = &mut self.network {
            network.arena_bytes = Some(plan.arena_bytes);
        }
        Ok(())
    }

    pub(super) fn proof(&mut self, proof: &Proof) {
        let comparison = |comparison: &netkit_convert::proof::Comparison| Comparison {
            input: comparison.input.to_string(),
            largest_output: comparison.largest_output,
            absolute_difference: comparison.absolute_difference,
            relative_difference: comparison.relative_difference,
        };
        self.proof = Some(Verification {
            tolerance: proof.tolerance,
            slack: proof.slack,
            passed: proof.passes(),
            largest_relative_difference: proof.worst().map_or(0.0, |comparison| comparison.relative_difference),
            inputs: proof.comparisons.iter().map(comparison).collect(),
        });
    }

    pub(super) fn cases(&mut self, count: usize) {
        self.test_cases = Some(count);
    }

    pub(super) fn written(&mut self, path: &Path, bytes: usize) {
        self.written = Some(Written { path: display(path), bytes });
    }

    pub(super) fn document(&self, failure: Option<&Failure>) -> Document<'_> {
        let (refusals, error) = match failure {
            Some(Failure::Unsupported { refusals, .. }) => (refusals.clone(), None),
            Some(failure) => (Vec::new(), Some(failure.message().into_owned())),
            None => (Vec::new(), None),
        };
        Document { report: self, converted: self.written.is_some(), refusals, error }
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        if let Some(source) = &self.source {
            source.print(&self.model, output)?;
        }
        if let Some(network) = &self.network {
            network.print(output)?;
        }
        self.print_nodes(output)?;
        if let Some(proof) = &self.proof {
            proof.print(output)?;
        } else if self.written.is_some() {
            writeln!(output, "{WARN}not verified{WARN:#}: compare with the source before you rely on it")?;
        }
        if let Some(count) = self.test_cases {
            writeln!(output, "test cases: {count}; `netkit test` runs them")?;
        }
        if let Some(written) = &self.written {
            writeln!(output, "{STRONG}written{STRONG:#}: {} ({} bytes)", escaped(&written.path), written.bytes)?;
        }
        Ok(())
    }

    fn print_nodes(&self, output: &mut Output) -> Result<(), Failure> {
        if self.nodes.is_empty() {
            return Ok(());
        }
        let rows = self.nodes.iter().map(NodeFate::row).collect();
        output.table(&["Node", "Operation", "Layers", "How"], rows)
    }
}

impl Source {
    fn print(&self, model: &str, output: &mut Output) -> Result<(), Failure> {
        let producer = if self.producer.is_empty() { "unknown producer" } else { &self.producer };
        writeln!(output, "{}: {}, {}, {} nodes", escaped(model), escaped(producer), self.format, self.nodes)?;
        let removed = [
            (self.folded, "computed once"),
            (self.without_effect, "without effect"),
            (self.unused, "whose result nobody reads"),
        ];
        let removed: Vec<String> =
            removed.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
        if !removed.is_empty() {
            writeln!(output, "  nodes left out: {}", removed.join(", "))?;
        }
        for assumption in &self.assumptions {
            writeln!(output, "  assumed: {}", escaped(assumption))?;
        }
        Ok(())
    }
}

impl Network {
    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        let arena = self.arena_bytes.map_or(String::new(), |bytes| format!(", least arena {bytes} bytes"));
        writeln!(output, "{} layers, {} parameters{arena}", self.layers, self.parameters)?;
        for rewrite in &self.rewrites {
            writeln!(output, "  rewritten: {rewrite}")?;
        }
        for approximation in &self.approximations {
            writeln!(output, "  {WARN}approximated{WARN:#}: {approximation}")?;
        }
        if self.rows > 1 {
            let name = escaped(&self.input.name);
            writeln!(output, "  input \"{name}\" is a batch of {} in the source, one at a time here", self.rows)?;
        }
        for (what, port) in [("input", &self.input), ("output", &self.output)] {
            if port.reordered {
                let (name, shape) = (escaped(&port.name), &port.source_shape);
                writeln!(
                    output,
                    "  {what} \"{name}\" {shape:?} is NCHW in the source, [height, width, channels] here"
                )?;
            }
        }
        Ok(())
    }
}

impl Verification {
    fn print(&self, output: &mut Output) -> Result<(), Failure> {
        let (style, word) = if self.passed { (GOOD, "verified") } else { (crate::output::BAD, "NOT verified") };
        writeln!(
            output,
            "{style}{word}{style:#}: largest difference {:.1e} of the largest output over {} inputs, tolerance {:.1e}{}",
            self.largest_relative_difference,
            self.inputs.len(),
            self.tolerance,
            if self.slack > 0.0 { format!(" or {:.1} steps of int8", self.slack) } else { String::new() }
        )?;
        if self.passed {
            return Ok(());
        }
        for comparison in &self.inputs {
            writeln!(
                output,
                "  {}: {:.3e} absolute, {:.3e} of the largest output {:.3e}",
                comparison.input,
                comparison.absolute_difference,
                comparison.relative_difference,
                comparison.largest_output
            )?;
        }
        writeln!(output, "nothing was written; --tolerance accepts a larger difference")?;
        Ok(())
    }
}

impl NodeFate {
    fn of(fate: &Fate) -> Self {
        let mut how = fate.rewrites.clone();
        if how.is_empty() {
            how.push(if fate.is_layout { "only moves elements: free" } else { "as it is" });
        }
        Self { node: fate.node.clone(), op: fate.op.clone(), layers: fate.layers.clone(), how }
    }

    fn row(&self) -> Vec<String> {
        let layers: Vec<String> = self.layers.iter().map(usize::to_string).collect();
        let layers = if layers.is_empty() { "-".to_owned() } else { layers.join(" ") };
        vec![escaped(&self.node).into_owned(), escaped(&self.op).into_owned(), layers, self.how.join("; ")]
    }
}
