//! Large models of timm: they fit the limits of the format only with their blocks recognised.

mod common;
mod running;

use std::fs;

use common::{read_npy, relative_difference, shared};
use netkit_convert::lower::{self, lower};
use netkit_convert::onnx::{Options, load};

fn check(name: &str, layers: usize, pairs: usize, approximations: usize) {
    let Some(folder) = shared("large") else { return };
    let path = folder.join(name).with_extension("onnx");
    let (graph, _) = load(&fs::read(&path).unwrap(), Some(&folder), &Options::default()).unwrap();
    let lowered = lower(&graph, lower::Options::default()).unwrap_or_else(|refusals| panic!("{refusals:#?}"));
    let ((_, x), (_, y)) = (read_npy(&path.with_extension("in.npy")), read_npy(&path.with_extension("out.npy")));
    let found = running::run(&lowered.network, &x);
    let difference = relative_difference(&found, &y);
    println!(
        "{name}: {} layers, {} pairs, difference {difference:?}",
        lowered.network.layers.len(),
        lowered.network.tensor_pairs()
    );
    assert!(difference.is_some_and(|difference| difference <= 1e-4), "{name}: {difference:?}");
    assert_eq!((lowered.network.layers.len(), lowered.network.tensor_pairs()), (layers, pairs), "{name}");
    assert_eq!(lowered.approximations.len(), approximations, "{name}");
}

#[test]
fn resnet18() {
    check("resnet18_224", 13, 40, 0);
}

#[test]
fn mobilenetv4_conv_small() {
    check("mobilenetv4_conv_small_224", 28, 78, 0);
}

#[test]
fn convnextv2_atto() {
    check("convnextv2_atto_224", 24, 70, 1);
}
