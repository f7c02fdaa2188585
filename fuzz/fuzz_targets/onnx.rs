//! Any bytes as an ONNX file: read and lowered without proof. What is lowered must be a `.nk` file that the library plans.

#![no_main]

use libfuzzer_sys::fuzz_target;
use netkit::{MemoryPlan, Model};
use netkit_convert::lower::{Options, lower};
use netkit_convert::onnx::{self, survey};

fuzz_target!(|bytes: &[u8]| {
    let Ok((graph, _, refusals)) = survey(bytes, None, &onnx::Options::default()) else { return };
    let lower_residual = bytes.len() % 2 == 0;
    let Ok(lowered) = lower(&graph, Options { lower_residual, keeps_linear_layers: false }) else { return };
    if !refusals.is_empty() {
        return;
    }
    // Weights may be too large for single precision, which writing refuses.
    let Ok(nk) = lowered.network.write(None) else { return };
    let model = Model::parse(&nk).expect("a written model is valid");
    let plan = MemoryPlan::of(&model).expect("a written model can be planned");
    let elements = |shape: netkit::tensor::Shape| shape.elements().expect("planned") as usize;
    assert_eq!(elements(plan.input), lowered.network.input.shape.iter().product::<usize>());
    assert_eq!(elements(plan.output), lowered.network.output.shape.iter().product::<usize>());
});
