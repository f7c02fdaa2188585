//! Every model with embedded test cases gives the expected outputs, at every kernel level.
//!
//! The models of the repository are always there; `common::model_files` tells how to add more.

mod common;

use std::path::Path;

use common::{model_files, read_f32};
use netkit::format::{Case, Cases, Values};
use netkit::kernels::{self, Level};
use netkit::regression::argmax;
use netkit::{MemoryPlan, Model, Network};

/// Runs on an arena of exactly the planned size whose old content is all ones.
fn run(model: &Model<'_>, input: &[f32]) -> Vec<f32> {
    let plan = MemoryPlan::of(model).expect("plan");
    let mut arena = vec![0xFF; plan.arena_bytes];
    let mut output = vec![f32::NAN; plan.output.elements().expect("output") as usize];
    Network::load(model, &mut arena).expect("load").run(input, &mut output).expect("run");
    output
}

fn run_int8(model: &Model<'_>, input: &[i8]) -> Vec<i8> {
    let plan = MemoryPlan::of(model).expect("plan");
    let mut arena = vec![0xFF; plan.arena_bytes];
    let mut output = vec![0x55; plan.output.elements().expect("output") as usize];
    Network::load(model, &mut arena).expect("load").run_int8(input, &mut output).expect("run");
    output
}

#[test]
fn models_give_the_expected_outputs_at_every_level() {
    // From the best level down, because a cap never raises the level.
    let levels: Vec<Level> = kernels::supported_levels().collect();
    for level in levels.into_iter().rev() {
        kernels::cap_level(level);
        assert_eq!(kernels::active().level, level);
        for path in model_files() {
            let bytes = std::fs::read(&path).expect("read");
            let model = Model::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            match (path.with_extension("out.f32").exists(), path.with_extension("out.i8").exists()) {
                (true, _) => check_sidecar(&path, &model, level),
                (_, true) => check_int8_sidecar(&path, &model, level),
                _ => check_cases(&path, &model, level),
            }
        }
    }
}

fn check_cases(path: &Path, model: &Model<'_>, level: Level) {
    let cases = Cases::read(model).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    for case in cases.iter() {
        let name = format!("{} case {} level {}", path.display(), case.name, level.name());
        match case.input {
            Values::Float32(_) => check_case(&name, model, &case, cases.tolerance),
            Values::Int8(input) => check_int8_case(&name, model, &case, bytemuck::cast_slice(input)),
        }
    }
}

fn check_case(name: &str, model: &Model<'_>, case: &Case<'_>, tolerance: f32) {
    let output = run(model, &case.input.floats().collect::<Vec<f32>>());
    assert_eq!(output.len(), case.expected.len(), "{name}");
    for (index, (actual, expected)) in output.iter().zip(case.expected.floats()).enumerate() {
        let difference = (actual - expected).abs();
        let allowed = tolerance + 1e-5 * expected.abs();
        assert!(difference <= allowed, "{name}: output {index} is {actual}, expected {expected}");
    }
}

/// The models of the repository hold exact int8 results, dequantised. Those of the reference engine come from a simulation
/// in floats: only the class is comparable.
fn check_int8_case(name: &str, model: &Model<'_>, case: &Case<'_>, input: &[i8]) {
    let params = MemoryPlan::of(model).expect("plan").output_quant.expect("int8");
    let output = run_int8(model, input);
    assert_eq!(output.len(), case.expected.len(), "{name}");
    if name.contains("shared") {
        let expected: Vec<f32> = case.expected.floats().collect();
        let class = usize::try_from(case.label).unwrap_or_else(|_| argmax(&expected));
        let actual: Vec<f32> = output.iter().map(|&q| f32::from(q)).collect();
        assert_eq!(argmax(&actual), class, "{name}");
        return;
    }
    for (index, (&actual, expected)) in output.iter().zip(case.expected.floats()).enumerate() {
        let expected = (f64::from(expected) / f64::from(params.scale)).round() as i32 + params.zero_point;
        assert_eq!(i32::from(actual), expected, "{name}: output {index}");
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

/// The same for int8: `NAME.in.i8` and `NAME.out.i8`, compared exactly.
fn check_int8_sidecar(path: &Path, model: &Model<'_>, level: Level) {
    let read = |extension| std::fs::read(path.with_extension(extension)).expect("read");
    let output = run_int8(model, bytemuck::cast_slice(&read("in.i8")));
    assert!(bytemuck::cast_slice::<i8, u8>(&output) == read("out.i8"), "{} level {}", path.display(), level.name());
}
