//! Proof of a conversion: the graph under the interpreter and the `.nk` bytes under the engine give the same answers.
//!
//! The two sides share nothing but the inputs, so a mistake anywhere between the graph and the engine shows as a
//! difference.

mod cases;
mod engine;
mod inputs;

use std::fmt;

use crate::error::Error;
use crate::graph::{Graph, ValueId};
use crate::interpret::run;
use crate::tensor::{Elements, Tensor};
use crate::tflite;

pub use cases::{CaseData, embeddable_cases};
pub use inputs::InputKind;

/// Largest difference that is accepted by default, relative to the largest magnitude of an output.
pub const DEFAULT_TOLERANCE: f64 = 1e-4;

/// Most test cases in a `.nk` file.
pub const MAX_CASES: usize = netkit::format::MAX_CASES as usize;

/// Most numbers in the input and in the output of a test case.
pub const MAX_CASE_FLOATS: usize = netkit::format::MAX_CASE_FLOATS as usize;

/// Outputs below this magnitude count as if they had it: what cancels out in double precision leaves a rest in single.
const LEAST_MAGNITUDE: f64 = 1e-3;

/// How a proof is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProofOptions {
    /// Start of the random numbers.
    pub seed: u64,
    /// Largest accepted difference, relative to the largest magnitude of an output.
    pub tolerance: f64,
}

impl Default for ProofOptions {
    fn default() -> Self {
        Self { seed: 1, tolerance: DEFAULT_TOLERANCE }
    }
}

/// How the elements of the model's input and output lie in those of the network: for each element its place, or `None`
/// if both have the same order.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'p> {
    /// Rows of the model's batch that the network computes one at a time.
    pub rows: usize,
    /// Places of the input, of one row.
    pub input: Option<&'p [usize]>,
    /// Places of the output, of one row.
    pub output: Option<&'p [usize]>,
}

impl Default for Placement<'_> {
    fn default() -> Self {
        Self { rows: 1, input: None, output: None }
    }
}

/// What the source model answers to an input, in its own order.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// What was fed.
    pub kind: InputKind,
    /// The input.
    pub input: Vec<f32>,
    /// The output.
    pub output: Vec<f64>,
}

impl Answer {
    /// What a source model answers to one kind of input.
    fn of(source: &dyn Reference, kind: InputKind, seed: u64) -> Result<Self, ProofError> {
        let input = source.input(kind, seed)?;
        let output = source.run(&input)?;
        Ok(Self { kind, input, output })
    }
}

/// One input through both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What was fed.
    pub input: InputKind,
    /// Largest finite magnitude of the interpreter's output.
    pub largest_output: f64,
    /// Largest difference of two elements; infinite if one of them is not finite and the other is not the same.
    pub absolute_difference: f64,
    /// The same, relative to the largest magnitude.
    pub relative_difference: f64,
    /// Where in the model's output the difference is largest, with the interpreter's and the engine's number.
    pub worst: (usize, f64, f32),
}

/// All comparisons of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// Largest accepted relative difference.
    pub tolerance: f64,
    /// A difference that is accepted whatever the outputs are: some steps of int8.
    pub slack: f64,
    /// One for each input.
    pub comparisons: Vec<Comparison>,
    /// What the source model computed, which takes most of the time.
    pub answers: Vec<Answer>,
}

/// Why a proof could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProofError {
    /// The interpreter does not execute the graph.
    #[error("the source model cannot be executed: {0}")]
    Source(#[from] Error),
    /// The engine does not run the model.
    #[error("the converted model cannot be run: {0}")]
    Engine(String),
    /// The two do not have the same inputs and outputs.
    #[error("the converted model does not have the shape of the source: {0}")]
    Shape(String),
}

impl Proof {
    /// Whether all differences are within the tolerance.
    pub fn passes(&self) -> bool {
        let is_close = |comparison: &Comparison| {
            comparison.relative_difference <= self.tolerance || comparison.absolute_difference <= self.slack
        };
        self.comparisons.iter().all(is_close)
    }

    /// The comparison with the largest difference.
    pub fn worst(&self) -> Option<&Comparison> {
        self.comparisons.iter().max_by(|a, b| a.relative_difference.total_cmp(&b.relative_difference))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, expected, found) = self.worst;
        write!(f, "{}: largest difference {:.3e}", self.input, self.absolute_difference)?;
        write!(f, " ({:.3e} of the largest output {:.3e})", self.relative_difference, self.largest_output)?;
        write!(f, ", at element {place}: {expected} and {found}")
    }
}

/// A source model that can be executed. int8 models take and give codes.
pub trait Reference {
    /// Elements of its only input and its only output.
    fn elements(&self) -> Result<(usize, usize), ProofError>;

    /// An input.
    fn input(&self, kind: InputKind, seed: u64) -> Result<Vec<f32>, ProofError>;

    /// The output.
    fn run(&self, input: &[f32]) -> Result<Vec<f64>, ProofError>;

    /// The number that an element of the output stands for.
    fn real(&self, output: f64) -> f64 {
        output
    }

    /// What the network is fed for a number of the source's input, where they are not the same.
    fn fed(&self, number: f32) -> f32 {
        number
    }

    /// A difference that is accepted whatever the outputs are.
    fn slack(&self) -> f64 {
        0.0
    }
}

impl Reference for Graph {
    fn elements(&self) -> Result<(usize, usize), ProofError> {
        let (input, output) = only_ports(self)?;
        Ok((elements(self, input), elements(self, output)))
    }

    fn input(&self, kind: InputKind, seed: u64) -> Result<Vec<f32>, ProofError> {
        only_ports(self).map(|(input, _)| inputs::values(self, input, kind, seed))
    }

    fn run(&self, input: &[f32]) -> Result<Vec<f64>, ProofError> {
        reference(self, only_ports(self)?.0, input)
    }
}

impl Reference for tflite::Source<'_> {
    fn elements(&self) -> Result<(usize, usize), ProofError> {
        Ok((self.input_elements(), self.output_elements()))
    }

    fn input(&self, kind: InputKind, seed: u64) -> Result<Vec<f32>, ProofError> {
        Ok(match self.input_params() {
            Some(params) => inputs::codes(self.input_elements(), params.zero_point, kind, seed),
            None => inputs::reals(self.input_elements(), (0.0, 1.0), kind, seed),
        })
    }

    fn run(&self, input: &[f32]) -> Result<Vec<f64>, ProofError> {
        Ok(tflite::Source::run(self, input)?)
    }

    fn real(&self, output: f64) -> f64 {
        match self.output_params() {
            Some(params) => f64::from(params.scale) * (output - f64::from(params.zero_point)),
            None => output,
        }
    }
}

/// Runs a source model and the `.nk` model made from it on all kinds of inputs.
pub fn prove(
    source: &dyn Reference,
    nk: &[u8],
    placement: Placement<'_>,
    options: &ProofOptions,
) -> Result<Proof, ProofError> {
    let (fed, given) = source.elements()?;
    let mut engine = engine::Engine::load(nk)?;
    let rows = placement.rows;
    check_places("input", fed, rows, engine.input_elements(), placement.input)?;
    check_places("output", given, rows, engine.output_elements(), placement.output)?;
    let (mut comparisons, mut answers) = (Vec::new(), Vec::new());
    for kind in InputKind::ALL {
        let answer = Answer::of(source, kind, options.seed)?;
        let mut found = Vec::with_capacity(given);
        for row in answer.input.chunks_exact(engine.input_elements()) {
            let memory = engine.run(&to_memory(row, placement.input))?;
            found.extend(from_memory(memory, placement.output));
        }
        comparisons.push(compare(kind, &answer.output, &found));
        answers.push(answer);
    }
    Ok(Proof { tolerance: options.tolerance, slack: source.slack(), comparisons, answers })
}

fn only_ports(graph: &Graph) -> Result<(ValueId, ValueId), ProofError> {
    match (graph.inputs.as_slice(), graph.outputs.as_slice()) {
        (&[input], &[output]) => Ok((input, output)),
        (inputs, outputs) => {
            Err(ProofError::Shape(format!("the source has {} inputs and {} outputs", inputs.len(), outputs.len())))
        }
    }
}

fn elements(graph: &Graph, id: ValueId) -> usize {
    graph.value(id).shape.iter().flatten().product()
}

/// Refuses places that are not a rearrangement of the network's elements.
fn check_places(
    what: &str,
    source: usize,
    rows: usize,
    network: usize,
    places: Option<&[usize]>,
) -> Result<(), ProofError> {
    let shape = |found: String| Err(ProofError::Shape(found));
    if source != rows * network {
        return shape(format!(
            "its {what} has {network} elements for each of {rows} rows, that of the source {source}"
        ));
    }
    let Some(places) = places else { return Ok(()) };
    let mut is_used = vec![false; network];
    let is_rearrangement = places.len() == network
        && places.iter().all(|&place| place < network && !std::mem::replace(&mut is_used[place], true));
    if is_rearrangement { Ok(()) } else { shape(format!("the places of its {what} are not a rearrangement")) }
}

/// The interpreter's output.
fn reference(graph: &Graph, input: ValueId, values: &[f32]) -> Result<Vec<f64>, ProofError> {
    let value = graph.value(input);
    let shape = value.shape.clone().unwrap_or_default();
    let tensor = value.element_type.and_then(|kind| match kind.is_float() {
        true => Tensor::real(kind, shape, values.iter().map(|&x| f64::from(x)).collect()),
        false => Tensor::whole(kind, shape, values.iter().map(|&x| x as i64).collect()),
    });
    let tensor = tensor.ok_or_else(|| ProofError::Shape(format!("input \"{}\" has no shape", value.name)))?;
    let output = run(graph, &[tensor])?.remove(0);
    Ok(match output.elements() {
        Elements::Real(elements) => elements.clone(),
        Elements::Whole(elements) => elements.iter().map(|&y| y as f64).collect(),
    })
}

fn to_memory(values: &[f32], places: Option<&[usize]>) -> Vec<f32> {
    let Some(places) = places else { return values.to_vec() };
    let mut memory = vec![0.0; values.len()];
    places.iter().zip(values).for_each(|(&place, &value)| memory[place] = value);
    memory
}

fn from_memory(memory: &[f32], places: Option<&[usize]>) -> Vec<f32> {
    match places {
        None => memory.to_vec(),
        Some(places) => places.iter().map(|&place| memory[place]).collect(),
    }
}

fn compare(input: InputKind, expected: &[f64], found: &[f32]) -> Comparison {
    let finite = expected.iter().filter(|y| (**y as f32).is_finite());
    let largest_output = finite.fold(0.0, |most: f64, y| most.max(y.abs()));
    let mut worst = (0, expected.first().copied().unwrap_or(0.0), found.first().copied().unwrap_or(0.0));
    let mut absolute_difference = 0.0;
    for (index, (&expected, &found)) in expected.iter().zip(found).enumerate() {
        let difference = difference(expected, found);
        if difference > absolute_difference {
            absolute_difference = difference;
            worst = (index, expected, found);
        }
    }
    let relative_difference = absolute_difference / largest_output.max(LEAST_MAGNITUDE);
    Comparison { input, largest_output, absolute_difference, relative_difference, worst }
}

/// Distance of two numbers. What is too large for single precision counts as infinite on both sides.
fn difference(expected: f64, found: f32) -> f64 {
    let rounded = expected as f32;
    match rounded == found || (rounded.is_nan() && found.is_nan()) {
        true => 0.0,
        false if rounded.is_finite() && found.is_finite() => (expected - f64::from(found)).abs(),
        false => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_infinity_and_nan_are_equal() {
        assert_eq!(difference(1e300, f32::INFINITY), 0.0);
        assert_eq!(difference(f64::NAN, f32::NAN), 0.0);
        assert_eq!(difference(f64::NEG_INFINITY, f32::INFINITY), f64::INFINITY);
        assert_eq!(difference(1.0, f32::NAN), f64::INFINITY);
        assert_eq!(difference(f64::NAN, 1.0), f64::INFINITY);
        assert_eq!(difference(1.0, 1.5), 0.5);
    }

    #[test]
    fn differences_are_relative_to_the_largest_output() {
        let comparison = compare(InputKind::Normal, &[1.0, -200.0, f64::INFINITY], &[1.5, -200.0, f32::INFINITY]);
        assert_eq!(comparison.absolute_difference, 0.5);
        assert_eq!(comparison.relative_difference, 0.5 / 200.0);
        assert_eq!(comparison.worst, (0, 1.0, 1.5));
    }

    #[test]
    fn places_have_to_be_a_rearrangement() {
        assert!(check_places("input", 3, 1, 3, Some(&[2, 0, 1])).is_ok());
        assert!(check_places("input", 6, 2, 3, Some(&[2, 0, 1])).is_ok());
        assert!(check_places("input", 3, 1, 4, None).is_err());
        assert!(check_places("input", 6, 1, 3, None).is_err());
        for places in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3]] {
            assert!(check_places("input", 3, 1, 3, Some(places)).is_err());
        }
    }

    #[test]
    fn memory_order_is_undone() {
        let places = [2, 0, 1];
        let memory = to_memory(&[1.0, 2.0, 3.0], Some(&places));
        assert_eq!(memory, [2.0, 3.0, 1.0]);
        assert_eq!(from_memory(&memory, Some(&places)), [1.0, 2.0, 3.0]);
    }
}
