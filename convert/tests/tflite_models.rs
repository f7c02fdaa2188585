//! The small models in `tflite/` (`tflite/generate.py`) through reader, interpreter, lowering and the library, against the answers
//! of TensorFlow Lite Micro.

mod common;
mod running;

use std::fs;
use std::path::{Path, PathBuf};

use common::{files_with_extension, read_npy, relative_difference, shared};
use netkit_convert::lower::Options;
use netkit_convert::proof::{self, Placement, ProofOptions};
use netkit_convert::tflite::Source;
use netkit_convert::tflite::interpret::{self, Data};
use netkit_convert::tflite::model::Params;

/// Largest difference of float outputs, relative to the largest.
const FLOAT_TOLERANCE: f64 = 1e-5;

fn models() -> Vec<PathBuf> {
    files_with_extension(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tflite"), "tflite")
}

fn is_refused(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("refused_"))
}

#[test]
fn every_model_is_computed_as_tensorflow_lite_micro_does() {
    let models: Vec<PathBuf> = models().into_iter().filter(|path| !is_refused(path)).collect();
    assert!(models.len() > 40);
    let failures: Vec<String> = models.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), models.len(), failures.join("\n"));
}

fn check(path: &Path) -> Result<(), String> {
    let name = path.file_stem().unwrap().to_string_lossy();
    let file = fs::read(path).unwrap();
    let source = Source::read(&file).map_err(|error| format!("{name}: {error}"))?;
    let lowered = source.lower(Options::default());
    let lowered =
        lowered.map_err(|all| all.iter().map(|refusal| format!("{name}: {refusal}\n")).collect::<String>())?;
    let ((_, x), (_, y)) = (read_npy(&path.with_extension("x.npy")), read_npy(&path.with_extension("y.npy")));
    let outputs = y.len() / (x.len() / source.input_elements());
    for (x, y) in x.chunks(source.input_elements()).zip(y.chunks(outputs)) {
        let interpreted = interpreted(&source, x);
        same(&source, &interpreted, y).map_err(|found| format!("{name}, interpreted: {found}"))?;
        let codes = source.input_params().filter(|_| !takes_codes(&source));
        let fed: Vec<f64> = x.iter().map(|&x| codes.map_or(x, |params| code(x, params))).collect();
        let given = running::run(&lowered.network, &fed);
        let reals = source.output_params().filter(|_| !gives_codes(&source));
        let given: Vec<f64> = given.iter().map(|&y| reals.map_or(y, |params| real(y, params))).collect();
        same(&source, &given, y).map_err(|found| format!("{name}, converted: {found}"))?;
    }
    Ok(())
}

/// Whether the model itself takes codes, and not the part of it that is converted.
fn takes_codes(source: &Source<'_>) -> bool {
    source.model.tensors[source.model.input].params().is_some()
}

fn gives_codes(source: &Source<'_>) -> bool {
    source.model.tensors[source.model.output].params().is_some()
}

fn code(x: f64, params: Params) -> f64 {
    ((x as f32 / params.scale).round() as i32 + params.zero_point).clamp(-128, 127).into()
}

fn real(code: f64, params: Params) -> f64 {
    f64::from(params.scale) * (code - f64::from(params.zero_point))
}

/// The whole model under the interpreter.
fn interpreted(source: &Source<'_>, x: &[f64]) -> Vec<f64> {
    let input = match takes_codes(source) {
        true => Data::Int8(x.iter().map(|&code| code as i8).collect()),
        false => Data::Real(x.to_vec()),
    };
    match interpret::run(&source.model, source.model.input, input, source.model.output).expect("it can be executed") {
        Data::Int8(codes) => codes.into_iter().map(f64::from).collect(),
        Data::Real(reals) => reals,
    }
}

fn same(source: &Source<'_>, found: &[f64], expected: &[f64]) -> Result<(), String> {
    let tolerance = if source.is_int8() { 1e-7 } else { FLOAT_TOLERANCE };
    let difference = relative_difference(found, expected);
    match difference.is_some_and(|difference| difference <= tolerance) {
        true => Ok(()),
        false => Err(format!("{difference:?}\n  {found:?}\n  {expected:?}")),
    }
}

#[test]
fn what_has_no_form_is_refused_with_every_operator_named() {
    let expected = [
        ("refused_strides_that_differ", vec!["CONV_2D \"0: x -> conv_2d0\": strides 2 and 1: "]),
        (
            "refused_nothing_but_a_shape",
            vec!["model \"reshape0\": layer 0 needs weights that the model does not have: "],
        ),
        ("refused_sum_of_branches", vec!["ADD \"1: x -> add1\": "]),
        (
            "refused_two_operators",
            vec!["HARD_SWISH \"1: conv_2d0 -> hard_swish1\": ", "TRANSPOSE \"2: hard_swish1 -> transpose2\": "],
        ),
        (
            "refused_map_of_another_shape",
            vec!["CONV_2D \"2: reshape1 -> conv_2d2\": a map of shape [1, 4, 6, 4] made of "],
        ),
        (
            "refused_dense_of_each_pixel_around_another_zero",
            vec!["FULLY_CONNECTED \"0: x -> fully_connected0\": weights around 27 over a map: "],
        ),
        ("refused_mean_of_both_signs", vec!["MEAN \"0: x -> mean0\": a mean of 21 elements "]),
        ("refused_relu6_in_another_scale", vec!["RELU6 \"0: x -> relu60\": "]),
        ("refused_mean_of_channels", vec!["MEAN \"0: x -> mean0\": "]),
        ("refused_leaky_relu_with_another_scale", vec!["LEAKY_RELU \"1: fully_connected0 -> leaky_relu1\": "]),
        ("refused_codes_in_the_middle", vec!["QUANTIZE \"1: conv_2d0 -> quantize1\": "]),
        ("refused_bottleneck_adding_in_another_scale", vec!["CONV_2D \"0: x -> conv_2d0\": a sum whose scale "]),
    ];
    assert_eq!(models().iter().filter(|path| is_refused(path)).count(), expected.len());
    for (name, beginnings) in expected {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/tflite/{name}.tflite"));
        let file = fs::read(path).unwrap();
        let refusals = Source::read(&file).unwrap().lower(Options::default()).expect_err(name);
        let found: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        let all_named = found.len() == beginnings.len()
            && found.iter().zip(&beginnings).all(|(found, beginning)| found.starts_with(beginning));
        assert!(all_named, "{name}: {found:#?}, expected {beginnings:#?}");
    }
}

#[test]
fn models_of_mlperf_tiny_are_converted_exactly() {
    let Some(folder) = shared("mlperf-tiny") else { return };
    let models = files_with_extension(&folder, "tflite");
    assert!(models.len() >= 9);
    for path in models {
        let file = fs::read(&path).unwrap();
        let source = Source::read(&file).unwrap();
        let lowered = source.lower(Options::default()).unwrap_or_else(|all| panic!("{}: {all:?}", path.display()));
        let bytes = lowered.network.write(None).unwrap();
        let tolerance = if source.is_int8() { 0.0 } else { FLOAT_TOLERANCE };
        let proof = proof::prove(&source, &bytes, Placement::default(), &ProofOptions { seed: 3, tolerance }).unwrap();
        assert!(proof.passes(), "{}: {:?}", path.display(), proof.worst());
    }
}
