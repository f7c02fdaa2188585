//! `netkit test`.

mod common;

use common::{json, model, netkit, stdout, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

/// test_mlp.nk whose last expected output is wrong.
fn failing_model() -> Vec<u8> {
    let mut bytes = model("test_mlp.nk");
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&7f32.to_le_bytes());
    bytes
}

#[test]
fn passing_cases_are_code_0() {
    let printed = stdout("test models/test_mlp.nk");
    assert!(
        printed.starts_with("Model: models/test_mlp.nk\nEmbedded cases: 3\nOutput tolerance: 1e-05\n"),
        "{printed}"
    );
    let rule = "=".repeat(28);
    let end = format!("\n{rule}\n MODEL TEST SUMMARY\n{rule}\nPassed: 3\nFailed: 0\n");
    assert!(printed.ends_with(&end), "{printed}");
}

#[test]
fn a_failing_case_is_code_1() {
    let (_folder, path) = temporary("failing.nk", &failing_model());
    netkit("test")
        .arg(&path)
        .assert()
        .code(1)
        .stderr("")
        .stdout(contains("\nFAIL negative (mismatch at out[1]").and(ends_with("Passed: 2\nFailed: 1\n")));
    netkit("test --quiet")
        .arg(&path)
        .assert()
        .code(1)
        .stdout(starts_with("FAIL negative (").and(ends_with(")\nPassed: 2\nFailed: 1\n")));
}

#[test]
fn several_models_are_summed_and_a_bad_one_does_not_stop_the_others() {
    assert_eq!(stdout("test -q models/test_mlp.nk models/test_mlp.nk"), "Passed: 6\nFailed: 0\n");
    netkit("test -q models/no_such.nk models/test_mlp.nk")
        .assert()
        .code(3)
        .stdout("Passed: 3\nFailed: 1\n")
        .stderr(starts_with("netkit: models/no_such.nk: cannot open the model file"));
}

#[test]
fn int8_models_are_judged_by_class_or_strictly() {
    let printed = stdout("test models/digits_mlp_int8.nk");
    assert!(printed.contains("\nPASS digit 0 (int8 argmax classification correct)\n"), "{printed}");
    for path in common::models().into_iter().filter(|path| path.to_string_lossy().ends_with("_int8.nk")) {
        netkit("test -q --strict").arg(&path).assert().success().stderr("");
    }
    // An output that does not change the class is wrong by more than one step.
    let mut bytes = model("digits_mlp_int8.nk");
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&0.1f32.to_le_bytes());
    let (_folder, path) = temporary("digits.nk", &bytes);
    netkit("test -q").arg(&path).assert().success().stdout("Passed: 4\nFailed: 0\n");
    netkit("test -q --strict")
        .arg(&path)
        .assert()
        .code(1)
        .stdout(starts_with("FAIL digit 3 (mismatch at out[9]").and(ends_with("Passed: 3\nFailed: 1\n")));
    // Float models are compared closely in any case.
    assert_eq!(stdout("test -q --strict models/test_mlp.nk"), "Passed: 3\nFailed: 0\n");
}

#[test]
fn a_model_without_cases_is_code_3() {
    let mut bytes = model("test_mlp.nk");
    bytes[10] = 0;
    bytes.truncate(224);
    let (_folder, path) = temporary("none.nk", &bytes);
    netkit("test").arg(&path).assert().code(3).stderr(contains("no embedded test cases"));
}

#[test]
fn long_tensors_follow_options_and_environment() {
    let shows = |text: &str| text.contains("loading weights...");
    assert!(shows(&stdout("test models/digits_cnn.nk")));
    assert!(shows(&stdout("test --verbose models/digits_cnn.nk")));
    let with = |name: &str, value: &str, arguments: &str| {
        let output = netkit(arguments).env(name, value).assert().success().get_output().stdout.clone();
        String::from_utf8(output).expect("UTF-8")
    };
    assert!(!shows(&with("NETKIT_REGRESSION_VERBOSE", "0", "test models/digits_cnn.nk")));
    assert!(shows(&with("NETKIT_REGRESSION_VERBOSE", "0", "test -v models/digits_cnn.nk")));
    assert!(!shows(&with("GITHUB_ACTIONS", "true", "test models/digits_cnn.nk")));
}

#[test]
fn json_names_each_case() {
    let document = json("test --json models/test_mlp.nk models/digits_cnn.nk");
    assert_eq!(document["schema"], "netkit.test/1");
    assert_eq!(document["failed"], 0);
    let models = document["models"].as_array().expect("models");
    for report in models {
        let cases = report["cases"].as_array().expect("cases");
        assert_eq!(Some(cases.len() as u64), report["passed"].as_u64(), "{report}");
        assert!(cases.iter().all(|case| case["passed"] == true), "{report}");
    }
    assert_eq!(models[0]["cases"][0]["message"], "2 outputs match within tolerance");
    assert!(models[1]["cases"][0]["label"].is_i64());

    let (_folder, path) = temporary("failing.nk", &failing_model());
    let output = netkit("test --json no_such.nk").arg(&path).assert().code(3).get_output().stdout.clone();
    let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert_eq!((&document["passed"], &document["failed"]), (&2.into(), &2.into()));
    assert!(document["models"][0]["error"].as_str().is_some_and(|error| error.starts_with("cannot open")));
    assert_eq!(document["models"][1]["cases"][2]["passed"], false);
}

#[test]
fn colors_on_demand_only() {
    let green = "\x1b[32mPASS one two";
    netkit("test models/test_mlp.nk").assert().success().stdout(contains("\x1b").not());
    netkit("test models/test_mlp.nk --color always").assert().success().stdout(contains(green));
    netkit("--color never test models/test_mlp.nk").env("CLICOLOR_FORCE", "1").assert().stdout(contains("\x1b").not());
    netkit("test models/test_mlp.nk").env("CLICOLOR_FORCE", "1").assert().stdout(contains(green));
    netkit("inspect no_such.nk --color always").assert().code(3).stderr(contains("\x1b[31mnetkit"));
}
