//! Runs what lowering gives, in the order of the model.

#![allow(dead_code, reason = "each test program uses some of it")]

use netkit::{MemoryPlan, Model};
use netkit_convert::network::Network;

/// The output of a network for an input, both in the model's order; codes of an int8 network.
pub fn run(network: &Network, input: &[f64]) -> Vec<f64> {
    let bytes = network.write(None).expect("the file can be written");
    let model = Model::parse(&bytes).expect("the file can be read");
    let plan = MemoryPlan::of(&model).expect("the file can be planned");
    let mut arena = vec![0u8; plan.arena_bytes];
    let mut loaded = netkit::Network::load(&model, &mut arena).expect("the file can be loaded");
    let elements = plan.output.elements().unwrap() as usize;
    if network.is_quantized() {
        let codes: Vec<i8> = input.iter().map(|&code| code as i8).collect();
        let mut output = vec![0; elements];
        loaded.run_int8(&codes, &mut output).expect("the network runs");
        return output.into_iter().map(f64::from).collect();
    }
    let input: Vec<f32> = input.iter().map(|&value| value as f32).collect();
    let mut output = vec![0.0; elements];
    loaded.run(&network.input.to_memory(&input), &mut output).expect("the network runs");
    network.output.from_memory(&output).into_iter().map(f64::from).collect()
}

/// Whether all elements are within 1e-3 of the expected ones, or within 1e-4 of the largest.
pub fn is_close(found: &[f64], expected: &[f64]) -> bool {
    let largest = expected.iter().fold(0.0f64, |most, value| most.max(value.abs()));
    let close = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-3 * expected.abs() + 1e-4 * largest;
    found.len() == expected.len() && found.iter().zip(expected).all(close)
}
