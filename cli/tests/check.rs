//! `netkit inspect --check` and `--layers`.

mod common;

use common::{json, model, models, netkit, root, stdout, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

#[test]
fn every_model_of_the_repository_passes() {
    for path in models() {
        netkit("inspect --check").arg(&path).assert().success().stdout(starts_with("ok  "));
    }
    let printed = stdout("inspect --check models/test_mlp.nk");
    let (first, second) = printed.split_once('\n').expect("two lines");
    assert_eq!(first, "ok  models/test_mlp.nk");
    assert!(second.starts_with("  layers 2, parameters 12, arena bytes ") && second.ends_with(", test cases 3\n"));
}

#[test]
fn all_problems_are_named_at_once() {
    let mut bytes = model("test_mlp.nk");
    // More units than weights, a NaN and an infinity in two tensors, and an expected output that is no number.
    bytes[52] = 3;
    bytes[176..180].copy_from_slice(&f32::NAN.to_le_bytes());
    bytes[216..220].copy_from_slice(&f32::INFINITY.to_le_bytes());
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    let (_folder, path) = temporary("bad.nk", &bytes);
    netkit("inspect --check").arg(&path).assert().code(1).stderr("").stdout(
        starts_with(format!("bad {path}: 4 problems\n"))
            .and(contains("  weight[0] of layer 0: 1 of 4 values are NaN or infinite, the first at byte 176\n"))
            .and(contains("  bias[1] of layer 1: 1 of 2 values are NaN or infinite, the first at byte 216\n"))
            .and(contains("  layer 0 (dense), byte 48: elements of the weight tensor is 4, expected 6\n"))
            .and(contains("  test case \"negative\": output values that are NaN or infinite\n")),
    );
}

#[test]
fn test_cases_must_have_the_sizes_and_labels_of_the_model() {
    // The last case ends with its label, 256 inputs and 10 outputs, each with a count.
    let mut bytes = model("digits_mlp.nk");
    let label = bytes.len() - 4 * (1 + 10) - 4 * (1 + 256) - 4;
    bytes[label..label + 4].copy_from_slice(&10i32.to_le_bytes());
    let (_folder, path) = temporary("label.nk", &bytes);
    netkit("inspect --check").arg(&path).assert().code(1).stdout(contains("label 10, expected less than 10"));

    let mut bytes = model("test_mlp.nk");
    bytes.truncate(bytes.len() - 1);
    let (_folder, path) = temporary("cut.nk", &bytes);
    netkit("inspect --check").arg(&path).assert().code(1).stdout(contains("bad ").and(contains("test section: ")));
}

#[test]
fn a_file_that_is_no_model_is_bad_and_a_missing_one_an_error() {
    let (_folder, path) = temporary("text.nk", b"no model");
    let text = format!("bad {path}: 1 problem\n  not a .nk model: the first four bytes are not NKIT\n");
    netkit("inspect --check").arg(&path).assert().code(1).stdout(text);
    netkit("inspect --check no_such.nk").assert().code(3).stdout("").stderr(contains("cannot open the model file"));
    netkit("inspect --check --json models/test_mlp.nk").assert().code(2).stderr(contains("cannot be used with"));
}

#[test]
fn padding_of_int8_models_is_checked() {
    let mut bytes = model("weight_tail_1_int8.nk");
    let parsed = netkit::Model::parse(&bytes).expect("valid");
    let used: u64 = parsed.weight_tensors().map(|tensor| tensor.entry.num_bytes()).sum();
    let padding = parsed.payload_offset() + used as usize;
    assert!(!used.is_multiple_of(4), "the model has padding");
    bytes[padding] = 1;
    let (_folder, path) = temporary("padding.nk", &bytes);
    netkit("inspect --check").arg(&path).assert().code(1).stdout(contains("padding behind the int8 weights"));
}

#[test]
fn doubts_stay_warnings() {
    netkit("inspect --check models/scales_not_chained_int8.nk")
        .assert()
        .success()
        .stdout(starts_with("ok  "))
        .stderr(contains("warning: scales do not chain"));
}

#[test]
fn layers_have_costs_and_totals() {
    let printed = stdout("inspect models/digits_cnn_int8.nk --layers");
    let expected = "\
Layers (6):
       kind        output       parameters   MACs  weight bytes
  [0]  conv2d      [16, 16, 6]          60  13824            78
  [1]  max_pool2d  [8, 8, 6]             0      0             0
  [2]  conv2d      [8, 8, 10]          550  34560           580
  [3]  max_pool2d  [4, 4, 10]            0      0             0
  [4]  flatten     [1, 160]              0      0             0
  [5]  dense       [1, 10]            1610   1600          1640

Totals:
  parameters:         2220
  MACs:               49984
  weight bytes:       2300
";
    assert!(printed.contains(expected), "{printed}");
    let document = json("inspect models/digits_cnn_int8.nk --json");
    let (least, recommended) = (&document["arena_bytes"], &document["recommended_arena_bytes"]);
    assert!(printed.ends_with(&format!("  least arena:        {least}\n  recommended arena:  {recommended}\n")));
}

#[test]
fn the_costs_of_all_layers_add_up() {
    for path in models() {
        let name = path.strip_prefix(root()).expect("in the repository").display().to_string();
        let output = netkit("inspect --json").arg(&path).assert().success().get_output().stdout.clone();
        let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
        let layers = document["layers"].as_array().expect("layers");
        let sum = |key: &str| layers.iter().map(|layer| layer[key].as_u64().expect("known")).sum::<u64>();
        assert_eq!(Some(sum("parameter_count")), document["parameter_count"].as_u64(), "{name}");
        assert_eq!(Some(sum("macs")), document["macs"].as_u64(), "{name}");
        let flash = document["flash_bytes"].as_u64().expect("known");
        assert!((0..4).contains(&(flash - sum("weight_bytes"))), "{name}: padding only");
    }
}

#[test]
fn costs_that_are_not_known_are_null() {
    let mut bytes = model("test_mlp.nk");
    bytes[52] = 3;
    let (_folder, path) = temporary("units.nk", &bytes);
    let output = netkit("inspect --json").arg(&path).assert().code(3).get_output().stdout.clone();
    let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert!(document["layers"][0]["macs"].is_null());
    netkit("inspect --layers")
        .arg(&path)
        .assert()
        .code(3)
        .stdout(ends_with("  least arena:        -\n  recommended arena:  -\n"));
}
