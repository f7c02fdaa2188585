//! The trap models: small graphs that other converters get wrong, with outputs of onnxruntime.

mod common;

use std::fs;

use common::{files_with_extension, input, read_npy, relative_difference, shared, values};
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Options, load};

/// Models whose input has dimensions that the user has to give.
fn options_for(name: &str) -> Options {
    let mut options = Options::default();
    if name == "dyn_hw" {
        options.add_input_shape("x=1,3,8,8").unwrap();
    }
    options
}

#[test]
fn all_trap_models_are_read_and_interpreted_as_onnxruntime_does() {
    let Some(folder) = shared("onnx-traps") else { return };
    let mut failures = Vec::new();
    let models = files_with_extension(&folder, "onnx");
    assert_eq!(models.len(), 84);
    for path in &models {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let bytes = fs::read(path).unwrap();
        let (graph, _) = match load(&bytes, Some(&folder), &options_for(name)) {
            Ok(loaded) => loaded,
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        let (_, x) = read_npy(&path.with_extension("x.npy"));
        let (shape, y) = read_npy(&path.with_extension("y.npy"));
        let outputs = run(&graph, &[input(&graph, 0, &x)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let difference = relative_difference(&values(&outputs[0]), &y);
        // Weights of 16 bits make onnxruntime round between operations too.
        let tolerance = if name.contains("fp16") { 2e-3 } else { 1e-5 };
        if outputs[0].shape() != shape || difference.is_none_or(|difference| difference > tolerance) {
            failures.push(format!("{name}: shape {:?} for {shape:?}, difference {difference:?}", outputs[0].shape()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
