//! Every activation in small networks of random weights: int8 against float on inputs that were not calibrated.

mod common;

use common::{Net, USUAL, quantize};
use netkit::format::Layer;
use netkit::format::records::ActivationCode;
use netkit_quantize::assemble::Options;
use netkit_quantize::range::Method;

/// The largest relative root mean square error of an output.
const MOST_ERROR: f64 = 0.03;

const ACTIVATIONS: [ActivationCode; 6] = [
    ActivationCode::NONE,
    ActivationCode::RELU,
    ActivationCode::RELU6,
    ActivationCode::LEAKY_RELU,
    ActivationCode::TANH,
    ActivationCode::SIGMOID,
];

/// Convolution, pool, convolution, dense: each but the last with the activation.
fn cnn(activation: ActivationCode, seed: u64) -> Net {
    Net::new(&[12, 10, 3], seed)
        .conv2d(3, 3, 16, activation)
        .layer(Layer::MaxPool2d(Net::pool(2)))
        .conv2d(3, 16, 24, activation)
        .layer(Layer::Flatten)
        .dense(6 * 5 * 24, 10, ActivationCode::NONE)
}

/// Five layers with the activation, of all kinds that have one, and a mean, which shrinks the values but not their steps.
fn deeper(activation: ActivationCode, seed: u64) -> Net {
    Net::new(&[12, 10, 3], seed)
        .conv2d(3, 3, 16, activation)
        .depthwise(3, 16, activation)
        .layer(Layer::MaxPool2d(Net::pool(2)))
        .conv2d(3, 16, 24, activation)
        .layer(Layer::AvgPool2d(Net::pool(2)))
        .layer(Layer::Flatten)
        .dense(3 * 2 * 24, 16, activation)
        .dense(16, 10, activation)
}

#[test]
fn the_error_is_small_for_each_activation() {
    for activation in ACTIVATIONS {
        for seed in 1..=8 {
            for (mut net, most) in [(cnn(activation, seed), MOST_ERROR), (deeper(activation, seed), 2.0 * MOST_ERROR)] {
                let (samples, others) = (net.samples(64), net.samples(32));
                let made = quantize(&net.bytes(), &samples, &others, USUAL).expect("int8 has it");
                let error = made.last().relative_error();
                assert!(error <= most, "{} {seed}: {:.2} %", activation.name(), 100.0 * error);
            }
        }
    }
}

#[test]
fn no_method_is_much_worse_and_channels_help() {
    for activation in ACTIVATIONS {
        let mut net = cnn(activation, 11);
        let (samples, others) = (net.samples(64), net.samples(32));
        let error = |method, per_channel| {
            let made = quantize(&net.bytes(), &samples, &others, Options { method, per_channel }).expect("int8 has it");
            made.last().relative_error()
        };
        for method in [Method::Percentile(1e-4), Method::Mse] {
            let error = error(method, true);
            assert!(error <= 1.5 * MOST_ERROR, "{} {method:?}: {:.2} %", activation.name(), 100.0 * error);
        }
        let per_tensor = error(Method::MinMax, false);
        assert!(per_tensor <= 2.0 * MOST_ERROR, "{} per tensor: {:.2} %", activation.name(), 100.0 * per_tensor);
    }
}

#[test]
fn probabilities_are_those_of_the_calibrated_logits() {
    for (rows, seed) in [(1, 1), (1, 2), (3, 3)] {
        let mut net =
            Net::new(&[rows, 20], seed).dense(20, 32, ActivationCode::RELU).dense(32, 10, ActivationCode::SOFTMAX);
        let (samples, others) = (net.samples(100), net.samples(50));
        let made = quantize(&net.bytes(), &samples, &others, USUAL).expect("int8 has it");
        let closeness = made.last();
        let deviation = (closeness.noise / closeness.count as f64).sqrt();
        assert!(deviation < 0.005, "{deviation}");
        assert_eq!(closeness.clipped, 0, "probabilities up to 1 are 255/256");
        let same = made.samples.iter().filter(|sample| sample.classes.float == sample.classes.int8).count();
        assert!(same >= 46, "{same} of 50");
    }
}

#[test]
fn softmax_between_layers_is_read_with_its_own_scale() {
    let mut net = Net::new(&[1, 12], 4)
        .dense(12, 16, ActivationCode::SOFTMAX)
        .dense(16, 16, ActivationCode::SIGMOID)
        .dense(16, 6, ActivationCode::NONE);
    let (samples, others) = (net.samples(100), net.samples(50));
    let made = quantize(&net.bytes(), &samples, &others, USUAL).expect("int8 has it");
    assert!(made.last().relative_error() < MOST_ERROR, "{}", made.last().relative_error());
}
