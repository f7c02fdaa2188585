//! Any bytes as a TensorFlow Lite file: read and lowered without proof. What is lowered must be a `.nk` file that the library
//! plans, of the same type.

#![no_main]

use libfuzzer_sys::fuzz_target;
use netkit::{MemoryPlan, Model};
use netkit_convert::lower::Options;
use netkit_convert::tflite::Source;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::read(bytes) else { return };
    let lower_residual = bytes.len() % 2 == 0;
    let Ok(lowered) = source.lower(Options { lower_residual, ..Options::default() }) else { return };
    // Weights may be too large for single precision, which writing refuses.
    let Ok(nk) = lowered.network.write(None) else { return };
    let model = Model::parse(&nk).expect("a written model is valid");
    let plan = MemoryPlan::of(&model).expect("a written model can be planned");
    let elements = |shape: netkit::tensor::Shape| shape.elements().expect("planned") as usize;
    assert_eq!(model.is_quantized(), source.is_int8());
    assert_eq!(elements(plan.input), source.input_elements());
    assert_eq!(elements(plan.output), source.output_elements());
});
