//! Any bytes as a `.nk` file: what loads must run in exactly the arena that the plan asks for, and with packed weights, on
//! the numbers of the file.

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
    // Once with weights in place and once with packed ones, which other kernels read.
    let mut in_place = vec![0xAA; plan.arena_bytes];
    let mut packed = vec![0xAA; plan.arena_bytes + plan.packed_bytes];
    let Some(expected) = answer(bytes, &model, &mut in_place, input, output) else { return };
    let found = answer(bytes, &model, &mut packed, input, output).expect("what loads in place loads packed");
    // Codes only: those of float networks are all 0.
    assert_eq!(found, expected, "packed weights change no int8 answer");
});

/// Runs the network in this memory on the numbers of the file.
fn answer(bytes: &[u8], model: &Model<'_>, arena: &mut [u8], input: usize, output: usize) -> Option<Vec<i8>> {
    let mut network = Network::load(model, arena).ok()?;
    let number = |index: usize| bytes[index % bytes.len()];
    let mut codes = vec![0; output];
    if network.is_quantized() {
        let fed: Vec<i8> = (0..input).map(|index| number(index) as i8).collect();
        network.run_int8(&fed, &mut codes).expect("a loaded network runs");
    } else {
        let fed: Vec<f32> = (0..input).map(|index| f32::from(number(index)) - 128.0).collect();
        network.run(&fed, &mut vec![0.0; output]).expect("a loaded network runs");
    }
    Some(codes)
}
