//! Damaged files: no panic, and no more memory than the size of a file justifies.

mod common;
mod damaging;

use std::fs;
use std::path::Path;

use common::encode::perceptron;
use damaging::{apply, bound, damage, most_allocated};
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Options, load};
use netkit_convert::tensor::Tensor;
use proptest::prelude::*;

/// Models of all operations.
fn sources() -> Vec<Vec<u8>> {
    let mut sources = vec![perceptron().bytes(13)];
    for file in ["own.txt", "suite.txt"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(file)).unwrap();
        let models = text.lines().filter_map(|line| line.strip_prefix("model "));
        let bytes = |digits: &str| {
            (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
        };
        sources.extend(models.map(bytes));
    }
    sources
}

/// Reads a file and, if that works and the graph is small, executes it.
fn read(bytes: &[u8]) {
    let (most, outcome) = most_allocated(|| load(bytes, None, &Options::default()));
    assert!(most <= bound(bytes), "{most} bytes for a file of {}", bytes.len());
    let Ok((graph, _)) = outcome else { return };
    let elements = |shape: &Option<Vec<usize>>| shape.iter().flatten().product::<usize>();
    if graph.values.iter().any(|value| elements(&value.shape) > 10_000) {
        return;
    }
    let input = |id| {
        let value = graph.value(id);
        let (kind, shape) = (value.element_type.unwrap(), value.shape.clone().unwrap());
        let count = elements(&value.shape);
        match kind.is_float() {
            true => Tensor::real(kind, shape, vec![1.0; count]).unwrap(),
            false => Tensor::whole(kind, shape, vec![1; count]).unwrap(),
        }
    };
    let inputs: Vec<_> = graph.inputs.iter().map(|&id| input(id)).collect();
    // An error is fine; a panic is not.
    let _ = run(&graph, &inputs);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_neither_panic_nor_fill_memory(
        source in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        thread_local! {
            static SOURCES: Vec<Vec<u8>> = sources();
        }
        let mut bytes = SOURCES.with(|sources| sources[source.index(sources.len())].clone());
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        read(&bytes);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        read(&bytes);
    }
}

#[test]
fn every_truncation_is_survived() {
    let bytes = perceptron().bytes(13);
    (0..bytes.len()).for_each(|length| read(&bytes[..length]));
}

#[test]
fn many_small_records_stay_within_the_bound() {
    use common::encode::{FLOAT, Message, node, tensor, value};
    let mut model = perceptron();
    model.nodes.extend((0..150_000).map(|index| node("Relu", &["x"], &[&format!("n{index}")])));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.extend((0..150_000).map(|index| tensor(&format!("n{index}"), FLOAT, &[0])));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.inputs.extend((0..150_000).map(|index| value(&format!("n{index}"), FLOAT, &[])));
    read(&model.bytes(13));
    let mut model = perceptron();
    let names: Vec<_> = (0..500_000).map(|_| "x").collect();
    model.nodes.push(node("Sum", &names, &["z"]));
    read(&model.bytes(13));
    let mut model = perceptron();
    let ints = Message::default().text(1, "perm").packed(8, &vec![0; 9_000_000]).int(20, 7);
    model.nodes.push(node("Relu", &["x"], &["z"]).message(5, &ints));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.push(tensor("c", 3, &[20_000_000]).packed(5, &vec![0; 20_000_000]));
    read(&model.bytes(13));
    let mut model = perceptron();
    model.initializers.push(tensor("c", 3, &[20_000_000]).bytes(9, &vec![0; 20_000_000]));
    read(&model.bytes(13));
}
