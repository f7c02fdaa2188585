//! Graphs against `.nk` models, right and wrong ones.

mod common;

use common::encode::perceptron;
use netkit::format::records::{ActivationCode, Dense, Layer};
use netkit::format::write::{ModelSpec, Sink};
use netkit::format::{DType, NETWORK_MLP, TensorEntry};
use netkit_convert::graph::Graph;
use netkit_convert::onnx::{Options, load};
use netkit_convert::proof::{InputKind, Placement, ProofError, ProofOptions, embeddable_cases, prove};

struct Bytes(Vec<u8>);

impl Sink for Bytes {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fn le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The perceptron of the ONNX file as a `.nk` model: weights by output.
fn dense(weights: &[f32; 6], activation: ActivationCode) -> Vec<u8> {
    let entry = |rank, dims| TensorEntry { rank, dtype: DType::Float32, dims };
    let spec = ModelSpec {
        version: 3,
        network: NETWORK_MLP,
        input_rank: 2,
        input_shape: [1, 3, 0, 0],
        layers: &[Layer::Dense(Dense { units: 2, activation, alpha: 0.0 })],
        weights: &[entry(2, [2, 3, 0, 0])],
        biases: &[entry(1, [2, 0, 0, 0])],
        quant: None,
        weight_payload: &le_bytes(weights),
        bias_payload: &le_bytes(&[0.1, -0.2]),
        cases: None,
    };
    let mut bytes = Bytes(Vec::new());
    spec.write(&mut bytes).unwrap();
    bytes.0
}

const WEIGHTS: [f32; 6] = [0.5, 2.0, -0.75, -1.0, 0.25, 1.5];

fn graph() -> Graph {
    load(&perceptron().bytes(13), None, &Options::default()).unwrap().0
}

#[test]
fn a_right_model_passes_on_all_inputs() {
    let nk = dense(&WEIGHTS, ActivationCode::RELU);
    let proof = prove(&graph(), &nk, Placement::default(), &ProofOptions::default()).unwrap();
    assert!(proof.passes(), "{}", proof.worst().unwrap());
    assert_eq!(proof.comparisons.iter().map(|comparison| comparison.input).collect::<Vec<_>>(), InputKind::ALL);
    assert!(proof.comparisons.iter().any(|comparison| comparison.largest_output > 1.0));
}

#[test]
fn a_wrong_weight_and_a_missing_activation_are_found() {
    let mut wrong = WEIGHTS;
    wrong[4] += 1e-3;
    for nk in [dense(&wrong, ActivationCode::RELU), dense(&WEIGHTS, ActivationCode::NONE)] {
        let proof = prove(&graph(), &nk, Placement::default(), &ProofOptions::default()).unwrap();
        assert!(!proof.passes());
        let worst = proof.worst().unwrap();
        assert!(worst.to_string().contains("largest difference"), "{worst}");
    }
}

#[test]
fn a_wrong_order_is_found_and_the_right_one_passes() {
    let swapped = [2.0, 0.5, -0.75, 0.25, -1.0, 1.5];
    let nk = dense(&swapped, ActivationCode::RELU);
    let options = ProofOptions::default();
    assert!(!prove(&graph(), &nk, Placement::default(), &options).unwrap().passes());
    let placement = Placement { input: Some(&[1, 0, 2]), ..Placement::default() };
    assert!(prove(&graph(), &nk, placement, &options).unwrap().passes());
    let placement = Placement { input: Some(&[1, 1, 2]), ..Placement::default() };
    assert!(matches!(prove(&graph(), &nk, placement, &options), Err(ProofError::Shape(_))));
}

#[test]
fn cases_hold_answers_of_the_source() {
    let nk = dense(&WEIGHTS, ActivationCode::RELU);
    let options = ProofOptions { seed: 5, ..ProofOptions::default() };
    let proof = prove(&graph(), &nk, Placement::default(), &options).unwrap();
    let cases = embeddable_cases(&graph(), Placement::default(), 20, options.seed, &proof.answers).unwrap();
    assert_eq!(cases.len(), 16);
    assert_eq!(cases[0].input, proof.answers[0].input, "what the proof has computed is not computed again");
    for case in &cases {
        assert_eq!((case.input.len(), case.expected.len()), (3, 2));
        let sum = |row: usize| case.input.iter().zip(&WEIGHTS[3 * row..]).map(|(x, w)| x * w).sum::<f32>();
        for (row, bias) in [0.1, -0.2].into_iter().enumerate() {
            assert!((case.expected[row] - (sum(row) + bias).max(0.0)).abs() < 1e-5);
        }
    }
    assert_ne!(cases[0].input, cases[4].input);
}
