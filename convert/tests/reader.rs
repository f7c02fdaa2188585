//! Files that are valid in unusual ways, and files that are not valid.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::encode::{
    Dim, FLOAT, INT64, Message, Model, floats, int_attribute, int64s, ints_attribute, node, perceptron, tensor, value,
};
use common::{input, values};
use netkit_convert::error::{Error, ErrorKind};
use netkit_convert::graph::Graph;
use netkit_convert::interpret::run;
use netkit_convert::onnx::{Notes, Options, load};

fn read(model: &Model) -> Result<(Graph, Notes), Error> {
    load(&model.bytes(13), None, &Options::default())
}

fn text(error: Result<(Graph, Notes), Error>) -> String {
    error.map(|(graph, _)| graph.nodes.len()).expect_err("it is refused").to_string()
}

/// `y = x + c`, where the test provides c.
fn adds(c: Message) -> Model {
    Model {
        nodes: vec![node("Add", &["x", "c"], &["y"])],
        initializers: vec![c],
        inputs: vec![value("x", FLOAT, &[Dim::Is(4)])],
        outputs: vec![value("y", FLOAT, &[])],
    }
}

fn computed(model: &Model, x: &[f64]) -> Vec<f64> {
    let (graph, _) = read(model).unwrap();
    values(&run(&graph, &[input(&graph, 0, x)]).unwrap()[0])
}

#[test]
fn an_open_batch_becomes_one_and_the_notes_say_so() {
    let (graph, notes) = read(&perceptron()).unwrap();
    assert_eq!(graph.value(graph.inputs[0]).shape.as_deref(), Some(&[1, 3][..]));
    assert_eq!(graph.value(graph.outputs[0]).shape.as_deref(), Some(&[1, 2][..]));
    assert_eq!(notes.assumptions, ["input \"x\": the leading dimension \"batch\" is taken as 1"]);
    let y = run(&graph, &[input(&graph, 0, &[1.0, 2.0, 3.0])]).unwrap();
    assert_eq!(values(&y[0]).iter().map(|y| (y * 1e4).round() / 1e4).collect::<Vec<_>>(), [2.35, 3.8]);
}

#[test]
fn nodes_may_stand_in_any_order() {
    let mut model = perceptron();
    model.nodes.reverse();
    let (graph, _) = read(&model).unwrap();
    assert_eq!(graph.nodes.iter().map(|node| node.op.as_str()).collect::<Vec<_>>(), ["MatMul", "Add", "Relu"]);
    assert_eq!(graph.nodes[0].name, "MatMul product");
}

#[test]
fn initializers_that_are_listed_as_inputs_are_no_inputs() {
    let mut model = perceptron();
    model.inputs.insert(0, value("w", FLOAT, &[Dim::Is(3), Dim::Is(2)]));
    let (graph, _) = read(&model).unwrap();
    assert_eq!(graph.inputs.len(), 1);
    assert_eq!(graph.value(graph.inputs[0]).name, "x");
}

#[test]
fn elements_are_read_from_every_field() {
    let x = [1.0, 1.0, 1.0, 1.0];
    let expected = [1.0, 3.0, 0.0, 1.5];
    let typed = tensor("c", FLOAT, &[4]).bytes(4, &[0.0f32, 2.0, -1.0, 0.5].map(f32::to_le_bytes).concat());
    assert_eq!(computed(&adds(typed), &x), expected);
    let unpacked = [0.0f32, 2.0, -1.0, 0.5].iter().fold(tensor("c", FLOAT, &[4]), |message, x| message.float(4, *x));
    assert_eq!(computed(&adds(unpacked), &x), expected);
    for (kind, bits) in [(10, [0, 0x4000, 0xbc00, 0x3800]), (16, [0, 0x4000, 0xbf80, 0x3f00])] {
        let mut model = adds(tensor("h", kind, &[4]).packed(5, &bits));
        model.nodes.push(node("Cast", &["h"], &["c"]).message(5, &int_attribute("to", FLOAT)));
        assert_eq!(computed(&model, &x), expected);
        let raw: Vec<u8> = bits.iter().flat_map(|bits| (*bits as u16).to_le_bytes()).collect();
        model.initializers = vec![tensor("h", kind, &[4]).bytes(9, &raw)];
        assert_eq!(computed(&model, &x), expected);
    }
    for (kind, field) in [(3, 5), (5, 5), (6, 5), (INT64, 7)] {
        let mut model = adds(tensor("i", kind, &[4]).packed(field, &[0, 2, -1, 3]));
        model.nodes.push(node("Cast", &["i"], &["c"]).message(5, &int_attribute("to", FLOAT)));
        assert_eq!(computed(&model, &x), [1.0, 3.0, 0.0, 4.0], "type {kind}");
    }
}

#[test]
fn constants_are_folded_through_shape_arithmetic() {
    // The reshape that exporters write for `x.view(x.shape[0], -1)`.
    let model = Model {
        nodes: vec![
            node("Shape", &["x"], &["shape"]),
            node("Gather", &["shape", "zero"], &["batch"]).message(5, &int_attribute("axis", 0)),
            node("Unsqueeze", &["batch", "axes"], &["batch1"]),
            node("Concat", &["batch1", "rest"], &["target"]).message(5, &int_attribute("axis", 0)),
            node("Reshape", &["x", "target"], &["flat"]),
            node("Relu", &["flat"], &["y"]),
            node("Exp", &["flat"], &["unused"]),
        ],
        initializers: vec![tensor("zero", INT64, &[]).packed(7, &[0]), int64s("axes", &[0]), int64s("rest", &[-1])],
        inputs: vec![value("x", FLOAT, &[Dim::Named(""), Dim::Is(2), Dim::Is(3)])],
        outputs: vec![value("y", FLOAT, &[])],
    };
    let (graph, notes) = read(&model).unwrap();
    assert_eq!(graph.nodes.iter().map(|node| node.op.as_str()).collect::<Vec<_>>(), ["Reshape", "Relu"]);
    assert_eq!((notes.folded, notes.removed_dead), (4, 1));
    assert_eq!(graph.value(graph.outputs[0]).shape.as_deref(), Some(&[1, 6][..]));
    assert!(graph.values.iter().all(|value| value.shape.is_some() && value.element_type.is_some()));
}

#[test]
fn what_does_nothing_is_removed_and_the_output_keeps_its_name() {
    let model = Model {
        nodes: vec![
            node("Identity", &["x"], &["a"]),
            node("Relu", &["a"], &["b"]),
            node("Dropout", &["b"], &["c", "mask"]),
            node("Transpose", &["c"], &["d"]).message(5, &ints_attribute("perm", &[1, 0, 2])),
            node("Identity", &["d"], &["y"]),
        ],
        inputs: vec![value("x", FLOAT, &[Dim::Is(1), Dim::Is(1), Dim::Is(3)])],
        outputs: vec![value("y", FLOAT, &[])],
        ..Model::default()
    };
    let (graph, notes) = read(&model).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    assert_eq!(notes.removed_identities, 4);
    assert_eq!(graph.value(graph.outputs[0]).name, "y");
    assert_eq!(graph.nodes[0].outputs, [Some(graph.outputs[0])]);
}

#[test]
fn an_identity_between_input_and_output_stays() {
    let mut model = adds(floats("c", &[4], &[0.0; 4]));
    model.nodes = vec![node("Identity", &["x"], &["y"])];
    let (graph, _) = read(&model).unwrap();
    assert_eq!(graph.nodes.len(), 1);
    assert_eq!(computed(&model, &[1.0, 2.0, 3.0, 4.0]), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_graph_can_be_cut_at_a_named_value() {
    let options = Options { outputs: vec!["sum".into()], ..Options::default() };
    let (graph, notes) = load(&perceptron().bytes(13), None, &options).unwrap();
    assert_eq!((graph.nodes.len(), notes.removed_dead), (2, 1));
    let options = Options { outputs: vec!["nothing".into()], ..Options::default() };
    let error = load(&perceptron().bytes(13), None, &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(error.to_string(), "--output: no value is named \"nothing\"; the outputs are \"y\"");
}

#[test]
fn an_input_without_influence_is_left_out() {
    let mut model = perceptron();
    model.inputs.insert(0, value("z", FLOAT, &[Dim::Is(5)]));
    model.nodes.push(node("Exp", &["z"], &["unused"]));
    let (graph, notes) = read(&model).unwrap();
    assert_eq!(graph.inputs.len(), 1);
    assert_eq!(graph.value(graph.inputs[0]).name, "x");
    assert_eq!(notes.assumptions[1], "input \"z\" is not read and left out");
}

/// `y = x op c` on two channels of two pixels, in operator set 6.
fn old(op: &str, attributes: &[Message], c: Message) -> Result<Vec<f64>, Error> {
    let node = attributes.iter().fold(node(op, &["x", "c"], &["y"]), |node, attribute| node.message(5, attribute));
    let model = Model {
        nodes: vec![node],
        initializers: vec![c],
        inputs: vec![value("x", FLOAT, &[Dim::Is(1), Dim::Is(2), Dim::Is(2)])],
        outputs: vec![value("y", FLOAT, &[])],
    };
    let (graph, _) = load(&model.bytes(6), None, &Options::default())?;
    Ok(values(&run(&graph, &[input(&graph, 0, &[-1.0, 2.0, -3.0, 4.0])])?[0]))
}

#[test]
fn old_broadcasts_are_understood() {
    let broadcast = || int_attribute("broadcast", 1);
    let pair = || floats("c", &[2], &[10.0, 20.0]);
    assert_eq!(old("Add", &[broadcast()], pair()).unwrap(), [9.0, 22.0, 7.0, 24.0]);
    assert_eq!(old("Add", &[broadcast(), int_attribute("axis", 1)], pair()).unwrap(), [9.0, 12.0, 17.0, 24.0]);
    assert_eq!(old("Mul", &[broadcast(), int_attribute("axis", -2)], pair()).unwrap(), [-10.0, 20.0, -60.0, 80.0]);
    assert_eq!(old("PRelu", &[], pair()).unwrap(), [-10.0, 2.0, -60.0, 4.0]);
    let error = old("Add", &[], pair()).unwrap_err();
    assert!(error.to_string().contains("needs broadcast=1 in operator set 6"), "{error}");
    let error = old("Add", &[broadcast(), int_attribute("axis", 3)], pair()).unwrap_err();
    assert!(error.to_string().contains("do not fit at axis 3"), "{error}");
}

#[test]
fn open_dimensions_are_refused_or_given() {
    let mut model = adds(floats("c", &[1], &[1.0]));
    model.inputs = vec![value("x", FLOAT, &[Dim::Named("n"), Dim::Is(3), Dim::Named("height"), Dim::Is(-1)])];
    let error = read(&model).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "input \"x\": the shape [n,3,height,-1]: a .nk model has a fixed input, \
         but these dimensions are open: height, ?3; \
         give them, for example --input-shape x=1,3,224,224 or --dim height=224"
    );
    let mut options = Options::default();
    options.add_input_shape("x=2,3,8,9").unwrap();
    let (graph, notes) = load(&model.bytes(13), None, &options).unwrap();
    assert_eq!(graph.value(graph.outputs[0]).shape.as_deref(), Some(&[2, 3, 8, 9][..]));
    assert!(notes.assumptions.is_empty());
    options.add_input_shape("x=2,4,8,9").unwrap();
    let error = load(&model.bytes(13), None, &options).unwrap_err();
    assert_eq!(error.to_string(), "--input-shape: input \"x\" has the fixed shape [n,3,height,-1]");
    let mut options = Options::default();
    options.add_dimension("width=4").unwrap();
    assert_eq!(load(&model.bytes(13), None, &options).unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn broken_graphs_are_named() {
    let mut twice = perceptron();
    twice.nodes.push(node("Relu", &["sum"], &["product"]));
    assert!(text(read(&twice)).contains("two values have the name \"product\""));
    let mut missing = perceptron();
    missing.nodes[2] = node("Relu", &["nowhere"], &["y"]);
    assert!(text(read(&missing)).contains("reads \"nowhere\", which nothing in the graph provides"));
    let mut cycle = perceptron();
    cycle.nodes[0] = node("MatMul", &["y", "w"], &["product"]);
    assert!(text(read(&cycle)).contains("cycle"));
    let mut output = perceptron();
    output.outputs = vec![value("z", FLOAT, &[])];
    assert!(text(read(&output)).contains("nothing in the graph provides the output \"z\""));
    for model in [twice, missing, cycle, output] {
        assert_eq!(read(&model).unwrap_err().kind(), ErrorKind::Unreadable);
    }
}

#[test]
fn wrong_numbers_of_elements_are_named() {
    for (c, what) in [
        (floats("c", &[4], &[1.0; 3]), "has 4 elements of type float32, but 12 bytes of data"),
        (tensor("c", FLOAT, &[4]).float(4, 1.0), "do not fill its shape"),
        (tensor("c", FLOAT, &[1]).float(4, 1.0).float(4, 1.0), "more than the 1 elements"),
        (tensor("c", FLOAT, &[1 << 27]), "do not fill its shape"),
        (tensor("c", FLOAT, &[-1]), "the dimension -1"),
        (tensor("c", 3, &[1]).packed(5, &[200]), "of type int8 has an element 200"),
    ] {
        let error = read(&adds(c)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unreadable);
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn shapes_without_measure_are_refused() {
    for extents in [&[1 << 40][..], &[i64::MAX, i64::MAX], &[0, 1 << 62, 1 << 62]] {
        let error = read(&adds(tensor("c", FLOAT, extents))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("tensors are limited to 134217728 elements"), "{error}");
        let mut model = adds(floats("c", &[1], &[1.0]));
        model.inputs = vec![value("x", FLOAT, &[Dim::Is(1), Dim::Is(1 << 40)])];
        assert!(text(read(&model)).contains("input \"x\": the shape [1, 1099511627776]"));
    }
}

#[test]
fn what_cannot_be_handled_is_listed_completely() {
    let mut model = perceptron();
    model.nodes[2] = node("Relu", &["sum"], &["r"]).message(5, &int_attribute("axis", 2));
    model.nodes.push(node("NonZero", &["r"], &["n"]));
    model.nodes.push(node("FancyOp", &["n"], &["y"]).text(7, "com.example"));
    let error = read(&model).unwrap_err();
    let Error::Unsupported(refusals) = &error else { panic!("{error}") };
    let found: Vec<_> = refusals.iter().map(|refusal| refusal.found.as_str()).collect();
    assert_eq!(found, ["attribute axis=2", "the operation NonZero", "an operation of the domain \"com.example\""]);
}

#[test]
fn containers_functions_and_unknown_versions_are_refused() {
    let bytes = perceptron().bytes(99);
    assert!(text(load(&bytes, None, &Options::default())).contains("operator set 99: versions 6 to 28 are known"));
    let function = Message::default().text(1, "my_function");
    let bytes = Message(perceptron().bytes(13)).message(25, &function).0;
    assert!(text(load(&bytes, None, &Options::default())).contains("a function \"my_function\""));
    let mut model = perceptron();
    let sequence = Message::default().message(4, &Message::default());
    model.inputs = vec![Message::default().text(1, "x").message(2, &sequence)];
    assert!(text(read(&model)).contains("input \"x\": a sequence"));
    let graph = perceptron().graph().message(15, &Message::default());
    let set = Message::default().int(2, 13);
    let bytes = Message::default().message(7, &graph).message(8, &set).0;
    assert!(text(load(&bytes, None, &Options::default())).contains("sparse initializers"));
}

#[test]
fn unknown_fields_and_groups_are_skipped() {
    let group = [0xfb, 0x06, 0x08, 0x01, 0xfc, 0x06];
    let bytes = Message(perceptron().bytes(13)).text(900, "later").float(901, 1.0).raw(&group).0;
    assert!(load(&bytes, None, &Options::default()).is_ok());
    for damage in [&[0xfb, 0x06][..], &[0xfc, 0x06], &[0x00, 0x00], &[0x0e], &[0x0a, 0xff], &[0xff; 11]] {
        let bytes = Message(perceptron().bytes(13)).raw(damage).0;
        let error = load(&bytes, None, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Malformed { .. }), "{error}");
    }
}

#[test]
fn a_short_file_cannot_ask_for_much_memory() {
    let fill = Message::default().text(1, "value").message(5, &floats("", &[1], &[1.0])).int(20, 4);
    for extents in [&[1 << 40][..], &[1 << 20, 1 << 20], &[1 << 23]] {
        let model = Model {
            nodes: vec![
                node("ConstantOfShape", &["extents"], &["c"]).message(5, &fill),
                node("Mul", &["x", "c"], &["y"]),
            ],
            initializers: vec![int64s("extents", extents)],
            inputs: vec![value("x", FLOAT, &[Dim::Is(1)])],
            outputs: vec![value("y", FLOAT, &[])],
        };
        assert_eq!(read(&model).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("inner")).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn external(location: &str, offset: &str, length: &str) -> Message {
    let entry = |key: &str, value: &str| Message::default().text(1, key).text(2, value);
    let c = tensor("c", FLOAT, &[4]).message(13, &entry("location", location));
    let c = if offset.is_empty() { c } else { c.message(13, &entry("offset", offset)) };
    let c = if length.is_empty() { c } else { c.message(13, &entry("length", length)) };
    c.int(14, 1)
}

#[test]
fn weights_may_lie_in_files_beside_the_model() {
    let folder = Folder::new("external");
    let weights: Vec<u8> = (0..8).flat_map(|x| (x as f32).to_le_bytes()).collect();
    fs::write(folder.0.join("inner/weights.bin"), weights).unwrap();
    for (offset, length) in [("16", "16"), ("16", "")] {
        let model = adds(external("inner/weights.bin", offset, length));
        let (graph, _) = load(&model.bytes(13), Some(&folder.0), &Options::default()).unwrap();
        let y = run(&graph, &[input(&graph, 0, &[0.0; 4])]).unwrap();
        assert_eq!(values(&y[0]), [4.0, 5.0, 6.0, 7.0]);
    }
}

#[test]
fn external_data_outside_the_folder_or_the_file_is_refused() {
    let folder = Folder::new("outside");
    fs::write(folder.0.join("weights.bin"), [0; 32]).unwrap();
    fs::write(folder.0.join("inner/other.bin"), [0; 32]).unwrap();
    let absolute = folder.0.join("weights.bin");
    for (location, offset, length, what) in [
        ("../weights.bin", "", "16", "is not a path below the folder"),
        ("inner/../../x.bin", "", "16", "is not a path below the folder"),
        (absolute.to_str().unwrap(), "", "16", "is not a path below the folder"),
        ("", "", "16", "is not a path below the folder"),
        ("missing.bin", "", "16", "cannot be opened"),
        ("inner", "", "16", "is not a file"),
        ("other.bin", "24", "16", "bytes 24+16"),
        ("other.bin", "99", "", "which has 32 bytes"),
        ("other.bin", "0", "18446744073709551615", "which has 32 bytes"),
        ("other.bin", "0", "8", "the shape needs 16 bytes"),
        ("other.bin", "x", "8", "is not a number of bytes"),
    ] {
        let model = adds(external(location, offset, length));
        let base = if location == "inner" { folder.0.clone() } else { folder.0.join("inner") };
        let error = load(&model.bytes(13), Some(&base), &Options::default()).unwrap_err();
        assert!(error.to_string().contains(what), "{location}: {error}");
        assert_eq!(error.kind(), ErrorKind::Unreadable);
    }
    let model = adds(external("other.bin", "", ""));
    assert!(load(&model.bytes(13), None, &Options::default()).is_err());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_not_followed() {
    let folder = Folder::new("link");
    fs::write(folder.0.join("secret.bin"), [0; 16]).unwrap();
    std::os::unix::fs::symlink("../secret.bin", folder.0.join("inner/weights.bin")).unwrap();
    let model = adds(external("weights.bin", "", ""));
    let error = load(&model.bytes(13), Some(&folder.0.join("inner")), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("leads out of the folder"), "{error}");
}
