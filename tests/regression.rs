//! The runner of embedded test cases: what passes, what fails, and with which words.

mod common;

use common::{Int8Model, TestModel};
use netkit::format::Cases;
use netkit::regression::{self, Options, Summary};
use netkit::{MemoryPlan, Model, Network};

const LAX: Options = Options { verbose: false, strict: false };
const STRICT: Options = Options { verbose: false, strict: true };

/// Header flags: test cases, and test cases with int8 inputs.
const CASES: u16 = 0x0001;
const INT8_CASES: u16 = 0x0005;

fn run(file: &[u8], options: Options) -> (Summary, String) {
    let model = Model::parse(file).expect("valid");
    let mut memory = vec![0xA5; regression::memory_bytes(&model).expect("plan")];
    let mut report = String::new();
    let summary = regression::run("model.nk", &model, &mut memory, options, &mut report);
    (summary, report)
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// `file` with one test case behind it.
fn with_case(
    mut file: Vec<u8>,
    flags: u16,
    label: i32,
    input: (u32, &[u8]),
    tolerance: f32,
    output: &[f32],
) -> Vec<u8> {
    file[10] |= flags.to_le_bytes()[0];
    file.extend_from_slice(b"TCAS");
    file.extend_from_slice(&1u32.to_le_bytes());
    file.extend_from_slice(&tolerance.to_le_bytes());
    file.extend_from_slice(&[3, b'o', b'n', b'e']);
    file.extend_from_slice(&label.to_le_bytes());
    file.extend_from_slice(&input.0.to_le_bytes());
    file.extend_from_slice(input.1);
    file.extend_from_slice(&(output.len() as u32).to_le_bytes());
    file.extend_from_slice(&floats(output));
    file
}

/// The convolution of [`Int8Model`] over ones gives 23, 14, 9 at each of four positions: with scale 1 and zero point 4
/// these are 19, 10, 5.
fn int8_case(label: i32, tolerance: f32, change: impl Fn(&mut [f32])) -> Vec<u8> {
    let mut expected = [19.0, 10.0, 5.0].repeat(4);
    change(&mut expected);
    with_case(Int8Model::conv().bytes(), INT8_CASES, label, (32, &[1; 32]), tolerance, &expected)
}

fn assert_passes(file: &[u8], options: Options, line: &str) {
    let (summary, report) = run(file, options);
    assert_eq!(summary, Summary { passed: 1, failed: 0 }, "{report}");
    assert!(report.lines().any(|found| found == line), "{line} is not in\n{report}");
}

fn assert_fails(file: &[u8], options: Options, line: &str) {
    let (summary, report) = run(file, options);
    assert_eq!(summary, Summary { passed: 0, failed: 1 }, "{report}");
    assert!(report.lines().any(|found| found == line), "{line} is not in\n{report}");
}

#[test]
fn every_model_passes_its_cases_and_int8_models_of_the_repository_in_strict_mode() {
    for (name, file) in common::small_models(256 << 10) {
        let model = Model::parse(&file).expect("valid");
        let Ok(cases) = Cases::read(&model) else { continue };
        let options = if name.contains("shared") { LAX } else { STRICT };
        let (summary, report) = run(&file, options);
        assert_eq!(summary, Summary { passed: cases.len() as u32, failed: 0 }, "{name}\n{report}");
    }
}

#[test]
fn an_int8_case_passes_by_its_class() {
    let line = "PASS one (int8 argmax classification correct)";
    assert_passes(&int8_case(0, 0.0, |_| ()), LAX, line);
    assert_passes(&int8_case(-1, 0.0, |_| ()), LAX, line);
    assert_passes(&int8_case(0, 0.0, |expected| expected.fill(f32::MAX)), LAX, line);
    assert_passes(&int8_case(-1, 0.0, |expected| expected[7] = -100.0), LAX, line);
}

#[test]
fn an_int8_case_fails_by_its_class() {
    assert_fails(&int8_case(2, 100.0, |_| ()), LAX, "FAIL one (predicted class 0, label 2)");
    assert_fails(&int8_case(99, 100.0, |_| ()), LAX, "FAIL one (predicted class 0, label 99)");
    let other_class = int8_case(-1, 100.0, |expected| expected[4] = 20.0);
    assert_fails(&other_class, LAX, "FAIL one (predicted class 0, the expected outputs have class 4)");
    assert_fails(&other_class, STRICT, "FAIL one (predicted class 0, the expected outputs have class 4)");
}

#[test]
fn strict_mode_compares_each_output_within_one_step_or_the_tolerance() {
    let line = "PASS one (int8 argmax classification correct, 12 outputs within 1)";
    assert_passes(&int8_case(0, 0.0, |_| ()), STRICT, line);
    assert_passes(&int8_case(0, 0.5, |expected| expected[7] += 1.0), STRICT, line);
    let wide = int8_case(0, 2.5, |expected| expected[7] -= 2.5);
    assert_passes(&wide, STRICT, "PASS one (int8 argmax classification correct, 12 outputs within 2.5)");
    let line = "FAIL one (mismatch at out[7]: actual 10, expected 11.25, difference 1.25)";
    assert_fails(&int8_case(0, 0.5, |expected| expected[7] += 1.25), STRICT, line);
    let (_, report) = run(&int8_case(0, 0.5, |expected| expected[7] += 1.25), STRICT);
    assert!(report.contains("  out[6]: q=23  actual=19.0000  expected=19.0000  OK\n"), "{report}");
    assert!(report.contains("  out[7]: q=14  actual=10.0000  expected=11.2500  MISMATCH\n"), "{report}");
}

#[test]
fn the_report_of_an_int8_case_shows_integers_and_reals() {
    let (_, report) = run(&int8_case(0, 0.25, |expected| expected[1] = 8.5), Options { verbose: true, strict: false });
    let ones = vec!["1"; 32].join(", ");
    let expected = format!(
        "Model: model.nk\nEmbedded cases: 1\nOutput tolerance: 0.25\n\nCase: one\n  loading weights...\n\
         Input: shape=[4, 4, 2] values=[{ones}]\n  running forward...\n  \
         out[0]: q=23  actual=19.0000  expected=19.0000\n  out[1]: q=14  actual=10.0000  expected=8.5000\n"
    );
    assert!(report.starts_with(&expected), "{report}");
    assert!(report.ends_with("  predicted class: 0  (label 0)\nPASS one (int8 argmax classification correct)\n"));
}

#[test]
fn cases_of_the_other_kind_fail_with_a_reason() {
    let float_model = with_case(TestModel::mlp().bytes(), INT8_CASES, -1, (2, &[1, 2]), 0.0, &[0.0; 2]);
    let line = "FAIL one (the model is float but the case has int8 inputs: header flag 0x0004 is set)";
    assert_fails(&float_model, LAX, line);
    let input = floats(&[1.0; 32]);
    let int8_model = with_case(Int8Model::conv().bytes(), CASES, -1, (32, &input), 0.0, &[0.0; 12]);
    let line = "FAIL one (the model is int8 but the case has float inputs: header flag 0x0004 is not set)";
    assert_fails(&int8_model, LAX, line);
}

#[test]
fn cases_of_another_size_fail_with_both_sizes() {
    let input = with_case(Int8Model::conv().bytes(), INT8_CASES, -1, (28, &[1; 28]), 0.0, &[0.0; 12]);
    assert_fails(&input, LAX, "FAIL one (the case has 28 input values, the model 32)");
    let output = with_case(Int8Model::conv().bytes(), INT8_CASES, -1, (32, &[1; 32]), 0.0, &[0.0; 11]);
    assert_fails(&output, LAX, "FAIL one (the case has 11 output values, the model 12)");
}

#[test]
fn float_cases_are_compared_the_same_with_and_without_strict() {
    let file = |off_by: f32| {
        let bytes = TestModel::mlp().bytes();
        let model = Model::parse(&bytes).expect("valid");
        let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
        let mut output = [0.0; 2];
        Network::load(&model, &mut arena).expect("load").run(&[1.0, 2.0], &mut output).expect("run");
        output[1] += off_by;
        with_case(bytes, CASES, -1, (2, &floats(&[1.0, 2.0])), 0.125, &output)
    };
    for options in [LAX, STRICT] {
        assert_passes(&file(0.0), options, "PASS one (2 outputs match within tolerance)");
        assert_passes(&file(0.125), options, "PASS one (2 outputs match within tolerance)");
        assert_eq!(run(&file(0.25), options).0, Summary { passed: 0, failed: 1 });
    }
}

/// One byte for each value of an int8 case, four for a float one.
#[test]
fn memory_is_the_plan_and_the_values() {
    let int8 = Int8Model::conv().bytes();
    let int8 = Model::parse(&int8).expect("valid");
    let plan = MemoryPlan::of(&int8).expect("plan").arena_bytes;
    assert_eq!(regression::memory_bytes(&int8), Ok(plan + 32 + 12));
    let float = TestModel::mlp().bytes();
    let float = Model::parse(&float).expect("valid");
    let plan = MemoryPlan::of(&float).expect("plan").arena_bytes;
    assert_eq!(regression::memory_bytes(&float), Ok(plan + 4 * (2 + 2) + 3));
}
