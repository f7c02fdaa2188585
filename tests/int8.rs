//! int8 models: what is refused, with its sentence, and what a run gives.

mod common;

use common::Int8Model;
use netkit::error::ErrorKind;
use netkit::format::Layer;
use netkit::format::records::{BatchNorm2d, ChannelsEps, FeatureTap, YoloxDecoupledHead, YoloxPafpnMultiscale};
use netkit::{Error, MemoryPlan, Model, Network};

/// The error of parsing, planning or loading.
fn load_error(bytes: &[u8]) -> Error {
    let model = match Model::parse(bytes) {
        Err(error) => return error,
        Ok(model) => model,
    };
    match MemoryPlan::of(&model) {
        Err(error) => error,
        Ok(plan) => Network::load(&model, &mut vec![0; plan.arena_bytes]).expect_err("must be refused"),
    }
}

/// Offset of the QUAN section in the file of [`Int8Model::conv`].
const QUAN: usize = 48 + 24 + 24 + 24;

fn patched(offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = Int8Model::conv().bytes();
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn the_unchanged_model_runs() {
    let bytes = Int8Model::conv().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let plan = MemoryPlan::of(&model).expect("plan");
    let mut arena = vec![0xFF; plan.arena_bytes];
    let mut output = [0; 12];
    Network::load(&model, &mut arena).expect("load").run_int8(&[1; 32], &mut output).expect("run");
    // 18 products of (1 + 3) * 2, bias 7: 151. Scaled by 0.5 * {0.25, 0.125, 0.0625} that is 18.9, 9.4 and 4.7, and moved
    // by the zero point 4. The second shows the double rounding of TFLite: 151 / 2 is 76, 76 / 8 is 9.5, which is 10.
    assert_eq!(output[..3], [23, 14, 9]);
    assert_eq!(output[9..], [23, 14, 9]);
}

#[test]
fn scales_must_be_positive_numbers() {
    for (scale, text) in [
        (f32::NAN, "must be a finite number"),
        (f32::INFINITY, "must be a finite number"),
        (0.0, "must be above 0"),
        (-0.5, "must be above 0"),
    ] {
        let scale = scale.to_le_bytes();
        for (offset, field) in [(8, "input scale"), (16, "weight scale"), (32, "output scale"), (44, "channel scale")] {
            let error = load_error(&patched(QUAN + offset, &scale));
            assert_eq!(error.to_string(), format!("byte {}: {field}: {text}", QUAN + offset));
            assert_eq!(error.kind, ErrorKind::Quant);
        }
    }
}

#[test]
fn zero_points_must_be_int8_values() {
    for zero_point in [-129i32, 128, i32::MIN, i32::MAX] {
        for (offset, field) in [(12, "input zero point"), (20, "weight zero point"), (36, "output zero point")] {
            let error = load_error(&patched(QUAN + offset, &zero_point.to_le_bytes()));
            assert_eq!(error.to_string(), format!("byte {}: {field}: must be -128 to 127", QUAN + offset));
        }
    }
}

#[test]
fn convolutions_have_no_weight_zero_point() {
    let error = load_error(&patched(QUAN + 20, &3i32.to_le_bytes()));
    assert_eq!(error.to_string(), "layer 0 (conv2d), byte 48: weight zero point: must be 0 for convolutions");
}

#[test]
fn a_residual_block_states_the_parameters_of_its_sum() {
    let path = format!("{}/models/resnet_last_int8.nk", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::read(path).expect("model");
    let quant = Model::parse(&file).expect("valid").quant().expect("int8").offset();
    // The block's convolutions are the second and third of the model.
    let conv2 = quant + 8 + 2 * 32;
    let error = |offset: usize, bytes: [u8; 4]| {
        let mut file = file.clone();
        file[conv2 + offset..conv2 + offset + 4].copy_from_slice(&bytes);
        load_error(&file).to_string()
    };
    let place = "layer 2 (resnet_basic_block), byte 88: ";
    let text = "bias scale of conv2: must be the scale of the block's output, above 0";
    for scale in [0.0f32, -0.0, -0.5] {
        assert_eq!(error(16, scale.to_le_bytes()), format!("{place}{text}"));
    }
    let text = "bias zero point of conv2: must be the zero point of the block's output, -128 to 127";
    for zero_point in [-129i32, 128, i32::MIN, i32::MAX] {
        assert_eq!(error(20, zero_point.to_le_bytes()), format!("{place}{text}"));
    }
}

#[test]
fn counts_must_match() {
    let cases = [
        (patched(QUAN + 4, &[0, 0]), "byte 124: QUAN count is 0, expected at least 1"),
        (patched(QUAN + 4, &[101, 0]), "byte 124: QUAN count is 101, expected at most 100"),
        (patched(QUAN, b"QUAX"), "byte 120: the quantization section must start with QUAN"),
        (patched(10, &[2, 0, 0, 0, 0, 0]), "byte 12: input dimension is 0, expected at least 1"),
        (patched(4, &[3]), "byte 10: flag 0x0002 (int8) needs format version 4"),
    ];
    for (bytes, text) in cases {
        assert_eq!(load_error(&bytes).to_string(), text);
    }
    let huge = load_error(&patched(QUAN + 40, &u32::MAX.to_le_bytes()));
    assert_eq!(huge.to_string(), "byte 244: channel scale: the file ends here");

    let model = Int8Model { channel_scales: vec![vec![0.5; 2]], ..Int8Model::conv() };
    let text = "layer 0 (conv2d), byte 48: channel scale count is 2, expected 3";
    assert_eq!(load_error(&model.bytes()).to_string(), text);
}

#[test]
fn accumulators_cannot_overflow() {
    // 18 weights of 127 and inputs up to 130 away from their zero point reach 297,180.
    let least = i32::MAX - 297_180;
    let model = Int8Model { weight: 127, bias: least, ..Int8Model::conv() };
    let bytes = model.bytes();
    let parsed = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&parsed).expect("plan").arena_bytes];
    Network::load(&parsed, &mut arena).expect("the largest sum fits");
    let model = Int8Model { bias: least + 1, ..model };
    assert_eq!(
        load_error(&model.bytes()).to_string(),
        "layer 0 (conv2d), byte 48: channel whose sums can leave 32 bits is 0; its weights or bias are too large"
    );
}

#[test]
fn padding_behind_the_weights_must_be_zero() {
    let bytes = Int8Model::conv().bytes();
    let payload = Model::parse(&bytes).expect("valid").payload_offset();
    let error = load_error(&patched(payload + 54, &[1]));
    assert_eq!(error.to_string(), format!("byte {}: padding behind the int8 weights: must be zero", payload + 54));
}

#[test]
fn kinds_without_an_int8_form_are_refused_with_a_reason() {
    let behind = |layer| {
        let mut model = Int8Model::conv();
        model.layers.push(layer);
        load_error(&model.bytes())
    };
    let norm = ChannelsEps { channels: 3, eps: 1e-6 };
    let head = YoloxDecoupledHead { in_channels: 3, hidden_dim: 4, num_classes: 2, num_convs: 0 };
    let pafpn = YoloxPafpnMultiscale {
        c3_channels: 3,
        c4_channels: 3,
        c5_channels: 3,
        hidden_dim: 4,
        num_classes: 2,
        num_convs: 0,
    };
    let layers = [
        (Layer::BatchNorm2d(BatchNorm2d { channels: 3 }), "fold it into the convolution before quantizing"),
        (Layer::LayerNorm2d(norm), "int8 has no form of a layer norm"),
        (Layer::ConvNextV2Block(norm), "int8 has no form of a ConvNeXt V2 block"),
        (Layer::YoloxDecoupledHead(head), "int8 has no form of a YOLOX head"),
        (Layer::FeatureTap(FeatureTap { channels: 3, tap_id: 0 }), "int8 has no form of a PAFPN"),
        (Layer::YoloxPafpnMultiscale(pafpn), "int8 has no form of a PAFPN"),
    ];
    for (layer, text) in layers {
        let error = behind(layer);
        assert_eq!((error.kind, error.layer()), (ErrorKind::Unsupported, Some(1)), "{error}");
        assert!(error.to_string().contains(text), "{error}");
        assert!(error.to_string().len() <= 127, "{error}");
    }
}

#[test]
fn a_run_of_the_wrong_kind_is_refused() {
    let bytes = Int8Model::conv().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    let error = network.run(&[0.0; 32], &mut [0.0; 12]).expect_err("float run");
    assert_eq!(error.to_string(), "this is an int8 model: give it int8");
    let bytes = common::TestModel::mlp().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let mut network = Network::load(&model, &mut arena).expect("load");
    let error = network.run_int8(&[0; 2], &mut [0; 2]).expect_err("int8 run");
    assert_eq!(error.to_string(), "this is a float model: give it float32");
}

#[test]
fn the_final_softmax_can_be_left_out() {
    for name in ["digits_mlp", "digits_cnn", "digits_mlp_int8", "digits_cnn_int8"] {
        let bytes = std::fs::read(format!("{}/models/{name}.nk", env!("CARGO_MANIFEST_DIR"))).expect("model");
        let model = Model::parse(&bytes).expect("valid");
        let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
        let mut network = Network::load(&model, &mut arena).expect("load");
        let input = network.input_shape().elements().expect("input") as usize;
        let run = |network: &mut Network<'_, '_>| -> Vec<f32> {
            if network.is_quantized() {
                let mut output = [0i8; 10];
                network.run_int8(&vec![20; input], &mut output).expect("run");
                output.map(f32::from).to_vec()
            } else {
                let mut output = [0f32; 10];
                network.run(&vec![0.5; input], &mut output).expect("run");
                output.to_vec()
            }
        };
        let probabilities = run(&mut network);
        network.set_omit_final_softmax(true);
        assert!(network.omits_final_softmax(), "{name}");
        let logits = run(&mut network);
        assert_ne!(logits, probabilities, "{name}");
        assert_eq!(netkit::regression::argmax(&logits), netkit::regression::argmax(&probabilities), "{name}");
        network.set_omit_final_softmax(false);
        assert_eq!(run(&mut network), probabilities, "{name}");
    }
    let bytes = common::TestModel::mlp().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    network.set_omit_final_softmax(true);
    assert!(!network.omits_final_softmax(), "a model without a final softmax keeps its output");
}
