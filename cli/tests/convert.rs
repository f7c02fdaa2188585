//! `netkit convert`.

mod common;

use std::fs;
use std::path::Path;

use common::{netkit, npy, npz};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

const MODELS: &str = "convert/tests/models";

/// A folder, and the path of a file in it that is not there yet.
fn target() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("model.nk").to_str().expect("UTF-8").to_owned();
    (folder, path)
}

/// The report of a conversion, which may have failed.
fn report(arguments: &str) -> serde_json::Value {
    let output = netkit(&format!("{arguments} --report json")).output().expect("runs");
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn a_model_is_converted_and_proven() {
    let (_folder, path) = target();
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path}"))
        .assert()
        .success()
        .stderr("")
        .stdout(contains("verified: largest difference").and(contains("written: ")));
    netkit(&format!("inspect {path}")).assert().success();
}

#[test]
fn the_file_stands_beside_the_source_unless_said_otherwise() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let source = folder.path().join("net.onnx");
    fs::copy(common::root().join(MODELS).join("flatten_gemm.onnx"), &source).expect("copy");
    netkit("convert").arg(&source).assert().success();
    assert!(folder.path().join("net.nk").exists());
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 2, "nothing else is left");
}

#[test]
fn a_model_answers_like_its_source() {
    let (_folder, path) = target();
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --embed-tests 3")).assert().success();
    netkit(&format!("test {path}")).assert().success().stdout(contains("Passed: 3"));
}

#[test]
fn cases_of_the_user_are_embedded() {
    let (folder, path) = target();
    let source = common::root().join(MODELS).join("flatten_gemm");
    let array = |kind: &str| fs::read(source.with_extension(format!("{kind}.npy"))).expect("array");
    let tests = folder.path().join("cases.npz");
    let answer: Vec<f32> = npyz::NpyFile::new(&array("y")[..]).expect("array").into_vec().expect("float32");
    let largest = answer.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("an element").0;
    let labels = npy(&[1], npyz::Order::C, &[largest as i64]);
    let arrays = [("inputs", array("x")), ("outputs", array("y")), ("labels", labels)];
    fs::write(&tests, npz(&arrays, zip::CompressionMethod::Stored)).expect("archive");
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --tests {}", tests.display())).assert().success();
    let document = common::json(&format!("test {path} --json"));
    assert!(document.to_string().contains(&format!("case 0, class {largest}")), "{document}");
}

#[test]
fn a_file_of_tests_must_fit_the_model() {
    let (folder, path) = target();
    let tests = folder.path().join("cases.npz");
    let inputs = npy(&[1, 5], npyz::Order::C, &[0f32; 5]);
    fs::write(&tests, npz(&[("inputs", inputs)], zip::CompressionMethod::Stored)).expect("archive");
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --tests {}", tests.display()))
        .assert()
        .code(3)
        .stderr(contains("inputs").and(contains("expected cases of")));
    assert!(!Path::new(&path).exists());
}

#[test]
fn what_has_no_form_is_named_and_nothing_is_written() {
    let (_folder, path) = target();
    fs::write(&path, "precious").expect("file");
    netkit(&format!("convert {MODELS}/refused_gate.onnx -o {path}")).assert().code(4).stderr(contains("Mul"));
    assert_eq!(fs::read_to_string(&path).expect("file"), "precious");
    let document = report(&format!("convert {MODELS}/refused_gate.onnx -o {path}"));
    assert_eq!(document["converted"], false);
    assert!(!document["refusals"].as_array().expect("refusals").is_empty());
}

#[test]
fn a_difference_above_the_tolerance_is_not_written() {
    let (_folder, path) = target();
    fs::write(&path, "precious").expect("file");
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --tolerance 0"))
        .assert()
        .code(1)
        .stdout(contains("NOT verified").and(contains("nothing was written")));
    assert_eq!(fs::read_to_string(&path).expect("file"), "precious");
    netkit(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --tolerance 0 --no-verify"))
        .assert()
        .success()
        .stdout(contains("not verified"));
}

#[test]
fn damaged_and_missing_files_are_unreadable() {
    let (folder, path) = target();
    let damaged = folder.path().join("damaged.onnx");
    fs::write(&damaged, [0xff; 40]).expect("file");
    netkit(&format!("convert {} -o {path}", damaged.display())).assert().code(3).stderr(contains("ONNX"));
    netkit(&format!("convert nowhere.onnx -o {path}")).assert().code(3).stderr(contains("nowhere.onnx"));
    assert!(!Path::new(&path).exists());
}

#[test]
fn every_node_is_explained() {
    let (_folder, path) = target();
    let document = report(&format!("convert {MODELS}/flatten_gemm.onnx -o {path} --explain"));
    let nodes = document["nodes"].as_array().expect("nodes");
    assert!(nodes.iter().any(|node| node["op"] == "Gemm" && node["layers"][0].is_u64()), "{document}");
    assert_eq!(document["schema"], "netkit.convert/1");
    assert_eq!(document["proof"]["passed"], true);
}

#[test]
fn a_quantised_model_keeps_its_scales() {
    let (folder, path) = target();
    let source = "convert/tests/qdq/signed_cnn_per_channel.onnx";
    netkit(&format!("convert {source} -o {path} --embed-tests 4"))
        .assert()
        .success()
        // 1.2 times the square root of six roundings.
        .stdout(contains("quantised, ").and(contains("or 2.9 steps of int8")));
    netkit(&format!("test {path} --strict")).assert().success().stdout(contains("Passed: 4"));
    let cases = folder.path().join("cases.npz");
    let array =
        |kind: &str| fs::read(common::root().join(source).with_extension(format!("{kind}.npy"))).expect("array");
    let (inputs, outputs) = (array("x"), array("y"));
    fs::write(&cases, npz(&[("inputs", inputs), ("outputs", outputs)], zip::CompressionMethod::Stored))
        .expect("archive");
    netkit(&format!("convert {source} -o {path} --tests {}", cases.display())).assert().success();
    netkit(&format!("test {path} --strict")).assert().success().stdout(contains("Passed: 10"));
    let document = report(&format!("convert {source} -o {path} --explain"));
    assert_eq!(document["proof"]["passed"], true);
    assert!(document["nodes"].as_array().expect("nodes").iter().any(|node| node["op"] == "QuantizeLinear"));
    netkit(&format!("quantize {source} -o {path} --calib nothing.npy"))
        .assert()
        .code(4)
        .stderr(contains("int8 model already"));
}

#[test]
fn wrong_options_are_usage() {
    let (_folder, path) = target();
    let base = format!("convert {MODELS}/flatten_gemm.onnx -o {path}");
    for wrong in ["--input-shape x", "--dim h", "--embed-tests 17", "--report xml"] {
        netkit(&format!("{base} {wrong}")).assert().code(2);
    }
    netkit(&format!("{base} --output nothing")).assert().failure().stderr(contains("nothing"));
}

#[test]
fn a_batch_of_images_is_computed_one_at_a_time() {
    let (_folder, path) = target();
    let model = format!("convert {MODELS}/refused_batch_of_images.onnx -o {path}");
    netkit(&format!("{model} --embed-tests 16"))
        .assert()
        .success()
        .stdout(contains("a batch of 2 in the source, one at a time here").and(contains("test cases: 16")));
    netkit(&format!("test {path}")).assert().success().stdout(contains("Passed: 16"));
    assert_eq!(report(&model)["network"]["rows"], 2);
    // Only the proof tells that the images do not depend on each other.
    netkit(&format!("{model} --no-verify")).assert().code(4).stderr(contains("Conv"));
}

#[test]
fn rows_that_depend_on_each_other_are_refused() {
    let (_folder, path) = target();
    netkit(&format!("convert {MODELS}/refused_norm_over_the_batch.onnx -o {path}")).assert().failure();
    assert!(!Path::new(&path).exists());
}

#[test]
fn weights_beside_the_model_are_read_from_its_folder_only() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let (source, data) = (folder.path().join("net.onnx"), folder.path().join("weights_in_another_file.data"));
    let committed = common::root().join(MODELS).join("weights_in_another_file");
    let weights = fs::read(committed.with_extension("data")).expect("weights");
    let model = fs::read(committed.with_extension("onnx")).expect("model");
    fs::write(&source, &model).expect("model");
    let convert = || {
        let mut command = netkit("convert");
        command.arg(&source);
        command.assert()
    };
    convert().code(3).stderr(contains("weights_in_another_file.data").and(contains("No such file")));
    fs::write(&data, &weights[..weights.len() - 4]).expect("weights");
    convert().code(3).stderr(contains("external data of tensor"));
    fs::write(&data, &weights).expect("weights");
    convert().success().stdout(contains("verified"));

    // The same length, but the folder above.
    let text = b"weights_in_another_file.data";
    let at = model.windows(text.len()).position(|window| window == text).expect("location");
    let mut outside = model.clone();
    outside[at..at + 3].copy_from_slice(b"../");
    fs::write(&source, outside).expect("model");
    convert().code(3).stderr(contains("../ghts_in_another_file.data"));
}

const TFLITE: &str = "convert/tests/tflite";

#[test]
fn a_tensorflow_lite_model_is_converted_to_the_bit() {
    let (_folder, path) = target();
    netkit(&format!("convert {TFLITE}/resnet_strided_on_even_and_odd.tflite -o {path} --embed-tests 4"))
        .assert()
        .success()
        .stderr("")
        .stdout(contains("TensorFlow Lite, int8, 8 nodes").and(contains("verified: largest difference 0.0e0")));
    netkit(&format!("inspect --check {path}")).assert().success();
    netkit(&format!("test {path} --strict")).assert().success().stdout(contains("Passed: 4"));
}

#[test]
fn operators_of_a_tensorflow_lite_model_are_explained() {
    let (_folder, path) = target();
    let model = format!("{TFLITE}/average_pool_with_ties.tflite");
    let document = report(&format!("convert {model} -o {path} --explain"));
    let nodes = document["nodes"].as_array().expect("nodes");
    let names: Vec<&str> = nodes.iter().filter_map(|node| node["op"].as_str()).collect();
    assert_eq!(names, ["CONV_2D", "AVERAGE_POOL_2D"], "{document}");
    assert_eq!(document["proof"]["largest_relative_difference"], 0.0);
    assert!(document["source"]["opset"].is_null());
}

#[test]
fn operators_without_a_form_are_all_named() {
    let (_folder, path) = target();
    netkit(&format!("convert {TFLITE}/refused_two_operators.tflite -o {path}"))
        .assert()
        .code(4)
        .stderr(contains("HARD_SWISH").and(contains("TRANSPOSE")));
    assert!(!Path::new(&path).exists());
}

#[test]
fn a_damaged_tensorflow_lite_file_is_unreadable() {
    let (folder, path) = target();
    let damaged = folder.path().join("damaged.tflite");
    fs::write(&damaged, [0xff; 40]).expect("file");
    netkit(&format!("convert {} -o {path}", damaged.display())).assert().code(3).stderr(contains("TensorFlow Lite"));
    let source = common::root().join(TFLITE).join("dense_chain.tflite");
    netkit(&format!("convert {} -o {path} --output x", source.display())).assert().code(2).stderr(contains("--output"));
}
