//! `netkit run`.

mod common;

use common::{SUMMARY, json, netkit, npy, stdout, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

/// What the model answers to this input file.
fn answer(model: &str, bytes: &[u8]) -> String {
    let (_folder, path) = temporary("input.npy", bytes);
    stdout(&format!("run models/{model} -q --input {path}"))
}

#[test]
fn prints_summary_input_and_output() {
    let printed = stdout("run models/test_mlp.nk --input 1,2");
    let tensors = "\nInput: shape=[1, 2] values=[1.0000, 2.0000]\nOutput: shape=[1, 2] values=[3.0000, 3.0000]\n";
    assert_eq!(printed, format!("{SUMMARY}{tensors}"));
    assert_eq!(stdout("run models/test_mlp.nk --input=1,2"), printed);
}

#[test]
fn quiet_prints_values_that_read_back_exactly() {
    assert_eq!(stdout("run models/test_mlp.nk -q -i 1,2"), "3,3\n");
    assert_eq!(stdout("run models/test_mlp.nk -q -i -1,2"), "2.5,0.5\n");
    netkit("run models/test_mlp.nk -q --input").arg(" 1 ,\t2 ").assert().success().stdout("3,3\n");
    netkit("run models/test_mlp.nk -q --input").arg("1-2").assert().success();
    let printed = stdout("run models/test_mlp.nk -q -i 0.1,1e-7");
    let full = json("run models/test_mlp.nk --json -i 0.1,1e-7");
    let values = full["output"]["values"].as_array().expect("values");
    for (text, value) in printed.trim_end().split(',').zip(values) {
        assert_eq!(text.parse::<f32>().ok(), value.as_f64().map(|value| value as f32));
    }
}

#[test]
fn not_finite_values_run() {
    netkit("run models/test_mlp.nk --input inf,nan").assert().success().stdout(contains("values=[inf, nan]"));
    let document = json("run models/test_mlp.nk --json --input -inf,nan");
    assert_eq!(document["input"]["values"], serde_json::json!(["-inf", "nan"]));
}

#[test]
fn json_has_the_documented_keys() {
    let document = json("run models/test_mlp.nk --json --input 1,2");
    assert_eq!(document["schema"], "netkit.run/1");
    assert_eq!(document["name"], "test_mlp");
    assert_eq!(document["input"], serde_json::json!({"shape": [1, 2], "values": [1.0, 2.0]}));
    assert_eq!(document["output"], serde_json::json!({"shape": [1, 2], "values": [3.0, 3.0]}));
    assert!(document["output_file"].is_null() && document["kernels"].is_string());
}

#[test]
fn npy_of_all_types_shapes_and_orders() {
    use npyz::Order::{C, Fortran};
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let expected = stdout("run models/test_cnn.nk -q -i 1,2,3,4,5,6,7,8");
    for shape in [&[2, 2, 2][..], &[1, 2, 2, 2], &[8], &[1, 8]] {
        assert_eq!(answer("test_cnn.nk", &npy::<f32>(shape, C, &values)), expected, "{shape:?}");
    }
    assert_eq!(answer("test_cnn.nk", &npy::<f64>(&[2, 2, 2], C, &values.map(f64::from))), expected);
    assert_eq!(answer("test_cnn.nk", &npy::<i8>(&[2, 2, 2], C, &values.map(|value| value as i8))), expected);
    assert_eq!(answer("test_cnn.nk", &npy::<u8>(&[2, 2, 2], C, &values.map(|value| value as u8))), expected);
    assert_eq!(answer("test_cnn.nk", &npy::<i32>(&[2, 2, 2], C, &values.map(|value| value as i32))), expected);
    let fortran = [1.0, 5.0, 3.0, 7.0, 2.0, 6.0, 4.0, 8.0];
    assert_eq!(answer("test_cnn.nk", &npy::<f32>(&[2, 2, 2], Fortran, &fortran)), expected);
}

#[test]
fn big_endian_npy_is_swapped() {
    let mut bytes = npy::<f32>(&[1, 2], npyz::Order::C, &[0.0, 0.0]);
    let at = bytes.windows(3).position(|window| window == b"<f4").expect("type");
    bytes[at] = b'>';
    let data = bytes.len() - 8;
    bytes[data..].copy_from_slice(&[1f32.to_be_bytes(), 2f32.to_be_bytes()].concat());
    assert_eq!(answer("test_mlp.nk", &bytes), "3,3\n");
}

#[test]
fn raw_input_and_both_outputs() {
    let (folder, input) = temporary("x.f32", &[1f32.to_le_bytes(), 2f32.to_le_bytes()].concat());
    let raw = folder.path().join("y.f32");
    netkit(&format!("run models/test_mlp.nk -q -i @{input} -o @{}", raw.display())).assert().success().stdout("");
    assert_eq!(std::fs::read(raw).expect("output"), [3f32.to_le_bytes(), 3f32.to_le_bytes()].concat());

    let array = folder.path().join("y.npy");
    let text = format!("Output: shape=[1, 2] written to {}\n", array.display());
    netkit(&format!("run models/test_mlp.nk -i @{input} -o {}", array.display()))
        .assert()
        .success()
        .stdout(ends_with(text));
    let file = npyz::NpyFile::new(&std::fs::read(&array).expect("output")[..]).expect("header").into_vec::<f32>();
    assert_eq!(file.expect("values"), [3.0, 3.0]);
    // What was written can be read.
    netkit(&format!("run models/test_mlp.nk -q -i {}", array.display())).assert().success();
}

#[test]
fn wrong_values_are_usage_errors() {
    netkit("run models/test_mlp.nk").assert().code(2).stderr(contains("--input"));
    netkit("run models/test_mlp.nk --input 1,x").assert().code(2).stdout("").stderr(
        "netkit: invalid --input values: \"x\" at character 3 is not a number\n  hint: see `netkit help run`\n",
    );
    netkit("run models/test_mlp.nk --input ,").assert().code(2).stderr(contains("there are none"));
    netkit("run models/test_mlp.nk --input 1,2,3")
        .assert()
        .code(2)
        .stderr(starts_with("netkit: --input has 3 values, but the model takes [1, 2], 2 values\n"));
    netkit("run models/test_mlp.nk --input 1,2 --output y.txt").assert().code(2).stderr(contains("end with .npy"));
    netkit("run models/test_mlp.nk --input 1,2 --quiet --json")
        .assert()
        .code(2)
        .stderr(contains("cannot be used with"));
}

#[test]
fn wrong_files_name_both_sides() {
    let refused = |bytes: &[u8], name: &str, prefix: &str, texts: [&str; 2]| {
        let (_folder, path) = temporary(name, bytes);
        let assert = netkit(&format!("run models/test_cnn.nk --input {prefix}{path}")).assert().code(3).stdout("");
        let [first, second] = texts;
        assert.stderr(starts_with(format!("netkit: {path}: ")).and(contains(first)).and(contains(second)));
    };
    let order = npyz::Order::C;
    refused(&npy::<f32>(&[3], order, &[0.0; 3]), "a.npy", "", ["shape [3]", "the model takes [2, 2, 2], 8 values"]);
    refused(&npy::<f32>(&[4, 2], order, &[0.0; 8]), "a.npy", "", ["shape [4, 2]", "[2, 2, 2]"]);
    refused(&npy::<u16>(&[8], order, &[0; 8]), "a.npy", "", ["'<u2'", "float32"]);
    refused(b"text", "a.npy", "", ["not an .npy file", "NUMPY"]);
    refused(&[0; 12], "a.f32", "@", ["12 bytes, expected 32", "[2, 2, 2]"]);
    refused(&[0; 100], "a.f32", "@", ["100 bytes, expected 32", "[2, 2, 2]"]);
    refused(&npy::<f32>(&[8], order, &[0.0; 8]), "a.npy", "@", [".npy file, not raw", "without the @"]);
    netkit("run models/test_cnn.nk --input no_such.npy").assert().code(3).stderr(contains("cannot read the input"));
    netkit("run models/test_mlp.nk --input 1,2 --output no/such/y.npy")
        .assert()
        .code(3)
        .stderr(contains("cannot write the output"));
}

#[test]
fn channels_first_is_not_reinterpreted() {
    let (_folder, path) = temporary("nchw.npy", &npy::<f32>(&[1, 1, 16, 16], npyz::Order::C, &[0.0; 256]));
    netkit(&format!("run models/digits_cnn.nk --input {path}"))
        .assert()
        .code(3)
        .stderr(contains("shape [1, 1, 16, 16]").and(contains("move the channels to the end")));
}

#[test]
fn raw_is_for_int8_models() {
    netkit("run models/test_mlp.nk --raw --input 1,2").assert().code(3).stdout("").stderr(
        "netkit: models/test_mlp.nk: this is a float32 model; --raw is for int8 models\n  hint: leave out --raw\n",
    );
}

#[test]
fn kernels_follow_the_environment() {
    let level = |wish: &str| {
        let mut command = netkit("run models/test_mlp.nk --json --input 1,2");
        let output = command.env("NETKIT_CPU", wish).assert().success().get_output().stdout.clone();
        let document: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
        assert_eq!(document["output"]["values"], serde_json::json!([3.0, 3.0]), "{wish}");
        document["kernels"].as_str().expect("a name").to_owned()
    };
    assert_eq!(level("reference"), "reference");
    assert_eq!(level("portable"), "portable");
    assert_eq!(level("no such level"), netkit::kernels::best_level().name());
}
