//! Test cases for a `.nk` file, with answers of the source model.

use super::{Answer, InputKind, MAX_CASE_FLOATS, MAX_CASES, Placement, ProofError, Reference, to_memory};

/// An input with the expected output, in the order of the network: the data of a test case in a `.nk` file.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseData {
    /// Name of the case.
    pub name: String,
    /// What is fed; codes of an int8 model.
    pub input: Vec<f32>,
    /// What the source model computes; the numbers that codes stand for.
    pub expected: Vec<f32>,
}

/// At most `count` test cases, and none if the model is too large for them. The first ones are those that a proof has
/// `answered` already. Cases whose answer is not finite are left out.
pub fn embeddable_cases(
    source: &dyn Reference,
    placement: Placement<'_>,
    count: usize,
    seed: u64,
    answered: &[Answer],
) -> Result<Vec<CaseData>, ProofError> {
    // Large inputs drive activations into saturation, which makes poor tests.
    let mut cases = Vec::new();
    for answer in answered.iter().filter(|answer| answer.kind != InputKind::Large) {
        cases.extend(rows(source, answer, placement, cases.len()));
    }
    let count = count.min(MAX_CASES);
    let kinds = [InputKind::Normal, InputKind::Range, InputKind::SignFlipped];
    for further in 0..count {
        if cases.len() >= count || further > 0 && cases.is_empty() {
            break;
        }
        // The proof has used the seed itself.
        let seed = seed.wrapping_add(1 + (further / kinds.len()) as u64);
        let answer = Answer::of(source, kinds[further % kinds.len()], seed)?;
        cases.extend(rows(source, &answer, placement, cases.len()));
    }
    cases.truncate(count);
    Ok(cases)
}

/// The rows of an answer that fit a test case.
fn rows(source: &dyn Reference, answer: &Answer, placement: Placement<'_>, first: usize) -> Vec<CaseData> {
    let (fed, answered) = (answer.input.len() / placement.rows, answer.output.len() / placement.rows);
    if fed.max(answered) > MAX_CASE_FLOATS {
        return Vec::new();
    }
    let rows = answer.input.chunks_exact(fed).zip(answer.output.chunks_exact(answered));
    let case = |(index, (input, output)): (usize, (&[f32], &[f64]))| {
        let expected: Vec<f32> = output.iter().map(|&y| source.real(y) as f32).collect();
        expected.iter().all(|y| y.is_finite()).then(|| CaseData {
            name: format!("{} {}", answer.kind, first + index),
            input: to_memory(input, placement.input),
            expected: to_memory(&expected, placement.output),
        })
    };
    rows.enumerate().filter_map(case).collect()
}
