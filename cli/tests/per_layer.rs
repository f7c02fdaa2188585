//! `netkit test --per-layer`.

mod common;

use std::path::Path;

use common::{model, netkit, npy, stdout, temporary};
use netkit::plan::LayerFacts;
use netkit::{Error, MemoryPlan, Model, Network, Watcher};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::{contains, ends_with, starts_with};

/// Shape and bytes of the output of each layer, as the library gives them.
#[derive(Default)]
struct Outputs(Vec<(Vec<u64>, Vec<u8>)>);

impl Watcher for Outputs {
    fn before(&mut self, _layer: &LayerFacts) -> Result<(), Error> {
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), Error> {
        let (dims, rank) = layer.result_shape.dims();
        let shape = dims.iter().take(rank as usize).map(|&dim| u64::from(dim)).collect();
        self.0.push((shape, output.to_vec()));
        Ok(())
    }
}

/// Shape and values of each layer.
type Golden = Vec<(Vec<u64>, Vec<f32>)>;

/// The outputs of a float model of `input`.
fn float_outputs(name: &str, input: &[f32]) -> Golden {
    let bytes = model(name);
    let model = Model::parse(&bytes).expect("valid");
    let plan = MemoryPlan::of(&model).expect("plan");
    let mut region = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut region).expect("load");
    let mut output = vec![0.0; plan.output.elements().expect("few") as usize];
    let mut outputs = Outputs::default();
    network.run_layers(&mut outputs, input, &mut output).expect("run");
    let floats = |bytes: Vec<u8>| bytes.as_chunks().0.iter().map(|&bytes| f32::from_ne_bytes(bytes)).collect();
    outputs.0.into_iter().map(|(shape, bytes)| (shape, floats(bytes))).collect()
}

fn save(folder: &Path, name: &str, shape: &[u64], values: &[f32]) {
    std::fs::write(folder.join(name), npy::<f32>(shape, npyz::Order::C, values)).expect("written");
}

/// Golden tensors of `test_mlp.nk`, whose first case has the input 1, 2.
fn mlp_golden() -> (tempfile::TempDir, Golden) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let outputs = float_outputs("test_mlp.nk", &[1.0, 2.0]);
    for (index, (shape, values)) in outputs.iter().enumerate() {
        save(folder.path(), &format!("layer_{index}.npy"), shape, values);
    }
    (folder, outputs)
}

#[test]
fn layers_that_agree_are_listed() {
    let (folder, _) = mlp_golden();
    let printed = stdout(&format!("test models/test_mlp.nk --per-layer {}", folder.path().display()));
    let expected = "\
Layers against golden tensors, tolerance 1e-05:
       kind   output  max difference
  [0]  dense  [1, 2]               0  ok
  [1]  dense  [1, 2]               0  ok

All of 2 compared layers agree
";
    assert_eq!(printed, expected);
}

#[test]
fn the_first_layer_that_deviates_is_named() {
    let (folder, outputs) = mlp_golden();
    let place = folder.path().display();
    let mut values = outputs[1].1.clone();
    values[1] += 0.5;
    save(folder.path(), "layer_1.npy", &outputs[1].0, &values);
    netkit(&format!("test models/test_mlp.nk --per-layer {place}")).assert().code(1).stdout(
        contains("[1]  dense  [1, 2]             0.5  deviates")
            .and(ends_with("Layer 1 (dense) is the first that deviates: by 0.5 at element 1\n")),
    );
    netkit(&format!("test models/test_mlp.nk --per-layer {place} --tolerance 0.5")).assert().success();
    // Another input gives other outputs.
    netkit(&format!("test models/test_mlp.nk --per-layer {place} --input -1,2"))
        .assert()
        .code(1)
        .stdout(contains("Layer 0"));
    let scaled = format!("test models/test_mlp.nk --per-layer {place} --tolerance 0.5 --input 10,20 --scale 0.1");
    netkit(&scaled).assert().success();
}

#[test]
fn names_with_a_number_in_front_and_missing_layers_are_fine() {
    let (folder, outputs) = mlp_golden();
    std::fs::remove_file(folder.path().join("layer_0.npy")).expect("removed");
    std::fs::remove_file(folder.path().join("layer_1.npy")).expect("removed");
    save(folder.path(), "01_output.npy", &[2], &outputs[1].1);
    std::fs::write(folder.path().join("notes.txt"), b"not a tensor").expect("written");
    let printed = stdout(&format!("test models/test_mlp.nk --per-layer {}", folder.path().display()));
    assert!(
        printed.contains("-  no golden tensor") && printed.ends_with("All of 1 compared layers agree\n"),
        "{printed}"
    );
    save(folder.path(), "layer_1.npy", &[2], &outputs[1].1);
    netkit(&format!("test models/test_mlp.nk --per-layer {}", folder.path().display()))
        .assert()
        .code(3)
        .stderr(contains("two tensors of layer 1"));
}

#[test]
fn maps_may_have_the_channels_first_when_that_is_said() {
    let input: Vec<f32> = (0..8).map(|value| value as f32).collect();
    let outputs = float_outputs("test_cnn.nk", &input);
    let (shape, values) = &outputs[0];
    let &[height, width, channels] = &shape[..] else { panic!("a map: {shape:?}") };
    let folder = tempfile::tempdir().expect("temporary folder");
    let pixels = (height * width) as usize;
    let first: Vec<f32> =
        (0..values.len()).map(|index| values[index % pixels * channels as usize + index / pixels]).collect();
    save(folder.path(), "layer_0.npy", &[1, channels, height, width], &first);
    // The input is in the order of channels first too.
    let turned: Vec<String> = (0..8).map(|index| input[index % 4 * 2 + index / 4].to_string()).collect();
    let command = format!("test models/test_cnn.nk --per-layer {} -i {}", folder.path().display(), turned.join(","));
    netkit(&format!("{command} --layout nchw")).assert().success().stdout(contains("[0]"));
}

#[test]
fn int8_layers_are_compared_as_codes_or_as_real_numbers() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let bytes = model("digits_cnn_int8.nk");
    let model = Model::parse(&bytes).expect("valid");
    let plan = MemoryPlan::of(&model).expect("plan");
    let mut region = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut region).expect("load");
    let cases = netkit::format::Cases::read(&model).expect("cases");
    let case = cases.iter().next().expect("a case");
    let input: Vec<i8> = case.input.bytes().iter().map(|&byte| byte as i8).collect();
    let mut outputs = Outputs::default();
    network.run_layers_int8(&mut outputs, &input, &mut [0; 10]).expect("run");
    for (index, (shape, bytes)) in outputs.0.iter().enumerate() {
        let codes: Vec<i8> = bytes.iter().map(|&byte| byte as i8).collect();
        let file = npy::<i8>(shape, npyz::Order::C, &codes);
        std::fs::write(folder.path().join(format!("layer_{index}.npy")), file).expect("written");
    }
    let command = format!("test models/digits_cnn_int8.nk --per-layer {}", folder.path().display());
    let printed = stdout(&command);
    assert_eq!(printed.matches("-  computed with the next layer; compare that one").count(), 2, "{printed}");
    assert!(printed.ends_with("All of 4 compared layers agree\n"), "{printed}");

    // The last layer is a softmax, whose steps are 1/256: dequantized it agrees within one of them, and not within five.
    let probability = |byte: &u8| f32::from((*byte as i8) as i16 + 128) / 256.0;
    let mut reals: Vec<f32> = outputs.0[5].1.iter().map(probability).collect();
    reals[0] += 1.0 / 256.0;
    save(folder.path(), "layer_5.npy", &[1, 10], &reals);
    netkit(&command).arg("--tolerance=0.0001").assert().success();
    reals[0] += 4.0 / 256.0;
    save(folder.path(), "layer_5.npy", &[1, 10], &reals);
    netkit(&command).arg("--tolerance=0.0001").assert().code(1).stdout(contains("Layer 5 (dense) is the first"));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (folder, _) = mlp_golden();
    let place = folder.path().display();
    save(folder.path(), "layer_0.npy", &[1, 3], &[0.0; 3]);
    netkit(&format!("test models/test_mlp.nk --per-layer {place}"))
        .assert()
        .code(3)
        .stdout("")
        .stderr(contains("layer_0.npy: shape [1, 3], but layer 0 gives [1, 2]"));
    std::fs::write(folder.path().join("layer_0.npy"), b"text").expect("written");
    let assert = netkit(&format!("test models/test_mlp.nk --per-layer {place}")).assert().code(3);
    assert.stderr(contains("layer_0.npy: cannot read the golden tensor: not an .npy file"));
    let empty = tempfile::tempdir().expect("temporary folder");
    netkit(&format!("test models/test_mlp.nk --per-layer {}", empty.path().display()))
        .assert()
        .code(3)
        .stderr(contains("no golden tensors"));
    netkit("test models/test_mlp.nk --per-layer no/such").assert().code(3).stderr(contains("cannot read the folder"));
    let mut bytes = model("test_mlp.nk");
    bytes[10] = 0;
    bytes.truncate(224);
    let (_folder, path) = temporary("untested.nk", &bytes);
    let (golden, _) = mlp_golden();
    netkit(&format!("test {path} --per-layer {}", golden.path().display()))
        .assert()
        .code(3)
        .stderr(starts_with(format!("netkit: {path}: ")).and(contains("give an input with --input")));
    netkit(&format!("test {path} --per-layer {} -i 1,2", golden.path().display())).assert().success();
}

#[test]
fn wrong_usage_is_refused() {
    for arguments in [
        "models/test_mlp.nk models/test_cnn.nk --per-layer models",
        "models/test_mlp.nk --per-layer models --json",
        "models/test_mlp.nk --input 1,2",
        "models/test_mlp.nk --tolerance 1",
        "models/test_mlp.nk --scale 2",
        "models/test_mlp.nk --layout nchw",
        "models/test_mlp.nk --per-layer models --scale 2",
    ] {
        netkit(&format!("test {arguments}")).assert().code(2).stdout("");
    }
}
