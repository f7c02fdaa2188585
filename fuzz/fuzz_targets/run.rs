//! Any bytes as a `.nk` file: what loads must run in exactly the arena that the plan asks for, on the numbers behind the file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use netkit::{MemoryPlan, Model, Network};

/// Networks that legally ask for more are not run.
const MOST_BYTES: usize = 1 << 20;
const MOST_MACS: u64 = 1 << 22;

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::parse(bytes) else { return };
    let Ok(plan) = MemoryPlan::of(&model) else { return };
    let elements = |shape: netkit::tensor::Shape| shape.elements().expect("planned") as usize;
    let (input, output) = (elements(plan.input), elements(plan.output));
    if plan.arena_bytes.max(input).max(output) > MOST_BYTES || plan.macs > MOST_MACS {
        return;
    }
    let mut short = vec![0xAA; plan.arena_bytes.saturating_sub(1)];
    assert!(Network::load(&model, &mut short).is_err(), "one byte less than planned is refused");
    let mut arena = vec![0xAA; plan.arena_bytes];
    let mut network = match Network::load(&model, &mut arena) {
        Ok(network) => network,
        Err(_) => return,
    };
    let number = |index: usize| bytes[index % bytes.len()];
    if network.is_quantized() {
        let fed: Vec<i8> = (0..input).map(|index| number(index) as i8).collect();
        network.run_int8(&fed, &mut vec![0; output]).expect("a loaded network runs");
    } else {
        let fed: Vec<f32> = (0..input).map(|index| f32::from(number(index)) - 128.0).collect();
        network.run(&fed, &mut vec![0.0; output]).expect("a loaded network runs");
    }
});
