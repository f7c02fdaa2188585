//! `netkit inspect --svg` and `--memory-svg`.

mod common;

use std::path::Path;

use common::{json, models, netkit, temporary};
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

/// The drawing that an option makes of a model.
fn drawing(option: &str, model: &Path) -> String {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("drawing.svg");
    netkit("inspect").arg(model).arg(option).arg(&path).assert().success();
    let names: Vec<_> = folder.path().read_dir().expect("folder").collect();
    assert_eq!(names.len(), 1, "nothing but the drawing is left: {names:?}");
    std::fs::read_to_string(path).expect("UTF-8")
}

fn network(name: &str) -> String {
    drawing("--svg", &common::root().join("models").join(name))
}

fn memory(name: &str) -> String {
    drawing("--memory-svg", &common::root().join("models").join(name))
}

/// The values of an attribute of all elements that begin with `tag`.
fn attribute<'a>(svg: &'a str, tag: &'a str, name: &'a str) -> impl Iterator<Item = f64> + 'a {
    svg.lines().filter(move |line| line.starts_with(tag)).filter_map(move |line| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse().ok()
    })
}

#[test]
fn boxes_say_operation_shape_activation_and_costs() {
    let svg = network("digits_cnn.nk");
    for text in [
        ">digits_cnn<",
        "2,220 parameters",
        "50.0 k MACs",
        "Input  16 × 16 × 1",
        ">Conv 3 × 3, 6<",
        ">ReLU<",
        ">60 parameters  ·  13.8 k MACs<",
        ">16 × 16 × 6<",
        ">Max pool 2 × 2<",
        ">Flatten<",
        ">Dense 10<",
        ">softmax<",
        "Output  1 × 10",
        ">convolution<",
        ">pooling<",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(!svg.contains("fused block") && !svg.contains("never stored"), "the legend explains only what occurs");
}

#[test]
fn fused_blocks_list_their_convolutions() {
    let uib = network("kind_09_mobilenetv4_uib.nk");
    for text in ["expand 1 × 1", "depthwise", "project 1 × 1", ">fused block<", ">input added to the result<"] {
        assert!(uib.contains(text), "{text}: {uib}");
    }
    let resnet = network("resnet_projection_stride2.nk");
    assert!(resnet.contains(">3 × 3, ") && resnet.contains(">shortcut 1 × 1, ") && resnet.contains(", stride 2<"));
    let convnext = network("kind_08_convnextv2_block.nk");
    assert!(convnext.contains(">depthwise 7 × 7<") && convnext.contains(">GELU<") && convnext.contains("GRN"));
    let pyramid = network("kind_14_yolox_pafpn_multiscale.nk");
    assert!(pyramid.contains("→ C3") && pyramid.contains("reads C3 (3), C4 (4), C5 (5)"), "{pyramid}");
}

#[test]
fn a_pool_that_a_convolution_takes_over_is_drawn_dashed() {
    let svg = network("digits_cnn_int8.nk");
    assert!(svg.contains("stroke-dasharray") && svg.contains(">computed with the next layer, never stored<"));
    let layers = json("inspect models/digits_cnn_int8.nk --json")["layers"].clone();
    let merges: Vec<_> = layers.as_array().expect("layers").iter().map(|layer| layer["merges_next"] == true).collect();
    assert_eq!(merges, [true, false, true, false, false, false]);
}

#[test]
fn every_model_is_drawn_inside_its_page() {
    for path in models() {
        for option in ["--svg", "--memory-svg"] {
            let svg = drawing(option, &path);
            let name = path.display();
            assert!(svg.starts_with("<?xml") && svg.ends_with("</svg>\n"), "{name}");
            assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{name}");
            let (width, height) = (attribute(&svg, "<svg", "width").next(), attribute(&svg, "<svg", "height").next());
            let (width, height) = (width.expect("a width"), height.expect("a height"));
            assert!(attribute(&svg, "<rect x", "x").count() > 0, "{name}");
            for (left, wide) in attribute(&svg, "<rect x", "x").zip(attribute(&svg, "<rect x", "width")) {
                assert!(left >= 0.0 && wide > 0.0 && left + wide <= width, "{name} {option}: {left} + {wide}");
            }
            for (top, high) in attribute(&svg, "<rect x", "y").zip(attribute(&svg, "<rect x", "height")) {
                assert!(top >= 0.0 && high > 0.0 && top + high <= height, "{name} {option}: {top} + {high}");
            }
        }
    }
}

#[test]
fn the_memory_plan_shows_tensors_scratch_and_the_peak() {
    let svg = memory("digits_cnn.nk");
    for text in [
        ">digits_cnn: memory plan<",
        ">0 conv · 6.00 KiB<",
        ">1 max pool · 1.50 KiB<",
        "<title>layer 2 scratch: ",
        ">peak: 7.50 KiB at step 1, layer 1<",
        ">address in KiB<",
        ">scratch of one step<",
        ">softmax<",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    // Of the model with the caller's buffers only, nothing lies in the arena.
    assert!(memory("mlp_one_value.nk").contains("0 B alive at most"));
}

#[test]
fn names_that_are_markup_stay_text() {
    let (_folder, path) = temporary("a&b<c>.nk", &common::model("test_mlp.nk"));
    for option in ["--svg", "--memory-svg"] {
        assert!(drawing(option, Path::new(&path)).contains("a&amp;b&lt;c&gt;"));
    }
}

#[test]
fn a_drawing_that_cannot_be_written_or_made_is_an_error() {
    netkit("inspect models/test_mlp.nk --svg no/such/folder/x.svg")
        .assert()
        .code(3)
        .stderr(contains("no/such/folder/x.svg: cannot write the drawing"));
    netkit("inspect models/test_mlp.nk --svg").assert().code(2).stderr(contains("--svg"));
    netkit("inspect models/test_mlp.nk --svg x.svg --check").assert().code(2).stderr(contains("cannot be used with"));
    // A model without a plan still has a network; its memory cannot be drawn.
    let mut bytes = common::model("test_mlp.nk");
    bytes[52] = 3;
    let (folder, path) = temporary("units.nk", &bytes);
    let (svg, plan) = (folder.path().join("network.svg"), folder.path().join("memory.svg"));
    netkit("inspect").arg(&path).arg("--svg").arg(&svg).assert().code(3);
    assert!(std::fs::read_to_string(svg).expect("drawn").contains(">Dense 3<"));
    let assert = netkit("inspect").arg(&path).arg("--memory-svg").arg(&plan).assert().code(3);
    assert.stderr(contains("elements of the weight tensor is 4").and(contains("units.nk")));
    assert!(!plan.exists());
}

#[test]
fn a_drawing_replaces_an_older_one() {
    let (_folder, path) = temporary("old.svg", b"old");
    netkit(&format!("inspect models/test_mlp.nk --svg {path}")).assert().success();
    assert!(std::fs::read_to_string(path).expect("UTF-8").contains("Dense 2"));
}
