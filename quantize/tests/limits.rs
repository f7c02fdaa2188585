//! What is refused, and what is at the edge of what int8 holds.

mod common;

use common::{Net, USUAL, quantize};
use netkit::format::records::{ActivationCode, BatchNorm2d, ChannelsEps, FeatureTap};
use netkit::format::{Layer, Model};
use netkit::{MemoryPlan, Network};
use netkit_quantize::assemble::Options;
use netkit_quantize::range::Method;
use netkit_quantize::{Error, assemble, calibrate, form};

#[test]
fn every_layer_without_a_form_is_named() {
    let net = Net::new(&[4, 4, 8], 1)
        .conv2d(3, 8, 8, ActivationCode::RELU)
        .layer(Layer::LayerNorm2d(ChannelsEps { channels: 8, eps: 1e-6 }))
        .norm(8)
        .layer(Layer::FeatureTap(FeatureTap { channels: 8, tap_id: 0 }))
        .conv2d(1, 8, 4, ActivationCode::SOFTMAX);
    let Err(Error::Unsupported(refusals)) = form::form(&net.bytes()) else { panic!("refused") };
    let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    for (text, start) in texts.iter().zip(["layer 1 (layernorm2d): ", "layer 2 (feature_tap): ", "layer 3 (conv2d): "])
    {
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn an_int8_model_is_not_quantised_again() {
    let mut net = Net::new(&[1, 8], 1).dense(8, 4, ActivationCode::NONE);
    let samples = net.samples(8);
    let made = quantize(&net.bytes(), &samples, &samples, USUAL).expect("int8 has it");
    let Err(Error::Unsupported(refusals)) = form::form(&made.int8) else { panic!("refused") };
    assert!(refusals[0].to_string().contains("already"), "{refusals:?}");
}

#[test]
fn samples_must_fit_and_be_finite() {
    let mut net = Net::new(&[1, 8], 1).dense(8, 4, ActivationCode::NONE);
    let bytes = net.bytes();
    let error = |samples: &[Vec<f32>]| match quantize(&bytes, samples, samples, USUAL) {
        Err(Error::Samples(text)) => text,
        _ => panic!("refused"),
    };
    assert_eq!(error(&[]), "there are no samples");
    assert_eq!(error(&[vec![0.0; 8], vec![0.0; 7]]), "sample 1 has 7 values, but the model takes 8");
    let mut samples = net.samples(3);
    samples[2][5] = f32::NAN;
    assert_eq!(error(&samples), "the input is NaN or infinite for sample 2");
    assert_eq!(error(&[vec![3.4e38; 8]]), "the result of layer 0 is NaN or infinite for sample 0");
}

#[test]
fn huge_biases_tiny_weights_and_dead_channels_survive() {
    let mut net = Net::new(&[1, 4], 1).layer(Layer::Dense(netkit::format::records::Dense {
        units: 4,
        activation: ActivationCode::NONE,
        alpha: 0.0,
    }));
    let weights = [[1e-9; 4], [0.0; 4], [0.5, -0.5, 0.25, 1.0], [0.0; 4]].concat();
    net = net.pair(&[4, 4], weights, vec![3.0, -2.0, 0.1, 0.0]);
    let samples = net.samples(64);
    for per_channel in [true, false] {
        let options = Options { method: Method::MinMax, per_channel };
        let made = quantize(&net.bytes(), &samples, &samples, options).expect("int8 has it");
        assert!(made.last().relative_error() < 0.02, "{}", made.last().relative_error());
    }
}

#[test]
fn outputs_that_are_always_zero_have_a_scale() {
    let mut net = Net::new(&[1, 4], 1);
    let record = netkit::format::records::Dense { units: 2, activation: ActivationCode::RELU, alpha: 0.0 };
    net = net.layer(Layer::Dense(record)).pair(&[2, 4], vec![0.01; 8], vec![-5.0, -9.0]);
    net = net.dense(2, 3, ActivationCode::NONE);
    let samples = net.samples(16);
    let made = quantize(&net.bytes(), &samples, &samples, USUAL).expect("int8 has it");
    assert!(made.last().relative_error() < 0.02, "{}", made.last().relative_error());
}

#[test]
fn batch_norm_goes_into_the_weights_in_front_or_becomes_a_layer() {
    let norm = |channels| Layer::BatchNorm2d(BatchNorm2d { channels });
    let net = Net::new(&[5, 4, 6], 3)
        .layer(norm(6))
        .norm(6)
        .conv2d(3, 6, 8, ActivationCode::NONE)
        .layer(norm(8))
        .norm(8)
        .layer(norm(8))
        .norm(8)
        .conv2d(1, 8, 8, ActivationCode::RELU)
        .layer(norm(8))
        .norm(8);
    let form = form::form(&net.bytes()).expect("int8 has it");
    let kinds: Vec<(u8, usize)> = form.iter().map(|layer| (layer.record.kind(), layer.source)).collect();
    assert_eq!(kinds, [(7, 0), (2, 3), (2, 4), (7, 5)], "depthwise for a batch norm alone, and whose result each is");
}

#[test]
fn results_do_not_depend_on_the_order_of_samples_or_on_threads() {
    let mut net = Net::new(&[6, 6, 3], 5).conv2d(3, 3, 8, ActivationCode::TANH).layer(Layer::Flatten).dense(
        288,
        5,
        ActivationCode::SOFTMAX,
    );
    let (bytes, mut samples) = (net.bytes(), net.samples(100));
    let int8 = |samples: &[Vec<f32>]| {
        let form = form::form(&bytes).expect("a form");
        let values = calibrate::calibrate(&bytes, &form, samples, &mut |_| ()).expect("values");
        let options = Options { method: Method::Mse, per_channel: true };
        let quantized = assemble::quantize(&form, &values, options);
        assemble::assemble(&Model::parse(&bytes).expect("a model"), &quantized, None).expect("a file")
    };
    let first = int8(&samples);
    samples.reverse();
    assert!(first == int8(&samples));
}

#[test]
fn codes_of_samples_are_what_the_library_gives() {
    let mut net = Net::new(&[8, 8, 2], 6)
        .conv2d(3, 2, 16, ActivationCode::RELU)
        .layer(Layer::MaxPool2d(Net::pool(2)))
        .layer(Layer::Flatten)
        .dense(256, 4, ActivationCode::NONE);
    let samples = net.samples(10);
    let made = quantize(&net.bytes(), &samples, &samples, USUAL).expect("int8 has it");
    let model = Model::parse(&made.int8).expect("a model");
    let mut region = vec![0; MemoryPlan::of(&model).expect("a plan").arena_bytes];
    let mut network = Network::load(&model, &mut region).expect("loads");
    for sample in &made.samples {
        let mut output = [0; 4];
        network.run_int8(&sample.codes.0, &mut output).expect("runs");
        assert_eq!(output[..], sample.codes.1[..]);
        assert_eq!(sample.layers[0], None, "the convolution is computed with the pool");
        assert!(sample.layers[1].is_some());
    }
}
