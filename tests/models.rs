//! Every model with embedded test cases gives the expected outputs, at every kernel level.
//!
//! The models of the repository are always there; `common::model_files` tells how to add more.

mod common;

use std::path::Path;

use common::{model_files, read_f32};
use netkit::format::Cases;
use netkit::kernels::{self, Level};
use netkit::{MemoryPlan, Model, Network};

fn run(model: &Model<'_>, input: &[f32]) -> Vec<f32> {
    let plan = MemoryPlan::of(model).expect("plan");
    let mut arena = vec![0xFF; plan.arena_bytes];
    let mut output = vec![f32::NAN; plan.output.elements().expect("output") as usize];
    Network::load(model, &mut arena).expect("load").run(input, &mut output).expect("run");
    output
}

#[test]
fn embedded_cases_hold_at_every_level() {
    for level in kernels::supported_levels() {
        kernels::cap_level(level);
        for path in model_files() {
            let bytes = std::fs::read(&path).expect("read");
            let model = Model::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            if model.is_quantized() {
                continue;
            }
            if path.with_extension("out.f32").exists() {
                check_sidecar(&path, &model, level);
            } else {
                check_cases(&path, &model, level);
            }
        }
    }
}

fn check_cases(path: &Path, model: &Model<'_>, level: Level) {
    let cases = Cases::read(model).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for case in cases.iter() {
        let input: Vec<f32> = case.input.floats().collect();
        let output = run(model, &input);
        let expected: Vec<f32> = case.expected.floats().collect();
        assert_eq!(output.len(), expected.len(), "{} {}", path.display(), case.name);
        for (index, (actual, expected)) in output.iter().zip(&expected).enumerate() {
            let tolerance = cases.tolerance + 1e-5 * expected.abs();
            let difference = (actual - expected).abs();
            assert!(
                difference <= tolerance,
                "{} case {} level {}: output {index} is {actual}, expected {expected}",
                path.display(),
                case.name,
                level.name(),
            );
        }
    }
}

/// Large models have their case beside them: `NAME.in.f32` and `NAME.out.f32`, raw little-endian.
fn check_sidecar(path: &Path, model: &Model<'_>, level: Level) {
    let output = run(model, &read_f32(&path.with_extension("in.f32")));
    let expected = read_f32(&path.with_extension("out.f32"));
    assert_eq!(output.len(), expected.len(), "{}", path.display());
    let largest = expected.iter().fold(0.0f32, |max, value| max.max(value.abs()));
    for (index, (actual, expected)) in output.iter().zip(&expected).enumerate() {
        let difference = (actual - expected).abs();
        assert!(
            difference <= 1e-4 * largest,
            "{} level {}: output {index} is {actual}, expected {expected}",
            path.display(),
            level.name(),
        );
    }
}
