//! Networks of ImageNet size, with outputs of onnxruntime.

mod common;

use std::fs;
use std::time::Instant;

use common::{files_with_extension, input, read_npy, relative_difference, shared, values};
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Options, load};

#[test]
fn large_models_are_interpreted_as_onnxruntime_does() {
    let Some(folder) = shared("large") else { return };
    for path in files_with_extension(&folder, "onnx") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let start = Instant::now();
        let (graph, notes) = load(&fs::read(&path).unwrap(), Some(&folder), &Options::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let loaded = start.elapsed();
        let (_, x) = read_npy(&path.with_extension("in.npy"));
        let (shape, y) = read_npy(&path.with_extension("out.npy"));
        let start = Instant::now();
        let outputs = run(&graph, &[input(&graph, 0, &x)]).unwrap_or_else(|error| panic!("{name}: {error}"));
        println!("{name}: loaded in {loaded:?}, interpreted in {:?}; {notes:?}", start.elapsed());
        assert_eq!(outputs[0].shape(), shape, "{name}");
        let difference = relative_difference(&values(&outputs[0]), &y);
        assert!(difference.is_some_and(|difference| difference < 1e-4), "{name}: {difference:?}");
        println!("{name}: {difference:?}");
    }
}

/// Sources of models that are kept as `.nk` files as well.
#[test]
fn models_of_netkit_are_read_and_interpreted() {
    let Some(folder) = shared("netkit") else { return };
    let models = files_with_extension(&folder, "onnx");
    assert!(!models.is_empty());
    for path in models {
        let (graph, _) = load(&fs::read(&path).unwrap(), Some(&folder), &Options::default())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let count = graph.value(graph.inputs[0]).shape.as_ref().unwrap().iter().product::<usize>();
        let x: Vec<f64> = (0..count).map(|index| (index as f64 * 0.37).sin()).collect();
        let outputs =
            run(&graph, &[input(&graph, 0, &x)]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(values(&outputs[0]).iter().all(|y| y.is_finite()));
    }
}
