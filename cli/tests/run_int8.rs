//! `netkit run` on int8 models.

mod common;

use common::{json, model, models, netkit, npy, stdout, temporary};
use netkit::format::{Cases, Values};
use netkit::{MemoryPlan, Model};
use npyz::Order::C;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

/// 5 inputs of scale 4/127.5 and zero point -1, 3 outputs.
const MODEL: &str = "run models/weight_tail_1_int8.nk";

#[test]
fn real_numbers_are_quantized_and_both_forms_shown() {
    let printed = stdout(&format!("{MODEL} --input -1,0,0.5,2,-3"));
    let tensors = "
Input: shape=[1, 5] values=[-1.0000, 0.0000, 0.5000, 2.0000, -3.0000]
Input int8: shape=[1, 5] scale=0.0313726 zero_point=-1 values=[-33, -1, 15, 63, -97]
";
    assert!(printed.contains(tensors), "{printed}");
    let document = json(&format!("{MODEL} --json --input -1,0,0.5,2,-3"));
    assert_eq!(document["input"]["int8"]["values"], serde_json::json!([-33, -1, 15, 63, -97]));
    let output = &document["output"];
    let (scale, zero_point) = (output["int8"]["scale"].as_f64(), output["int8"]["zero_point"].as_f64());
    let (codes, values) = (output["int8"]["values"].as_array(), output["values"].as_array());
    for (code, value) in codes.expect("codes").iter().zip(values.expect("values")) {
        let real = scale.expect("scale") * (code.as_f64().expect("code") - zero_point.expect("zero point"));
        assert!((real - value.as_f64().expect("value")).abs() < 1e-6, "{document}");
    }
    let quiet = stdout(&format!("{MODEL} -q --input -1,0,0.5,2,-3"));
    assert_eq!(quiet.trim_end().split(',').count(), 3);
    assert_eq!(quiet.split(',').next().and_then(|text| text.parse().ok()), output["values"][0].as_f64());
}

#[test]
fn raw_takes_and_prints_integers() {
    let arguments = format!("{MODEL} --raw --input -33,-1,15,63,-97");
    let document = json(&format!("{arguments} --json"));
    assert_eq!(document["output"], json(&format!("{MODEL} --json --input -1,0,0.5,2,-3"))["output"]);
    let codes = document["output"]["int8"]["values"].as_array().expect("codes");
    let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
    assert_eq!(stdout(&format!("{arguments} -q")), format!("{}\n", codes.join(",")));
    let printed = stdout(&arguments);
    assert!(printed.contains("\n\nInput int8: shape=[1, 5] scale=0.0313726 zero_point=-1 values=[-33, "), "{printed}");
    assert!(printed.ends_with(&format!(" values=[{}]\n", codes.join(", "))), "{printed}");
    assert!(!printed.contains("\nOutput: "), "{printed}");
}

#[test]
fn every_int8_model_gives_its_expected_codes() {
    let mut count = 0;
    for path in models() {
        let bytes = std::fs::read(&path).expect("read");
        let model = Model::parse(&bytes).expect("valid");
        let Some(params) = MemoryPlan::of(&model).expect("plan").output_quant else { continue };
        let case = Cases::read(&model).expect("cases").iter().next().expect("a case");
        let Values::Int8(input) = case.input else { panic!("{}: float inputs", path.display()) };
        let (_folder, input) = temporary("x.i8", input);
        let assert = netkit(&format!("run --raw -q --input @{input}")).arg(&path).assert().success();
        let printed = String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8");
        let codes: Vec<i32> = printed.trim_end().split(',').map(|code| code.parse().expect("a code")).collect();
        let expected = case.expected.floats().map(|value| (value / params.scale).round() as i32 + params.zero_point);
        assert_eq!(codes, expected.collect::<Vec<i32>>(), "{}", path.display());
        count += 1;
    }
    assert!(count >= 50, "{count} int8 models");
}

#[test]
fn values_come_from_files_of_both_kinds() {
    let from = |name: &str, bytes: &[u8], prefix: &str, option: &str| {
        let (_folder, path) = temporary(name, bytes);
        stdout(&format!("{MODEL} -q {option} --input {prefix}{path}"))
    };
    let (real, codes) = ([-1.0f32, 0.0, 0.5, 2.0, -3.0], [-33i8, -1, 15, 63, -97]);
    let expected = stdout(&format!("{MODEL} -q --input -1,0,0.5,2,-3"));
    assert_eq!(from("x.npy", &npy(&[1, 5], C, &real), "", ""), expected);
    assert_eq!(from("x.npy", &npy(&[5], C, &real.map(f64::from)), "", ""), expected);
    assert_eq!(from("x.f32", &real.map(f32::to_le_bytes).concat(), "@", ""), expected);
    // Whole numbers of other types are real numbers.
    let whole = stdout(&format!("{MODEL} -q --input 0,1,2,3,1"));
    assert_eq!(from("x.npy", &npy(&[5], C, &[0u8, 1, 2, 3, 1]), "", ""), whole);
    let expected = stdout(&format!("{MODEL} -q --raw --input -33,-1,15,63,-97"));
    assert_eq!(from("x.npy", &npy(&[1, 1, 5], C, &codes), "", "--raw"), expected);
    assert_eq!(from("x.i8", &codes.map(|code| code as u8), "@", "--raw"), expected);
}

#[test]
fn outputs_are_written_in_both_forms() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let write = |option: &str, target: &str| {
        let arguments = format!("{MODEL} -q {option} --input -33,-1,15,63,-97 --output {target}");
        netkit(&arguments).assert().success().stdout("");
        std::fs::read(target.trim_start_matches('@')).expect("output")
    };
    let printed = stdout(&format!("{MODEL} -q --raw --input -33,-1,15,63,-97"));
    let codes: Vec<i8> = printed.trim_end().split(',').map(|code| code.parse().expect("a code")).collect();
    assert_eq!(
        write("--raw", &format!("@{}", file("y.i8"))),
        codes.iter().map(|&code| code as u8).collect::<Vec<u8>>()
    );
    let array = write("--raw", &file("y.npy"));
    let array = npyz::NpyFile::new(&array[..]).expect("header");
    assert_eq!(array.shape(), [1, 3]);
    assert_eq!(array.into_vec::<i8>().expect("int8"), codes);
    assert_eq!(write("", &format!("@{}", file("y.f32"))).len(), 12);
    let array = write("", &file("z.npy"));
    assert_eq!(npyz::NpyFile::new(&array[..]).expect("header").into_vec::<f32>().expect("float32").len(), 3);
}

#[test]
fn the_wrong_kind_names_both() {
    let refused = |name: &str, bytes: &[u8], prefix: &str, option: &str, texts: [&str; 3]| {
        let (_folder, path) = temporary(name, bytes);
        let assert = netkit(&format!("{MODEL} {option} --input {prefix}{path}")).assert().code(3).stdout("");
        let [found, wanted, hint] = texts.map(contains);
        assert.stderr(starts_with(format!("netkit: {path}: ")).and(found).and(wanted).and(hint));
    };
    let (real, codes) = (npy(&[5], C, &[0.0f32; 5]), npy(&[5], C, &[0i8; 5]));
    refused("x.npy", &codes, "", "", ["an array of int8", "such as float32", "add --raw"]);
    refused("x.npy", &real, "", "--raw", ["an array of float32", "--raw takes int8", "leave out --raw"]);
    refused("x.npy", &npy(&[5], C, &[0i32; 5]), "", "--raw", ["an array of int32", "takes int8", "leave out --raw"]);
    refused("x.i8", &[0; 5], "@", "", ["5 bytes", "expected 20 (float32)", "add --raw"]);
    refused("x.f32", &[0; 20], "@", "--raw", ["20 bytes", "expected 5 (int8)", "leave out --raw"]);
    refused("x.i8", &[0; 7], "@", "--raw", ["7 bytes", "expected 5 (int8)", "[1, 5]"]);
    refused("x.i8", &codes, "@", "--raw", ["an .npy file", "not raw int8", "without the @"]);
    for (values, text) in
        [("1,2,3,4,128", "value 5 is 128"), ("0.5,2,3,4,5", "value 1 is 0.5"), ("nan,2,3,4,5", "is NaN")]
    {
        netkit(&format!("{MODEL} --raw --input {values}"))
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(text).and(contains("--raw takes integers from -128 to 127")));
    }
}

#[test]
fn doubtful_inputs_are_warnings() {
    let warned = |input: &str, text: &str| {
        let assert = netkit(&format!("{MODEL} -q {input}")).assert().success();
        assert.stderr(format!("netkit: models/weight_tail_1_int8.nk: warning: {text}\n"));
    };
    let narrow = "the input covers 3 of the 256 int8 codes (-1 to 1); check how it was scaled";
    warned("--input 0,0.06,0,0.06,0", narrow);
    warned("--raw --input -1,1,0,0,0", narrow);
    let clipped = "2 of 5 input values clip: they span -inf to 100, int8 holds -3.98431 to 4.01569";
    warned("--input 0,1,100,-inf,2", clipped);
    warned("--input 0,1,nan,3,2", "1 of 5 input values are NaN and become 0");
    netkit(&format!("{MODEL} -q --input 9,9,9,9,9"))
        .assert()
        .success()
        .stderr(contains(" clip: ").and(ends_with("scaled\n")));
}

#[test]
fn the_parameters_of_a_table_or_a_sum_are_those_of_the_output() {
    let output = |name: &str, values: usize| {
        let input = vec!["1"; values].join(",");
        let assert = netkit(&format!("run models/{name}.nk --json --input {input}")).assert().success();
        let document: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).expect("JSON");
        let int8 = &document["output"]["int8"];
        (int8["scale"].as_f64().expect("scale"), int8["zero_point"].as_i64().expect("zero point"))
    };
    assert_eq!(output("activation_sigmoid_int8", 32), (1.0 / 256.0, -128));
    assert_eq!(output("activation_tanh_int8", 32), (1.0 / 128.0, 0));
    assert_eq!(output("softmax_rows_int8", 15), (1.0 / 256.0, -128));
    let bytes = model("kind_10_resnet_basic_block_int8.nk");
    let sum = Model::parse(&bytes).expect("valid").quant().and_then(|quant| quant.entry(1)).expect("descriptor").bias;
    let (scale, zero_point) = output("kind_10_resnet_basic_block_int8", 120);
    assert_eq!((scale as f32, zero_point), (sum.scale, sum.zero_point.into()));
}
