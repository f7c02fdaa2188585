//! The Network Summary: the specification's example word for word, and one line per layer kind.

mod common;

use netkit::Model;

const SPECIFICATION_11_1: &str = "\
=====================================================
Network Summary
=====================================================

Name        : test_mlp
Type        : MLP
Version     : 3

Input Shape : [1, 2]

Layers (2)
-----------------------------------------------------
  [0] Dense units=2 activation=relu
  [1] Dense units=2 activation=none
-----------------------------------------------------
Input elements : 2
Output elements: 2
Weight floats  : 12
=====================================================
";

fn summary(name: &str) -> String {
    let path = format!("{}/models/{name}.nk", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    netkit::summary::write(&Model::parse(&bytes).expect("valid"), netkit::summary::stem(&path), &mut text)
        .expect("text");
    text
}

#[test]
fn worked_example_reads_as_in_the_specification() {
    assert_eq!(summary("test_mlp"), SPECIFICATION_11_1);
}

#[test]
fn every_layer_kind_has_its_line() {
    let lines = [
        ("kind_01_dense", "Dense units="),
        ("kind_02_conv2d", "Conv2D kernel="),
        ("kind_03_max_pool2d", "MaxPool2D pool="),
        ("kind_04_flatten", "Flatten"),
        ("kind_05_avg_pool2d", "AvgPool2D pool="),
        ("kind_06_batch_norm2d", "BatchNorm2d channels="),
        ("kind_07_depthwise_conv2d", "DepthwiseConv2D kernel="),
        ("kind_08_convnextv2_block", "ConvNeXtV2Block channels="),
        ("kind_09_mobilenetv4_uib", "MobilenetV4Uib in="),
        ("kind_10_resnet_basic_block", "ResNetBasicBlock in="),
        ("kind_11_layernorm2d", "LayerNorm2d channels="),
        ("kind_12_yolox_decoupled_head", "YoloxDecoupledHead in="),
        ("kind_13_feature_tap", "FeatureTap channels="),
        ("kind_14_yolox_pafpn_multiscale", "YoloxPafpnMultiscale c3="),
    ];
    for (name, line) in lines {
        let text = summary(name);
        let found =
            text.lines().any(|row| row.trim_start().split_once("] ").is_some_and(|(_, row)| row.starts_with(line)));
        assert!(found, "{name}: no line starts with {line:?}\n{text}");
    }
}

#[test]
fn quantised_models_have_a_summary_too() {
    let text = summary("digits_cnn_int8");
    assert!(text.contains("Version     : 4"), "{text}");
    assert!(text.contains("Output elements: 10"), "{text}");
}
