//! `netkit inspect`.

mod common;

use common::{SUMMARY, json, model, netkit, root, stdout, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

#[test]
fn plain_prints_exactly_the_summary() {
    let printed = stdout("inspect models/test_mlp.nk");
    for (index, (printed, expected)) in printed.lines().zip(SUMMARY.lines()).enumerate() {
        assert_eq!(printed, expected, "line {}", index + 1);
    }
    assert_eq!(printed, SUMMARY);
}

#[test]
fn full_adds_the_lines_that_programs_read() {
    let printed = stdout("inspect models/test_mlp.nk --full");
    let rest = printed.strip_prefix(SUMMARY).expect("the summary first");
    let need = json("inspect models/test_mlp.nk --json")["arena_bytes"].as_u64().expect("a number");
    let expected = format!(
        "\nArena ({need} bytes needed):\n  after load:           {need} bytes\n  after forward (zero): {need} bytes\n  \
         flash payload:        48 bytes (not in arena)\n"
    );
    assert!(rest.starts_with(&expected), "{rest}");
    assert!(rest.contains("dense+relu"), "{rest}");
}

#[test]
fn the_need_is_exact() {
    for name in ["test_mlp", "digits_cnn", "kind_14_yolox_pafpn_multiscale"] {
        let bytes = model(&format!("{name}.nk"));
        let parsed = netkit::Model::parse(&bytes).expect("valid");
        let need =
            json(&format!("inspect models/{name}.nk --json"))["arena_bytes"].as_u64().expect("a number") as usize;
        assert!(netkit::Network::load(&parsed, &mut vec![0; need]).is_ok(), "{name}");
        let error = netkit::Network::load(&parsed, &mut vec![0; need - 1]).expect_err(name);
        assert_eq!(error.needed(), need as u64, "{name}");
    }
}

#[test]
fn tensors_shows_sections_catalog_and_cases() {
    let assert = netkit("inspect models/digits_cnn.nk --tensors").assert().success();
    assert
        .stdout(contains("\nnetkit binary model (.nk)\n  file:            models/digits_cnn.nk\n"))
        .stdout(contains("  input shape:     [16, 16, 1]\n"))
        .stdout(contains("0x0001 (tests)"))
        .stdout(contains("weight[0]"))
        .stdout(contains("Test cases, tolerance "));
    // Tables in pipes have no lines and no blanks at the ends.
    let printed = stdout("inspect models/digits_cnn.nk --full --tensors");
    assert!(printed.lines().all(|line| line == line.trim_end()), "{printed}");
    assert!(printed.is_ascii(), "{printed}");
}

#[test]
fn json_has_the_documented_keys() {
    let document = json("inspect models/test_mlp.nk --json");
    assert_eq!(document["schema"], "netkit.inspect/1");
    assert_eq!(document["name"], "test_mlp");
    assert_eq!(document["format_version"], 3);
    assert_eq!(document["network"], "mlp");
    assert_eq!(document["input_shape"], serde_json::json!([1, 2]));
    assert_eq!(document["output_shape"], serde_json::json!([1, 2]));
    assert_eq!((&document["input_elements"], &document["output_elements"]), (&2.into(), &2.into()));
    assert_eq!(document["layers"][0]["kind"], "dense");
    assert_eq!(document["layers"][0]["parameters"]["activation"], "relu");
    for key in ["arena_bytes", "activation_bytes", "plan_bytes", "peak_live_bytes", "flash_bytes", "steps", "macs"] {
        assert!(document[key].is_u64(), "{key}");
    }
    for absent in ["plan", "weights", "tests"] {
        assert!(document.get(absent).is_none(), "{absent}");
    }

    let document = json("inspect models/test_mlp.nk --json --full --tensors");
    assert_eq!(document["plan"][0]["op"], "dense");
    assert_eq!(document["sections"]["weights"], 176);
    assert_eq!(document["weights"][1]["offset"], 192);
    assert_eq!(document["tests"]["cases"][0]["inputs"], 2);
    assert_eq!(document["quantization"], serde_json::Value::Null);
}

#[test]
fn catalog_offsets_and_owners_cover_the_payload() {
    for entry in std::fs::read_dir(root().join("models")).expect("models") {
        let path = entry.expect("entry").path();
        if path.extension().is_none_or(|extension| extension != "nk") {
            continue;
        }
        let output =
            netkit("inspect --tensors --full --json").arg(&path).assert().success().get_output().stdout.clone();
        let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
        let layers = document["layers"].as_array().expect("layers").len() as u64;
        for (list, end) in [("weights", "biases"), ("biases", "end")] {
            let mut offset = document["sections"][list].as_u64();
            for tensor in document[list].as_array().expect("tensors") {
                assert_eq!(tensor["offset"].as_u64(), offset, "{}", path.display());
                assert!(tensor["layer"].as_u64().is_some_and(|layer| layer < layers), "{}", path.display());
                offset = offset.zip(tensor["bytes"].as_u64()).map(|(offset, bytes)| offset + bytes);
            }
            assert!(offset <= document["sections"][end].as_u64(), "{}", path.display());
        }
    }
}

#[test]
fn int8_models_are_described_but_not_planned() {
    netkit("inspect models/digits_cnn_int8.nk --full --tensors")
        .assert()
        .success()
        .stderr("")
        .stdout(contains("Type        : CNN"))
        .stdout(contains("Arena (not known: int8 models cannot be run"))
        .stdout(contains("0x0007 (tests, int8, int8 test inputs)"))
        .stdout(contains("Quantization, weight scales per channel"))
        .stdout(contains("int8 inputs"));
    let document = json("inspect models/digits_cnn_int8.nk --tensors --json");
    assert_eq!(document["quantized"], true);
    assert!(document["arena_bytes"].is_null() && document["steps"].is_null());
    assert!(document["arena_reason"].as_str().is_some_and(|reason| reason.contains("int8")));
    assert!(document["flash_bytes"].is_u64());
    assert!(document["error"].is_null());
    let descriptor = &document["quantization"]["descriptors"][0];
    assert!(descriptor["channel_scales"]["min"].as_f64() <= descriptor["channel_scales"]["max"].as_f64());
}

#[test]
fn scales_that_do_not_chain_are_a_warning() {
    let path = "models/scales_not_chained_int8.nk";
    netkit(&format!("inspect {path}"))
        .assert()
        .success()
        .stdout(starts_with("=====").and(contains("warning").not()))
        .stderr(starts_with(format!("netkit: {path}: warning: scales do not chain: layer 0 writes scale ")));
    for chained in ["digits_mlp_int8", "digits_cnn_int8", "uib_chain_int8", "mlp_softmax_layers_int8"] {
        netkit(&format!("inspect models/{chained}.nk")).assert().success().stderr("");
    }
}

#[test]
fn a_broken_test_section_is_a_warning() {
    let mut bytes = model("test_mlp.nk");
    bytes.truncate(bytes.len() - 1);
    let (_folder, path) = temporary("cut.nk", &bytes);
    netkit("inspect --tensors")
        .arg(&path)
        .assert()
        .success()
        .stdout(ends_with("\nTest cases: none\n"))
        .stderr(contains("warning: the test section cannot be used"));
}

#[test]
fn a_model_that_would_not_load_is_described_and_refused() {
    // More units in layer 0 than its weights are for.
    let mut bytes = model("test_mlp.nk");
    bytes[52] = 3;
    let (_folder, path) = temporary("units.nk", &bytes);
    netkit("inspect --full")
        .arg(&path)
        .assert()
        .code(3)
        .stdout(contains("[0] Dense units=3").and(contains("Arena (not known: layer 0 (dense)")))
        .stderr(starts_with(format!("netkit: {path}: layer 0 (dense), byte 48: elements of the weight tensor is 4")));
    let output = netkit("inspect --json").arg(&path).assert().code(3).get_output().stdout.clone();
    let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert!(document["arena_bytes"].is_null());
    assert!(document["error"].as_str().is_some_and(|error| error.contains("expected 6")), "{document}");

    // A weight that is NaN.
    let mut bytes = model("test_mlp.nk");
    bytes[176..180].copy_from_slice(&f32::NAN.to_le_bytes());
    let (_folder, path) = temporary("nan.nk", &bytes);
    netkit("inspect").arg(&path).assert().code(3).stderr(contains("byte 176: a weight or bias is NaN or infinite"));
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let mut bytes = model("test_mlp.nk");
    let at = bytes.windows(5).position(|window| window == b"zeros").expect("case name");
    bytes[at] = 0x1B;
    let (_folder, path) = temporary("escape.nk", &bytes);
    for command in ["inspect --tensors", "test"] {
        netkit(command).arg(&path).assert().success().stdout(contains("\\u{1b}eros").and(contains("\x1b").not()));
    }
}
