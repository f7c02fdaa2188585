//! `netkit quantize`.

mod common;

use std::fs;
use std::path::Path;

use common::{json, netkit, npy, npz};
use netkit::format::Cases;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

const CNN: &str = "models/digits_cnn.nk";
/// Pixels of a digit.
const ELEMENTS: usize = 256;

/// A folder with samples in all forms, and a place for results.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().expect("temporary folder") };
        let samples = digits();
        let flat: Vec<f32> = samples.concat();
        let array = npy(&[samples.len() as u64, 16, 16, 1], npyz::Order::C, &flat);
        bench.write("x.npy", &array);
        bench.write("x.npz", &npz(&[("digits", array)], zip::CompressionMethod::Deflated));
        bench.write("x.f32", &flat.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        let line = |sample: &Vec<f32>| sample.iter().map(f32::to_string).collect::<Vec<_>>().join(",");
        let lines: Vec<String> = samples.iter().map(line).collect();
        bench.write("x.csv", format!("pixels of a digit\n{}\n", lines.join("\n")).as_bytes());
        bench
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("file");
    }

    /// Quantises with these arguments; gives the file that came out.
    fn quantize(&self, model: &str, arguments: &str) -> Vec<u8> {
        let target = self.path("out.nk");
        netkit(&format!("quantize {model} -o {target} {arguments}")).assert().success().stderr("");
        fs::read(target).expect("the model")
    }
}

/// The digits that the models of the repository carry as test cases, and noisy forms of them.
fn digits() -> Vec<Vec<f32>> {
    let mut samples = Vec::new();
    for name in ["digits_cnn.nk", "digits_mlp.nk", "digits_cnn_dw.nk"] {
        let bytes = common::model(name);
        let model = netkit::Model::parse(&bytes).expect("model");
        let cases = Cases::read(&model).expect("cases");
        samples.extend(cases.iter().map(|case| case.input.floats().collect::<Vec<f32>>()));
    }
    for round in 0..3 {
        let noisy = |(index, value): (usize, &f32)| (value + ((index * 7 + round) % 5) as f32 * 0.03).min(1.0);
        let more: Vec<Vec<f32>> =
            samples.iter().take(10).map(|sample| sample.iter().enumerate().map(noisy).collect()).collect();
        samples.extend(more);
    }
    assert!(samples.iter().all(|sample| sample.len() == ELEMENTS));
    samples
}

#[test]
fn a_model_is_quantised_and_tells_what_that_costs() {
    let bench = Bench::new();
    let (calib, target) = (bench.path("x.npy"), bench.path("out.nk"));
    netkit(&format!("quantize {CNN} -o {target} --calib {calib}"))
        .assert()
        .success()
        .stderr("")
        .stdout(contains("SQNR").and(contains("most noise")).and(contains("same class")).and(contains("written: ")));
    netkit(&format!("inspect {target} --check")).assert().success();
    let document = json(&format!("quantize {CNN} -o {target} --calib {calib} --json"));
    assert_eq!(document["schema"], "netkit.quantize/1");
    assert_eq!(document["quantized"], true);
    let layers = document["layers"].as_array().expect("layers");
    assert!(layers.iter().all(|layer| layer["scale"].as_f64() > Some(0.0)), "{document}");
    assert!(layers.iter().filter_map(|layer| layer["sqnr_db"].as_f64()).all(|decibels| decibels > 20.0), "{document}");
    assert!(layers.iter().any(|layer| layer["part"] == "before softmax"), "logits have a scale: {document}");
    assert!(document["output_error"].as_f64() < Some(0.05), "{document}");
    let bytes = |model: &str| document[model]["file_bytes"].as_u64().expect("a size");
    assert!(bytes("int8") < bytes("float") / 2);
    assert_eq!(bytes("int8"), fs::metadata(&target).expect("file").len());
    assert!(document["int8"]["arena_bytes"].as_u64() < document["float"]["arena_bytes"].as_u64());
}

#[test]
fn all_forms_of_samples_give_the_same_model() {
    let bench = Bench::new();
    let expected = bench.quantize(CNN, &format!("--calib {}", bench.path("x.npy")));
    for name in ["x.npz", "x.npz:digits", "x.csv"] {
        assert!(bench.quantize(CNN, &format!("--calib {}", bench.path(name))) == expected, "{name}");
    }
    assert!(bench.quantize(CNN, &format!("--calib @{}", bench.path("x.f32"))) == expected);
    let other = bench.quantize(CNN, &format!("--calib {} --scale 0.5", bench.path("x.npy")));
    assert!(other != expected, "the scale counts");
}

#[test]
fn a_folder_of_images_is_read_in_the_order_of_names() {
    let bench = Bench::new();
    let images = bench.folder.path().join("images");
    fs::create_dir(&images).expect("folder");
    let pixels: Vec<Vec<u8>> = digits()
        .iter()
        .map(|sample| sample.iter().map(|&value| (value.clamp(0.0, 1.0) * 255.0).round() as u8).collect())
        .collect();
    for (index, pixels) in pixels.iter().enumerate() {
        let file = fs::File::create(images.join(format!("{index:03}.png"))).expect("file");
        let mut encoder = png::Encoder::new(file, 16, 16);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().expect("header");
        writer.write_image_data(pixels).expect("pixels");
    }
    fs::write(images.join("notes.txt"), "no image").expect("file");
    let array = npy(&[pixels.len() as u64, ELEMENTS as u64], npyz::Order::C, &pixels.concat());
    bench.write("bytes.npy", &array);
    let from_images = bench.quantize(CNN, &format!("--calib {} --mean 0.1", images.display()));
    let from_bytes = bench.quantize(CNN, &format!("--calib {} --scale 1/255 --mean 0.1", bench.path("bytes.npy")));
    assert!(from_images == from_bytes);
}

#[test]
fn samples_are_drawn_by_seed() {
    let bench = Bench::new();
    let calib = bench.path("x.npy");
    let draw = |arguments: &str| bench.quantize(CNN, &format!("--calib {calib} {arguments}"));
    assert!(draw("--samples 5 --seed 7") == draw("--samples 5 --seed 7"));
    assert!(draw("--samples 5 --seed 7") != draw("--samples 5 --seed 8"));
}

#[test]
fn labels_give_accuracy_and_labelled_cases() {
    let bench = Bench::new();
    let (calib, target, labels) = (bench.path("x.npy"), bench.path("out.nk"), bench.path("labels.txt"));
    let base = format!("quantize {CNN} -o {target} --calib {calib}");
    // The classes that the float model gives, but for one that is wrong.
    let same = json(&format!("{base} --json"));
    let count = same["same_class"]["of"].as_u64().expect("a count") as usize;
    let mut right: Vec<usize> = Vec::new();
    for index in 0..count {
        let input = bench.path("one.npy");
        bench.write("one.npy", &npy(&[ELEMENTS as u64], npyz::Order::C, &digits()[index]));
        let top = json(&format!("run {CNN} --input {input} --top 1 --json"));
        right.push(top["top"][0]["index"].as_u64().expect("a class") as usize);
    }
    right[0] = (right[0] + 1) % 10;
    bench.write("labels.txt", right.iter().map(|class| format!("{class}\n")).collect::<String>().as_bytes());
    let document = json(&format!("{base} --labels {labels} --embed-tests 10 --json"));
    assert_eq!(document["accuracy"]["float"]["count"].as_u64(), Some(count as u64 - 1), "{document}");
    assert!(document["accuracy"]["int8"]["count"].as_u64() > Some(count as u64 * 9 / 10), "{document}");
    assert_eq!(document["test_cases"], 10);
    netkit(&format!("test {target} --strict")).assert().success().stdout(contains("Passed: 10"));
    let bytes = fs::read(&target).expect("the model");
    let model = netkit::Model::parse(&bytes).expect("model");
    let cases = Cases::read(&model).expect("cases");
    let found: Vec<usize> = cases.iter().map(|case| case.label as usize).collect();
    let is_labelled =
        |(case, label): (netkit::format::Case<'_>, &usize)| case.name.ends_with(&format!("class {label}"));
    assert!(cases.iter().zip(&found).all(is_labelled));
    assert!(cases.iter().all(|case| !case.name.starts_with("sample 0,")), "that label is wrong");
}

#[test]
fn an_onnx_model_is_converted_first_and_samples_have_its_order() {
    let bench = Bench::new();
    let source = "convert/tests/models/flatten_gemm.onnx";
    let converted = bench.path("converted.nk");
    netkit(&format!("convert {source} -o {converted}")).assert().success();
    let bytes = fs::read(&converted).expect("the model");
    let model = netkit::Model::parse(&bytes).expect("model");
    let [height, width, channels, _] = model.header().input_shape.map(u64::from);
    assert!(channels > 1 && height != width, "an order that matters");
    let count = height * width * channels;
    let values: Vec<f32> = (0..20 * count).map(|index| ((index * 37 + index / 11) % 101) as f32 / 50.0 - 1.0).collect();
    bench.write("nchw.npy", &npy(&[20, channels, height, width], npyz::Order::C, &values));
    let calib = bench.path("nchw.npy");
    let direct = bench.quantize(source, &format!("--calib {calib}"));
    assert!(direct == bench.quantize(&converted, &format!("--calib {calib} --layout nchw")));
    netkit(&format!("quantize {converted} -o {} --calib {calib}", bench.path("none.nk")))
        .assert()
        .code(3)
        .stderr(contains("--layout nchw"));
}

#[test]
fn what_int8_cannot_carry_is_named_and_an_existing_file_survives() {
    let bench = Bench::new();
    let target = bench.path("out.nk");
    fs::write(&target, "precious").expect("file");
    let sample = netkit::Model::parse(&common::model("convnext_stack.nk")).expect("model").header().input_shape;
    let count: u32 = sample[..3].iter().product();
    bench.write("y.npy", &npy(&[2, u64::from(count)], npyz::Order::C, &vec![0.5f32; 2 * count as usize]));
    let base = format!("quantize models/convnext_stack.nk -o {target} --calib {}", bench.path("y.npy"));
    netkit(&base)
        .assert()
        .code(4)
        .stderr(contains("layer 1 (convnextv2_block)").and(contains("layer 2 (layernorm2d)")));
    let output = netkit(&format!("{base} --json")).output().expect("runs");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(document["quantized"], false);
    assert_eq!(document["refusals"].as_array().map(Vec::len), Some(3), "{document}");
    netkit(&format!("quantize models/digits_cnn_int8.nk -o {target} --calib {}", bench.path("x.npy")))
        .assert()
        .code(4)
        .stderr(contains("already"));
    assert_eq!(fs::read_to_string(&target).expect("file"), "precious");
}

#[test]
fn unreadable_files_and_wrong_options_have_their_codes() {
    let bench = Bench::new();
    let (calib, target) = (bench.path("x.npy"), bench.path("out.nk"));
    netkit(&format!("quantize {CNN} -o {target} --calib nowhere.npy")).assert().code(3).stderr(contains("nowhere.npy"));
    netkit(&format!("quantize nowhere.nk -o {target} --calib {calib}")).assert().code(3).stderr(contains("nowhere.nk"));
    bench.write("short.csv", b"1,2,3\n");
    netkit(&format!("quantize {CNN} -o {target} --calib {}", bench.path("short.csv")))
        .assert()
        .code(3)
        .stderr(contains("line 1 has 3 values"));
    bench.write("labels.txt", b"1\n2\n");
    netkit(&format!("quantize {CNN} -o {target} --calib {calib} --labels {}", bench.path("labels.txt")))
        .assert()
        .code(3)
        .stderr(contains("2 labels"));
    for wrong in ["--method best", "--method percentile=3", "--samples 0", "--embed-tests 17"] {
        netkit(&format!("quantize {CNN} -o {target} --calib {calib} {wrong}")).assert().code(2);
    }
    netkit(&format!("quantize {CNN} --calib {calib}")).assert().code(2);
    assert!(!Path::new(&target).exists());
}
