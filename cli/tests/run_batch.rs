//! `netkit run` on many inputs.

mod common;

use common::{image, json, model, netkit, npy, stdout, temporary};
use netkit::format::Cases;
use netkit::{MemoryPlan, Model};
use npyz::Order::C;
use png::{BitDepth, ColorType};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};
use serde_json::Value;

/// All inputs of a model's test cases one after another, the outputs that the oracle gave, their number and tolerance.
fn cases(name: &str) -> (Vec<f32>, Vec<f32>, u64, f32) {
    let bytes = model(name);
    let parsed = Model::parse(&bytes).expect("valid");
    let cases = Cases::read(&parsed).expect("cases");
    let inputs = cases.iter().flat_map(|case| case.input.floats()).collect();
    let outputs = cases.iter().flat_map(|case| case.expected.floats()).collect();
    (inputs, outputs, cases.iter().count() as u64, cases.tolerance)
}

/// The values of `key` in each result of a JSON report, one after another.
fn values(document: &Value, key: &str) -> Vec<f32> {
    let results = document["results"].as_array().expect("a list");
    let values = results.iter().flat_map(|result| result[key]["values"].as_array().expect("values"));
    values.map(|value| value.as_f64().expect("a number") as f32).collect()
}

#[test]
fn every_input_of_an_array_gets_the_output_of_the_oracle() {
    for (name, form) in [
        ("digits_cnn.nk", &[16, 16, 1][..]),
        ("digits_cnn.nk", &[256]),
        ("digits_mlp.nk", &[256]),
        ("digits_mlp.nk", &[1, 256]),
    ] {
        let (inputs, outputs, count, tolerance) = cases(name);
        assert!(count > 1, "{name}");
        let (folder, path) = temporary("x.npy", &npy(&[&[count], form].concat(), C, &inputs));
        let document = json(&format!("run models/{name} --json -i {path}"));
        assert!(document.get("input").is_none() && document.get("output").is_none(), "{name}");
        assert_eq!(document["results"].as_array().map(Vec::len), Some(count as usize), "{name}");
        assert_eq!(values(&document, "input"), inputs, "{name}");
        let found = values(&document, "output");
        assert_eq!(found.len(), outputs.len(), "{name}");
        for (found, expected) in found.iter().zip(&outputs) {
            assert!((found - expected).abs() <= tolerance, "{name}: {found}, the oracle says {expected}");
        }
        let target = folder.path().join("y.npy").display().to_string();
        assert_eq!(stdout(&format!("run models/{name} -q -i {path} -o {target}")), "");
        let file = std::fs::read(&target).expect("output");
        let file = npyz::NpyFile::new(&file[..]).expect("header");
        assert_eq!(file.shape(), [count, 10], "{name}");
        assert_eq!(file.into_vec::<f32>().expect("float32"), found, "{name}");
        assert_eq!(stdout(&format!("run models/{name} -q -i {path} -o @{target}")), "");
        assert_eq!(
            std::fs::read(&target).expect("output"),
            found.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()
        );
    }
}

#[test]
fn int8_batches_give_the_codes_of_the_oracle() {
    let name = "digits_cnn_int8.nk";
    let (inputs, outputs, count, _) = cases(name);
    let inputs: Vec<i8> = inputs.iter().map(|&code| code as i8).collect();
    let bytes = model(name);
    let params = MemoryPlan::of(&Model::parse(&bytes).expect("valid")).expect("plan").output_quant.expect("int8");
    let code = |&value: &f32| ((value / params.scale).round() as i32 + params.zero_point) as i8;
    let codes: Vec<i8> = outputs.iter().map(code).collect();
    let (folder, path) = temporary("x.npy", &npy(&[count, 16, 16, 1], C, &inputs));
    let target = folder.path().join("y.npy").display().to_string();
    assert_eq!(stdout(&format!("run models/{name} -q --raw -i {path} -o {target}")), "");
    let file = std::fs::read(&target).expect("output");
    let file = npyz::NpyFile::new(&file[..]).expect("header");
    assert_eq!((file.shape(), count > 1), (&[count, 10][..], true));
    assert_eq!(file.into_vec::<i8>().expect("int8"), codes);
    assert_eq!(stdout(&format!("run models/{name} -q --raw -i {path} -o @{target}")), "");
    assert_eq!(std::fs::read(&target).expect("output"), codes.iter().map(|&code| code as u8).collect::<Vec<_>>());

    let lines = codes.chunks(10).map(|codes| codes.iter().map(i8::to_string).collect::<Vec<_>>().join(",") + "\n");
    assert_eq!(stdout(&format!("run models/{name} -q --raw -i {path}")), lines.collect::<String>());
    let document = json(&format!("run models/{name} --json --raw -i {path}"));
    for (result, codes) in document["results"].as_array().expect("a list").iter().zip(codes.chunks(10)) {
        assert_eq!(result["output"]["int8"]["values"], serde_json::json!(codes));
    }
    let printed = stdout(&format!("run models/{name} --raw -i {path}"));
    assert_eq!(printed.matches("\nInput[").count(), count as usize, "{printed}");
    assert!(printed.contains(&format!("\nOutput[{}] int8: shape=[1, 10] scale=", count - 1)), "{printed}");
}

#[test]
fn maps_get_an_axis_in_front() {
    let name = "models/conv_1x1_stride2.nk";
    let document = json(&format!("inspect {name} --json"));
    let shape = |key: &str| -> Vec<u64> {
        document[key].as_array().expect("a shape").iter().map(|extent| extent.as_u64().expect("an extent")).collect()
    };
    let (input, output) = (shape("input_shape"), shape("output_shape"));
    assert_eq!(output.len(), 3, "the model that this test needs");
    let elements = input.iter().product::<u64>();
    let numbers: Vec<f32> = (0..3 * elements).map(|index| (index * 37 % 101) as f32 / 50.0 - 1.0).collect();
    let (folder, path) = temporary("x.npy", &npy(&[&[3], &input[..]].concat(), C, &numbers));
    let target = folder.path().join("y.npy").display().to_string();
    let printed = stdout(&format!("run {name} -i {path} -o {target}"));
    let whole = [&[3], &output[..]].concat();
    assert!(printed.ends_with(&format!("\nOutput: shape={whole:?} written to {target}\n")), "{printed}");
    assert_eq!((printed.matches("\nInput[").count(), printed.matches("\nOutput[").count()), (3, 0), "{printed}");
    let file = std::fs::read(&target).expect("output");
    let file = npyz::NpyFile::new(&file[..]).expect("header");
    assert_eq!(file.shape(), whole);
    let lines = stdout(&format!("run {name} -q -i {path}"));
    let all = file.into_vec::<f32>().expect("float32");
    let elements = elements as usize;
    for (index, (line, whole)) in lines.lines().zip(all.chunks(all.len() / 3)).enumerate() {
        let (_folder, path) = temporary("x.npy", &npy(&input, C, &numbers[index * elements..][..elements]));
        assert_eq!(stdout(&format!("run {name} -q -i {path}")), format!("{line}\n"), "{index}");
        let numbers: Vec<f32> = line.split(',').map(|number| number.parse().expect("a number")).collect();
        assert_eq!(numbers, whole, "{index}");
    }
    assert_eq!(lines.lines().count(), 3);
}

#[test]
fn inputs_are_also_given_one_by_one() {
    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[2, 2], C, &[-1.0, 2.0, 1.0, 2.0]));
    let arguments = format!("run models/test_mlp.nk -i 1,2 -i {path} --input=-1,2");
    assert_eq!(stdout(&format!("{arguments} -q")), "3,3\n2.5,0.5\n3,3\n2.5,0.5\n");
    let printed = stdout("run models/test_mlp.nk -i 1,2 -i -1,2");
    let blocks = "
Input[0]: shape=[1, 2] values=[1.0000, 2.0000]
Output[0]: shape=[1, 2] values=[3.0000, 3.0000]

Input[1]: shape=[1, 2] values=[-1.0000, 2.0000]
Output[1]: shape=[1, 2] values=[2.5000, 0.5000]
";
    assert!(printed.ends_with(blocks), "{printed}");
    netkit(&format!("{arguments} -i 1,2,3")).assert().code(2).stdout("").stderr(contains("--input has 3 values"));
    netkit(&format!("{arguments} -i no.npy")).assert().code(3).stdout("").stderr(starts_with("netkit: no.npy: "));

    let pixels = |first: u8| image(16, 16, ColorType::Grayscale, BitDepth::Eight, &[first; 256]);
    let (_black, black) = temporary("black.png", &pixels(0));
    let (_white, white) = temporary("white.png", &pixels(255));
    let document = json(&format!("run models/digits_cnn.nk --json -i {black} -i {white}"));
    assert_eq!(values(&document, "input"), [[0.0; 256], [1.0; 256]].concat());
}

#[test]
fn one_input_that_an_axis_counts_stays_one() {
    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[1, 2], C, &[-1.0, 2.0]));
    let document = json(&format!("run models/test_mlp.nk --json -i {path}"));
    assert_eq!(document["output"]["values"], serde_json::json!([2.5, 0.5]));
    assert!(document.get("results").is_none());
}

#[test]
fn the_largest_outputs_are_those_of_each_input() {
    let (_folder, labels) = temporary("labels.txt", b"first\nsecond class\n");
    let arguments = format!("run models/test_mlp.nk -i -1,2 -i 1,2 --labels {labels}");
    assert_eq!(stdout(&format!("{arguments} -q --top 1")), "0\t0\t2.5\tfirst\n1\t0\t3\tfirst\n");
    let both = "0\t0\t2.5\tfirst\n0\t1\t0.5\tsecond class\n1\t0\t3\tfirst\n1\t1\t3\tsecond class\n";
    assert_eq!(stdout(&format!("{arguments} -q --top 2")), both);
    let printed = stdout(&format!("{arguments} --top 1"));
    let last = "
Input[1]: shape=[1, 2] values=[1.0000, 2.0000]
Output[1]: shape=[1, 2]

Largest outputs:
     value  index  label
  1      3      0  first
";
    assert!(printed.ends_with(last), "{printed}");
    let document = json(&format!("{arguments} --json --top 1"));
    let top = |index: usize| document["results"][index]["top"][0]["value"].as_f64();
    assert_eq!([top(0), top(1)], [Some(2.5), Some(3.0)]);
}

#[test]
fn each_input_of_a_batch_is_prepared() {
    let first = [1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 8.0];
    let last = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let numbers = [first, first.map(|value| value + 10.0)].concat();
    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[2, 2, 2, 2], C, &numbers));
    let document = json(&format!("run models/test_cnn.nk --json --layout nchw -i {path}"));
    assert_eq!(values(&document, "input"), [last, last.map(|value| value + 10.0)].concat());
    let document = json(&format!("run models/test_cnn.nk --json --layout nchw --mean 1,0 --std 1,2 -i {path}"));
    assert_eq!(values(&document, "input")[8..], [10.0, 6.0, 12.0, 7.0, 14.0, 8.0, 16.0, 9.0]);
}

#[test]
fn doubts_are_about_the_whole_batch() {
    let numbers = [0.0, 1.0, 100.0, 0.5, 2.0, 0.0, 1.0, 2.0, 3.0, -1.0];
    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[2, 5], C, &numbers));
    let text = "1 of 10 input values clip: they span -1 to 100, int8 holds -3.98431 to 4.01569";
    netkit(&format!("run models/weight_tail_1_int8.nk -q -i {path}"))
        .assert()
        .success()
        .stderr(format!("netkit: models/weight_tail_1_int8.nk: warning: {text}\n"));
}

#[test]
fn values_of_many_inputs_in_another_form_are_refused() {
    let refused =
        |model: &str, shape: &[u64], texts: [&str; 2]| {
            let numbers = vec![0.0; shape.iter().product::<u64>() as usize];
            let (_folder, path) = temporary("x.npy", &npy::<f32>(shape, C, &numbers));
            let [found, hint] = texts.map(contains);
            netkit(&format!("run models/{model} -i {path}")).assert().code(3).stdout("").stderr(
                starts_with(format!("netkit: {path}: shape {shape:?}, but the model takes ")).and(found).and(hint),
            );
        };
    let hint = "the shape must be the model's or flat, alone or behind the number of inputs";
    for shape in [&[16][..], &[4, 4], &[2, 4, 2], &[2, 1, 8], &[3, 1, 2, 2, 2], &[2, 3, 2, 2]] {
        refused("test_cnn.nk", shape, ["[2, 2, 2], 8 values", hint]);
    }
    refused("test_cnn.nk", &[0, 8], ["8 values", "the first axis counts inputs, and there is none"]);
    refused("digits_cnn.nk", &[5, 1, 16, 16], ["[16, 16, 1]", "add --layout nchw"]);
    let (_folder, path) = temporary("x.f32", &[0; 64]);
    netkit(&format!("run models/test_cnn.nk -i @{path}")).assert().code(3).stderr(contains("64 bytes, expected 32"));
    let numbers = ["1"; 16].join(",");
    let assert = netkit(&format!("run models/test_cnn.nk -i {numbers}")).assert().code(2);
    assert.stderr(contains("--input has 16 values, but the model takes [2, 2, 2], 8 values"));
}

#[test]
fn layers_are_compared_for_one_input() {
    let (folder, path) = temporary("x.npy", &npy::<f32>(&[3, 2], C, &[0.0; 6]));
    std::fs::write(folder.path().join("layer_0.npy"), npy::<f32>(&[1, 2], C, &[0.0; 2])).expect("a golden tensor");
    netkit(&format!("test models/test_mlp.nk --per-layer {} -i {path}", folder.path().display()))
        .assert()
        .code(2)
        .stdout("")
        .stderr(starts_with("netkit: --input has 3 inputs, but this takes one\n").and(ends_with("\n")));
}
