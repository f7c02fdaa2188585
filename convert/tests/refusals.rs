//! Everything that stands in the way of a conversion is told at once.

mod building;
mod common;

use building::{Builder, ints};
use common::encode::{Dim, FLOAT, Model, floats, int64s, node, value};
use netkit_convert::graph::{Attribute, Graph};
use netkit_convert::lower::{Options, lower};
use netkit_convert::onnx::{self, survey};

/// Names of the operations that are refused.
fn refused(graph: &Graph) -> Vec<String> {
    lower(graph, Options::default()).unwrap_err().into_iter().map(|refusal| refusal.op).collect()
}

#[test]
fn nodes_behind_a_refused_one_are_looked_at() {
    let (mut b, x) = Builder::new(&[1, 3, 6, 4]);
    let bent = b.op("Elu", &[x], &[], &[1, 3, 6, 4]);
    let gate = b.op("Sigmoid", &[bent], &[], &[1, 3, 6, 4]);
    let gated = b.op("Mul", &[bent, gate], &[], &[1, 3, 6, 4]);
    let uneven =
        b.op("MaxPool", &[gated], &[("kernel_shape", ints(&[2, 2])), ("strides", ints(&[2, 1]))], &[1, 3, 3, 3]);
    assert_eq!(refused(&b.finish(uneven)), ["Elu", "MaxPool", "Mul"]);
}

#[test]
fn sums_behind_a_refused_node_are_not_blamed() {
    // With ReLU in the place of Elu this would be a block.
    let (mut b, x) = Builder::new(&[1, 2, 5, 4]);
    let shape = [1, 2, 5, 4];
    let pads = [("pads", ints(&[1, 1, 1, 1]))];
    let first = b.conv(x, &[2, 2, 3, 3], &pads, &shape);
    let bent = b.op("Elu", &[first], &[], &shape);
    let second = b.conv(bent, &[2, 2, 3, 3], &pads, &shape);
    let sum = b.op("Add", &[second, x], &[], &shape);
    let y = b.op("Relu", &[sum], &[], &shape);
    assert_eq!(refused(&b.finish(y)), ["Elu"]);
}

#[test]
fn open_dimensions_do_not_hide_unknown_operations() {
    let model = Model {
        nodes: vec![
            node("Relu", &["x"], &["bent"]),
            node("LSTM", &["bent", "w", "w"], &["y"]),
            node("Shape", &["bent"], &["size"]),
            node("Gather", &["size", "w"], &["first"]),
        ],
        initializers: vec![floats("w", &[1], &[1.0])],
        inputs: vec![value("x", FLOAT, &[Dim::Is(1), Dim::Named("length"), Dim::Is(4)])],
        outputs: vec![value("y", FLOAT, &[Dim::Named("n")]), value("first", FLOAT, &[])],
    };
    let (graph, _, refusals) = survey(&model.bytes(13), None, &onnx::Options::default()).unwrap();
    let names: Vec<&str> = refusals.iter().map(|refusal| refusal.op.as_str()).collect();
    assert_eq!(names, ["input", "LSTM"]);
    // What depends on a shape that is not known yet is not to blame.
    assert_eq!(refused(&graph), ["output", "input"]);
}

#[test]
fn several_outputs_do_not_hide_nodes() {
    let (mut b, x) = Builder::new(&[1, 4]);
    let y = b.op("Elu", &[x], &[], &[1, 4]);
    let mut graph = b.finish(y);
    graph.outputs.push(x);
    assert_eq!(refused(&graph), ["output", "Elu"]);
}

#[test]
fn question_marks_are_no_name_of_a_dimension() {
    let mut model = Model {
        nodes: vec![node("Relu", &["x"], &["y"])],
        initializers: Vec::new(),
        inputs: vec![value("x", FLOAT, &[Dim::Is(-1), Dim::Is(3), Dim::Named("?"), Dim::Named("?")])],
        outputs: vec![value("y", FLOAT, &[])],
    };
    let mut options = onnx::Options::default();
    options.add_input_shape("1,3,8,9").unwrap();
    let (graph, ..) = survey(&model.bytes(13), None, &options).unwrap();
    assert_eq!(graph.value(graph.outputs[0]).shape.as_deref(), Some(&[1, 3, 8, 9][..]));
    model.inputs = vec![value("x", FLOAT, &[Dim::Named("n"), Dim::Is(3), Dim::Named("n"), Dim::Is(9)])];
    assert!(survey(&model.bytes(13), None, &options).is_err(), "a name stands for one extent");
}

#[test]
fn results_that_are_too_large_are_not_looked_at() {
    let far = 1 << 40;
    let model = Model {
        nodes: vec![node("Pad", &["x", "pads"], &["padded"]), node("Relu", &["padded"], &["y"])],
        initializers: vec![int64s("pads", &[0, 0, far, far, 0, 0, far, far])],
        inputs: vec![value("x", FLOAT, &[Dim::Is(1), Dim::Is(3), Dim::Is(5), Dim::Is(7)])],
        outputs: vec![value("y", FLOAT, &[])],
    };
    let (graph, _, refusals) = survey(&model.bytes(13), None, &onnx::Options::default()).unwrap();
    assert_eq!(refusals[0].op, "Pad");
    assert!(refused(&graph).is_empty(), "the reader has told it");

    let (mut b, x) = Builder::new(&[1, 3, 1 << 12, 1 << 12]);
    let y = b.op("Relu", &[x], &[], &[1, 3, 1 << 12, 1 << 12]);
    assert_eq!(refused(&b.finish(y)), ["tensor"]);
}

#[test]
fn the_layout_that_fits_best_tells_the_reasons() {
    let (mut b, x) = Builder::new(&[1, 6, 4, 3]);
    let first = b.op("Transpose", &[x], &[("perm", ints(&[0, 3, 1, 2]))], &[1, 3, 6, 4]);
    let y = b.conv(first, &[2, 3, 2, 2], &[("strides", ints(&[2, 1])), ("group", Attribute::Int(1))], &[1, 2, 3, 3]);
    let refusals = lower(&b.finish(y), Options::default()).unwrap_err();
    assert_eq!(refusals[0].found, "strides = [2, 1]");
}
