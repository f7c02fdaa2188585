//! `netkit run`: inputs from archives and images, their preparation, and the largest outputs.

mod common;

use common::{image, json, netkit, npy, npz, stdout, temporary};
use png::{BitDepth, ColorType};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, starts_with};
use zip::CompressionMethod;

fn floats(values: &[f32]) -> Vec<u8> {
    npy::<f32>(&[1, values.len() as u64], npyz::Order::C, values)
}

/// The input that the model was given, as the JSON report tells it.
fn given(arguments: &str) -> Vec<f64> {
    let document = json(&format!("run --json {arguments}"));
    let values = document["input"]["values"].as_array().expect("values");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

#[test]
fn archives_give_the_only_member_or_the_named_one() {
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let (_folder, path) = temporary("x.npz", &npz(&[("a", floats(&[1.0, 2.0]))], method));
        assert_eq!(stdout(&format!("run models/test_mlp.nk -q -i {path}")), "3,3\n");
        assert_eq!(stdout(&format!("run models/test_mlp.nk -q -i {path}:a")), "3,3\n");
        let (_folder, path) =
            temporary("x.npz", &npz(&[("a", floats(&[9.0, 9.0])), ("b/c", floats(&[-1.0, 2.0]))], method));
        assert_eq!(stdout(&format!("run models/test_mlp.nk -q -i {path}:b/c")), "2.5,0.5\n");
        let failure = netkit(&format!("run models/test_mlp.nk -i {path}")).assert().code(3).stdout("");
        failure.stderr(starts_with(format!("netkit: {path}: 2 arrays; name one as x.npz:NAME: a, b/c\n")));
        let failure = netkit(&format!("run models/test_mlp.nk -i {path}:z")).assert().code(3);
        failure.stderr(contains("no array \"z\"; there are a, b/c"));
    }
}

#[test]
fn archives_that_do_not_fit_are_refused() {
    let refused = |bytes: &[u8], text: &str| {
        let (_folder, path) = temporary("x.npz", bytes);
        netkit(&format!("run models/test_mlp.nk -i {path}"))
            .assert()
            .code(3)
            .stdout("")
            .stderr(starts_with(format!("netkit: {path}: ")).and(contains(text)));
    };
    refused(b"no archive", "not an .npz archive: ");
    refused(&npz(&[], CompressionMethod::Stored), "the archive holds no array");
    refused(&npz(&[("a", floats(&[1.0; 3]))], CompressionMethod::Stored), "shape [1, 3], but the model takes [1, 2]");
    refused(&npz(&[("a", b"text".to_vec())], CompressionMethod::Stored), "not an .npy file");
    let mut bytes = npz(&[("a", floats(&[1.0, 2.0]))], CompressionMethod::Stored);
    let at = bytes.windows(4).position(|window| window == 2f32.to_le_bytes()).expect("data");
    bytes[at] ^= 1;
    refused(&bytes, "cannot read the input: ");
    // However well it is packed.
    refused(&npz(&[("a", vec![0; 50 << 20])], CompressionMethod::Deflated), "not an .npy file");
    netkit("run models/test_mlp.nk -i no_such.npz").assert().code(3).stderr(contains("cannot read the input"));
}

#[test]
fn grey_images_are_scaled_to_one() {
    let pixels: Vec<u8> = (0..=255).collect();
    let (_folder, path) = temporary("x.png", &image(16, 16, ColorType::Grayscale, BitDepth::Eight, &pixels));
    for model in ["digits_cnn", "digits_mlp"] {
        let values = given(&format!("models/{model}.nk -i {path}"));
        assert_eq!(values.len(), 256);
        for (index, value) in values.iter().enumerate() {
            assert!((value - index as f64 / 255.0).abs() < 1e-6, "{model} {index}: {value}");
        }
    }
    let values = given(&format!("models/digits_cnn.nk -i {path} --scale 1 --mean 128 --std 64"));
    assert_eq!((values[0], values[255]), (-2.0, 127.0 / 64.0));
    let values = given(&format!("models/digits_cnn.nk -i {path} --scale 1/51"));
    assert!((values[255] - 5.0).abs() < 1e-6);
    let values = given(&format!("models/digits_cnn_int8.nk -i {path} --scale 1/510"));
    assert!((values[255] - 0.5).abs() < 1e-6);
}

#[test]
fn images_of_16_bits_with_opaque_alpha_and_in_palettes_are_read() {
    let words: Vec<u8> = (0..256u16).flat_map(|value| (257 * value).to_be_bytes()).collect();
    let (_folder, path) = temporary("x.png", &image(16, 16, ColorType::Grayscale, BitDepth::Sixteen, &words));
    assert_eq!(given(&format!("models/digits_cnn.nk -i {path} --scale 1"))[200], 200.0);
    let pairs: Vec<u8> = (0..=255).flat_map(|value| [value, 255]).collect();
    let (_folder, path) = temporary("x.png", &image(16, 16, ColorType::GrayscaleAlpha, BitDepth::Eight, &pairs));
    assert_eq!(given(&format!("models/digits_cnn.nk -i {path} --scale 1"))[200], 200.0);
    let (_folder, path) = temporary("x.png", &image(16, 16, ColorType::GrayscaleAlpha, BitDepth::Eight, &[7; 512]));
    netkit(&format!("run models/digits_cnn.nk -i {path}")).assert().code(3).stderr(contains("transparent pixels"));
    let (_folder, path) = temporary("x.png", &image(16, 16, ColorType::Grayscale, BitDepth::One, &[0x80; 32]));
    assert_eq!(given(&format!("models/digits_cnn.nk -i {path} --scale 1"))[..2], [255.0, 0.0]);
}

/// A model whose input is a map of three channels, and its height and width.
const COLORS: (&str, u32, u32) = ("models/conv_1x1_stride2.nk", 5, 6);

#[test]
fn rgb_images_have_a_mean_for_each_channel() {
    let document = json(&format!("inspect {} --json", COLORS.0));
    let (height, width) = (COLORS.1, COLORS.2);
    assert_eq!(document["input_shape"], serde_json::json!([height, width, 3]), "the model that this test needs");
    let pixels: Vec<u8> = (0..height * width).flat_map(|_| [10, 20, 30]).collect();
    let (_folder, path) = temporary("x.png", &image(width, height, ColorType::Rgb, BitDepth::Eight, &pixels));
    let values = given(&format!("{} -i {path} --scale 1 --mean 10,18,27 --std 1,2,-3", COLORS.0));
    assert!(values.chunks(3).all(|pixel| pixel == [0.0, 1.0, -1.0]), "{values:?}");
    let indices = vec![0xFF; height as usize];
    let (_folder, path) = temporary("x.png", &image(width, height, ColorType::Indexed, BitDepth::One, &indices));
    let values = given(&format!("{} -i {path} --scale 1", COLORS.0));
    assert!(values.chunks(3).all(|pixel| pixel == [255.0, 128.0, 64.0]), "{values:?}");
}

#[test]
fn images_that_do_not_fit_name_both_sides() {
    let refused = |model: &str, bytes: &[u8], text: &str| {
        let (_folder, path) = temporary("x.png", bytes);
        netkit(&format!("run {model} -i {path}"))
            .assert()
            .code(3)
            .stdout("")
            .stderr(starts_with(format!("netkit: {path}: ")).and(contains(text)));
    };
    let grey = |width, height| {
        image(width, height, ColorType::Grayscale, BitDepth::Eight, &vec![0; (width * height) as usize])
    };
    let rgb = image(16, 16, ColorType::Rgb, BitDepth::Eight, &[0; 768]);
    let cnn = "models/digits_cnn.nk";
    refused(cnn, &grey(16, 8), "8 x 16 pixels, but the model takes 16 x 16 (height x width)");
    refused(cnn, &rgb, "3 channels (RGB), but the model takes 1\n  hint: convert the image to grey first");
    refused("models/digits_mlp.nk", &rgb, "16 x 16 RGB pixels are 768 values, but the model takes [1, 256]");
    refused(COLORS.0, &grey(COLORS.2, COLORS.1), "1 channels (grey), but the model takes 3");
    refused(cnn, b"text", "cannot read the image: ");
    let whole = grey(16, 16);
    refused(cnn, &whole[..whole.len() / 2], "cannot read the image: ");
    netkit(&format!("run {cnn} -i no_such.png")).assert().code(3).stderr(contains("cannot read the image"));
    let (_folder, path) = temporary("x.png", &grey(16, 16));
    netkit(&format!("run models/digits_cnn_int8.nk --raw -i {path}"))
        .assert()
        .code(3)
        .stderr(contains("an image, but --raw takes int8"));
    netkit(&format!("run {cnn} --layout nchw -i {path}")).assert().code(2).stderr(contains("images need none"));
    netkit(&format!("run {cnn} -i {path} -o y.png")).assert().code(2).stderr(contains("end with .npy"));
}

#[test]
fn channels_first_is_turned_around_when_asked_for() {
    let order = npyz::Order::C;
    let last = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let first = [1.0, 3.0, 5.0, 7.0, 2.0, 4.0, 6.0, 8.0];
    let expected = stdout("run models/test_cnn.nk -q -i 1,2,3,4,5,6,7,8");
    for shape in [&[2, 2, 2][..], &[1, 2, 2, 2], &[8]] {
        let (_folder, path) = temporary("x.npy", &npy::<f32>(shape, order, &first));
        assert_eq!(stdout(&format!("run models/test_cnn.nk -q --layout nchw -i {path}")), expected);
    }
    assert_eq!(stdout("run models/test_cnn.nk -q --layout nchw -i 1,3,5,7,2,4,6,8"), expected);
    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[2, 2, 2], order, &last));
    assert_eq!(stdout(&format!("run models/test_cnn.nk -q --layout nhwc -i {path}")), expected);

    let (_folder, path) = temporary("x.npy", &npy::<f32>(&[16, 16, 1], order, &[0.0; 256]));
    netkit(&format!("run models/digits_cnn.nk --layout nchw -i {path}"))
        .assert()
        .code(3)
        .stderr(contains("shape [16, 16, 1], but the model takes [1, 16, 16] channels first, 256 values"));
    netkit("run models/test_mlp.nk --layout nchw -i 1,2").assert().code(2).stderr(contains("this one takes rows"));
}

#[test]
fn preparation_is_checked() {
    let refused = |arguments: &str, text: &str| {
        netkit(&format!("run models/test_cnn.nk -i 1,2,3,4,5,6,7,8 {arguments}"))
            .assert()
            .code(2)
            .stdout("")
            .stderr(contains(text.to_owned()));
    };
    refused("--mean 1,2,3", "--mean has 3 values; give one, or one for each of the 2 channels");
    refused("--std 1,2,3", "--std has 3 values");
    refused("--std 0", "--std must not be 0");
    refused("--scale x", "must be a number");
    refused("--scale 1/0", "1/255");
    refused("--mean nan", "must be a number");
    refused("--layout hwc", "possible values: nhwc, nchw");
    netkit("run models/weight_tail_1_int8.nk --raw --scale 2 -i 1,2,3,4,5")
        .assert()
        .code(2)
        .stderr(contains("cannot be used with"));
    assert_eq!(given("models/test_mlp.nk -i 1,2 --scale 0.5 --mean -1"), [1.5, 2.0]);
    assert_eq!(given("models/test_mlp.nk -i 1,2 --mean 0,1 --std 2,4"), [0.5, 0.25]);
}

#[test]
fn the_largest_outputs_are_named() {
    let (_folder, labels) = temporary("labels.txt", b"first\r\nsecond class\n");
    let printed = stdout(&format!("run models/test_mlp.nk -i -1,2 --top 2 --labels {labels}"));
    let table = "\
Output: shape=[1, 2]

Largest outputs:
     value  index  label
  1    2.5      0  first
  2    0.5      1  second class
";
    assert!(printed.ends_with(table), "{printed}");
    assert_eq!(stdout("run models/test_mlp.nk -q -i -1,2 --top 1"), "0\t2.5\n");
    let quiet = stdout(&format!("run models/test_mlp.nk -q -i -1,2 --top 9 --labels {labels}"));
    assert_eq!(quiet, "0\t2.5\tfirst\n1\t0.5\tsecond class\n");
    let document = json(&format!("run models/test_mlp.nk --json -i -1,2 --top 1 --labels {labels}"));
    assert_eq!(document["top"], serde_json::json!([{"index": 0, "value": 2.5, "label": "first"}]));
    let document = json("run models/test_mlp.nk --json -i 1,2 --top 1");
    assert_eq!(document["top"], serde_json::json!([{"index": 0, "value": 3.0, "label": null}]));
    assert!(json("run models/test_mlp.nk --json -i 1,2").get("top").is_none());
    let int8 = stdout("run models/weight_tail_1_int8.nk -q -i -1,0,0.5,2,-3 --top 3");
    assert_eq!(int8.lines().count(), 3);
}

#[test]
fn labels_must_be_those_of_the_outputs() {
    let (_folder, labels) = temporary("labels.txt", b"only one\n");
    netkit(&format!("run models/test_mlp.nk -i 1,2 --top 1 --labels {labels}"))
        .assert()
        .code(3)
        .stderr(contains("1 labels, but the model has 2 outputs"));
    netkit("run models/test_mlp.nk -i 1,2 --top 1 --labels no_such.txt")
        .assert()
        .code(3)
        .stderr(contains("no_such.txt: cannot read the labels"));
    netkit("run models/test_mlp.nk -i 1,2 --labels x").assert().code(2).stderr(contains("--top"));
    netkit("run models/test_mlp.nk -i 1,2 --top 0").assert().code(2).stderr(contains("--top"));
}
