//! `netkit bench`.

mod common;

use common::{json, netkit, stdout, temporary};
use predicates::str::contains;

#[test]
fn the_report_names_kernels_and_times() {
    let printed = stdout("bench models/digits_cnn.nk --runs 3");
    let lines: Vec<&str> = printed.lines().collect();
    let level = netkit::kernels::best_level().name();
    assert_eq!(lines[0], format!("digits_cnn: float32, {level} kernels, one thread"));
    for (line, name) in lines[2..].iter().zip(["median", "p95", "min", "runs"]) {
        assert!(line.trim_start().starts_with(name), "{line}");
    }
    assert!(lines[2].ends_with(" GFLOP/s)") && lines[5] == "  runs    3", "{printed}");
    let output = netkit("bench models/digits_cnn.nk --runs 1").env("NETKIT_CPU", "reference").output().expect("run");
    assert!(String::from_utf8(output.stdout).expect("UTF-8").contains("reference kernels"));
}

#[test]
fn json_has_the_documented_keys() {
    let document = json("bench models/digits_cnn.nk --runs 20 --json");
    assert_eq!((&document["schema"], &document["name"]), (&"netkit.bench/1".into(), &"digits_cnn".into()));
    assert_eq!((&document["runs"], &document["quantized"]), (&20.into(), &false.into()));
    let time = |key: &str| document[key].as_u64().expect("nanoseconds");
    assert!(0 < time("min_ns") && time("min_ns") <= time("median_ns") && time("median_ns") <= time("p95_ns"));
    assert_eq!(document["macs"], json("inspect models/digits_cnn.nk --json")["macs"]);
    let operations = document["gops"].as_f64().expect("a number") * time("median_ns") as f64;
    assert!((operations / (2.0 * document["macs"].as_f64().expect("a count")) - 1.0).abs() < 1e-9, "{document}");
    assert!(document.get("layers").is_none());
}

#[test]
fn layers_have_shares_of_the_whole() {
    let document = json("bench models/digits_cnn_int8.nk --runs 50 --per-layer --json");
    let layers = document["layers"].as_array().expect("layers");
    let kinds: Vec<_> = layers.iter().map(|layer| layer["kind"].as_str().expect("a name")).collect();
    assert_eq!(kinds, ["conv2d", "max_pool2d", "conv2d", "max_pool2d", "flatten", "dense"]);
    let shares: f64 = layers.iter().map(|layer| layer["share"].as_f64().expect("a part")).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    let macs: u64 = layers.iter().map(|layer| layer["macs"].as_u64().expect("a count")).sum();
    assert_eq!(Some(macs), document["macs"].as_u64());
    assert_eq!(layers[0]["output_shape"], serde_json::json!([16, 16, 6]));
    assert!(layers[0]["gops"].as_f64() > Some(0.0) && layers[4]["gops"].is_null());
    // The convolution takes over the pool behind it.
    assert_eq!((&layers[1]["merged_into"], &layers[0]["merged_into"]), (&0.into(), &serde_json::Value::Null));
    let printed = stdout("bench models/digits_cnn_int8.nk --runs 5 --per-layer");
    assert!(printed.contains("  [0]  conv2d      [16, 16, 6]  13824") && printed.contains("part of [0]"), "{printed}");
    assert!(printed.contains(" GOP/s)") && printed.contains("share  GOP/s") && !printed.contains("FLOP"), "{printed}");
}

#[test]
fn every_model_can_be_measured() {
    for path in common::models() {
        netkit("bench --runs 2 --per-layer").arg(path).assert().success().stderr("");
    }
}

#[test]
fn time_is_a_limit_too() {
    let start = std::time::Instant::now();
    let document = json("bench models/test_mlp.nk --seconds 0.05 --json");
    assert!(document["runs"].as_u64() > Some(10), "{document}");
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn wrong_usage_and_files_are_refused() {
    for arguments in ["--seconds 0", "--seconds x", "--seconds 1e9", "--runs 0", "--runs 5 --seconds 1", "--wrong"] {
        netkit(&format!("bench models/test_mlp.nk {arguments}")).assert().code(2).stdout("");
    }
    netkit("bench").assert().code(2);
    netkit("bench no_such.nk").assert().code(3).stderr(contains("cannot open the model file"));
    let mut bytes = common::model("test_mlp.nk");
    bytes[176..180].copy_from_slice(&f32::NAN.to_le_bytes());
    let (_folder, path) = temporary("nan.nk", &bytes);
    netkit("bench --runs 1").arg(path).assert().code(3).stderr(contains("NaN or infinite"));
}
