//! `netkit inspect`.

mod common;

use common::{SUMMARY, json, model, models, netkit, stdout, temporary};
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
    for name in ["test_mlp", "digits_cnn", "kind_14_yolox_pafpn_multiscale", "digits_cnn_dw_int8", "blocks_mixed_int8"]
    {
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
fn both_sizes_of_the_arena_are_those_of_the_library() {
    for name in ["test_mlp", "digits_cnn", "digits_cnn_int8", "blocks_mixed_int8"] {
        let bytes = model(&format!("{name}.nk"));
        let plan = netkit::MemoryPlan::of(&netkit::Model::parse(&bytes).expect("valid")).expect("plan");
        let document = json(&format!("inspect models/{name}.nk --json"));
        let number = |key: &str| document[key].as_u64().expect(key) as usize;
        assert_eq!(number("packed_bytes"), plan.packed_bytes, "{name}");
        assert_eq!(Ok(number("recommended_arena_bytes")), plan.recommended_arena_bytes(), "{name}");
        assert!(number("recommended_arena_bytes") >= number("arena_bytes") + number("packed_bytes"), "{name}");
        let printed = stdout(&format!("inspect models/{name}.nk --full"));
        for (label, key) in
            [("packed weights:    ", "packed_bytes"), ("recommended arena: ", "recommended_arena_bytes")]
        {
            assert!(printed.contains(&format!("\n  {label}   {} bytes (", document[key])), "{name}: {printed}");
        }
    }
    // Convolutions have weights to pack.
    assert!(json("inspect models/digits_cnn.nk --json")["packed_bytes"].as_u64() > Some(0));
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
    let sizes = ["arena_bytes", "activation_bytes", "plan_bytes", "peak_live_bytes", "flash_bytes", "packed_bytes"];
    for key in sizes.into_iter().chain(["recommended_arena_bytes", "steps", "macs"]) {
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
    for path in models() {
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
fn int8_models_are_planned_and_their_quantization_is_shown() {
    let printed = stdout("inspect models/digits_cnn_int8.nk --full --tensors");
    for text in [
        "Type        : CNN",
        " bytes needed):\n  after load: ",
        "\n  integer tables: ",
        "0x0007 (tests, int8, int8 test inputs)",
        "\nQuantization, weight scales per channel (scale, zero point):\n",
        "softmax: 0.00390625, -128\n",
        "int8 inputs",
    ] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    assert_eq!(printed.matches("\nQuantization").count(), 1, "{printed}");
    assert!(stdout("inspect models/relu6_int8.nk --full").contains("dense+clamp"));
    for option in ["--full", "--tensors"] {
        assert!(stdout(&format!("inspect models/digits_cnn_int8.nk {option}")).contains("\nQuantization, "));
    }
    assert!(!printed.replace("digits_cnn_int8", "").contains("cannot be run"), "{printed}");

    let document = json("inspect models/digits_cnn_int8.nk --full --json");
    assert_eq!(document["quantized"], true);
    for key in ["arena_bytes", "steps", "table_bytes", "flash_bytes"] {
        assert!(document[key].as_u64() > Some(0), "{key}");
    }
    assert!(document["arena_reason"].is_null() && document["error"].is_null());
    let descriptors = document["quantization"]["descriptors"].as_array().expect("descriptors");
    let scales = &descriptors[0]["channel_scales"];
    assert!(scales["min"].as_f64() <= scales["max"].as_f64(), "{scales}");
    assert_eq!(descriptors[0]["kind"], "conv2d");
    assert!(descriptors[0]["then"].is_null() && descriptors[0]["then_output"].is_null());
    let last = descriptors.last().expect("dense");
    assert_eq!((&last["then"], &last["then_output"]["zero_point"]), (&"softmax".into(), &(-128).into()));
    // An int8 element is a byte: the first step reads 16 x 16 of them.
    assert_eq!(document["plan"][0]["input"]["bytes"], 256);
    assert!(json("inspect models/digits_cnn_int8.nk --json").get("quantization").is_none());
}

#[test]
fn what_follows_an_int8_layer_is_shown() {
    let then = |model: &str, index: usize| {
        let document = json(&format!("inspect models/{model}.nk --tensors --json"));
        let descriptor = &document["quantization"]["descriptors"][index];
        (descriptor["then"].as_str().map(str::to_owned), descriptor["then_output"]["scale"].as_f64())
    };
    assert_eq!(then("activation_sigmoid_int8", 0), (Some("sigmoid".to_owned()), Some(1.0 / 256.0)));
    assert_eq!(then("activation_tanh_int8", 1), (Some("tanh".to_owned()), Some(1.0 / 128.0)));
    assert_eq!(then("activation_leaky_relu_int8", 2).0.as_deref(), Some("leaky_relu"));
    assert_eq!(then("kind_10_resnet_basic_block_int8", 0), (None, None));
    assert_eq!(then("kind_10_resnet_basic_block_int8", 1).0.as_deref(), Some("sum"));
}

#[test]
fn scales_that_do_not_chain_are_a_warning() {
    let path = "models/scales_not_chained_int8.nk";
    netkit(&format!("inspect {path}"))
        .assert()
        .success()
        .stdout(starts_with("=====").and(contains("warning").not()))
        .stderr(starts_with(format!("netkit: {path}: warning: scales do not chain: layer 0 writes scale ")));
    for path in models() {
        let name = path.file_stem().expect("name").to_string_lossy();
        if !["scales_not_chained_int8", "activation_ignored_int8"].contains(&&*name) {
            netkit("inspect").arg(&path).assert().success().stderr("");
        }
    }
}

#[test]
fn the_input_of_a_projection_is_that_of_the_block() {
    let mut bytes = model("resnet_projection_last_int8.nk");
    let quant = netkit::Model::parse(&bytes).expect("valid").quant().expect("int8").offset();
    // The last descriptor is the projection's, 8 + 3 * 32 bytes into the section; its second word is the zero point.
    let zero_point = quant + 8 + 3 * 32 + 4;
    bytes[zero_point..zero_point + 4].copy_from_slice(&99i32.to_le_bytes());
    let (_folder, path) = temporary("projection.nk", &bytes);
    let text = "zero point 99 (weight tensor 3)\n";
    netkit("inspect").arg(&path).assert().success().stderr(contains("layer 0 writes").and(ends_with(text)));
}

#[test]
fn ignored_activations_are_a_warning() {
    let assert = netkit("inspect models/activation_ignored_int8.nk").assert().success();
    let errors = String::from_utf8(assert.get_output().stderr.clone()).expect("UTF-8");
    let expected = [
        "layer 0 (conv2d): sigmoid is ignored: the descriptor's bias scale and zero point are not 1/256 and -128",
        "layer 1 (depthwise_conv2d): tanh is ignored: the descriptor's bias scale and zero point are not 1/128 and 0",
        "layer 2 (conv2d): leaky_relu is ignored: the descriptor's bias scale and zero point are not those of the output",
        "layer 3 (conv2d): softmax is ignored: int8 has it for dense layers only",
    ];
    let start = "netkit: models/activation_ignored_int8.nk: warning: ";
    assert_eq!(errors, expected.map(|text| format!("{start}{text}\n")).concat());
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
