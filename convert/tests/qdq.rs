//! Models that onnxruntime's quantiser wrote (`qdq/generate.py`) become int8 models that answer like onnxruntime.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{files_with_extension, read_npy};
use netkit::{MemoryPlan, Model, Network};
use netkit_convert::lower::{self, Lowered};
use netkit_convert::onnx::Options;
use netkit_convert::proof::{Proof, ProofOptions, prove};
use netkit_convert::refusal::Refusal;
use netkit_convert::source::Source;

fn models() -> Vec<PathBuf> {
    files_with_extension(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/qdq"), "onnx")
}

fn is_refused(path: &Path) -> bool {
    path.file_stem().unwrap().to_str().unwrap().starts_with("refused_")
}

/// The int8 network and its file, with the proof that they compute the same as the source.
fn convert(path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Result<(Lowered, Vec<u8>, Proof), Vec<Refusal>> {
    let file = fs::read(path).unwrap();
    let source = match Source::read(&file, path, &Options::default()) {
        Ok(source) => source,
        Err(netkit_convert::error::Error::Unsupported(refusals)) => return Err(refusals),
        Err(error) => panic!("{path:?}: {error}"),
    };
    assert!(matches!(source, Source::Quantized(_)));
    let conversion = source.lower(lower::Options::default(), true)?;
    let mut int8 = conversion.lowered.network.write(None).expect("the file can be written");
    change(&mut int8);
    let options = ProofOptions { tolerance: source.tolerance(), ..ProofOptions::default() };
    let proof = prove(source.reference(), &int8, conversion.placement(), &options).expect("both run");
    Ok((conversion.lowered, int8, proof))
}

#[test]
fn int8_models_answer_like_onnxruntime() {
    let (mut count, mut differing, mut outputs) = (0, 0, 0);
    for path in models().iter().filter(|path| !is_refused(path)) {
        let (lowered, int8, proof) = convert(path, |_| ()).unwrap_or_else(|refusals| panic!("{path:?}: {refusals:?}"));
        assert!(proof.passes() && proof.slack > 0.0, "{path:?}: {}", proof.worst().unwrap());
        assert!(lowered.network.is_quantized());
        let steps = steps_from_onnxruntime(path, &lowered, &int8);
        assert!(steps.iter().all(|steps| *steps <= proof.slack), "{path:?}: {steps:?}");
        differing += steps.iter().filter(|steps| **steps > 0.5).count();
        outputs += steps.len();
        count += 1;
    }
    assert_eq!(count, 14);
    assert!(differing * 5 < outputs, "{differing} of {outputs} outputs are not those of onnxruntime");
}

/// How many steps each output is from the one of onnxruntime.
fn steps_from_onnxruntime(path: &Path, lowered: &Lowered, int8: &[u8]) -> Vec<f64> {
    let (shape, x) = read_npy(&path.with_extension("x.npy"));
    let (_, y) = read_npy(&path.with_extension("y.npy"));
    let model = Model::parse(int8).expect("a model");
    let plan = MemoryPlan::of(&model).expect("a plan");
    let (input_params, output_params) = (plan.input_quant.unwrap(), plan.output_quant.unwrap());
    let mut arena = vec![0; plan.arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("loads");
    let mut output = vec![0; plan.output.elements().unwrap() as usize];
    let mut steps = Vec::new();
    for (x, y) in x.chunks(x.len() / shape[0]).zip(y.chunks(y.len() / shape[0])) {
        let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let codes = lowered.network.input.to_memory(&x).into_iter().map(|value| input_params.quantize(value));
        network.run_int8(&codes.collect::<Vec<i8>>(), &mut output).expect("runs");
        let found: Vec<f32> = output.iter().map(|&code| output_params.dequantize(code)).collect();
        let found = lowered.network.output.from_memory(&found);
        steps.extend(
            found.iter().zip(y).map(|(&found, y)| (f64::from(found) - y).abs() / f64::from(output_params.scale)),
        );
    }
    steps
}

#[test]
fn a_proof_sees_another_scale() {
    let path = models().into_iter().find(|path| !is_refused(path)).unwrap();
    let (.., proof) = convert(&path, |int8| {
        // The input scale of the first descriptor, 8 bytes into the section.
        let at = Model::parse(int8).unwrap().quant().unwrap().offset() + 8;
        let scale = f32::from_le_bytes(int8[at..at + 4].try_into().unwrap());
        int8[at..at + 4].copy_from_slice(&(1.2 * scale).to_le_bytes());
    })
    .expect("converts");
    assert!(!proof.passes());
}

#[test]
fn what_has_no_form_with_the_scales_of_the_file_is_named() {
    let mut found = Vec::new();
    for path in models().iter().filter(|path| is_refused(path)) {
        let refusals = convert(path, |_| ()).expect_err("refused");
        found.extend(refusals.iter().map(ToString::to_string));
    }
    let tells = |op: &str, reason| found.iter().any(|text: &String| text.starts_with(op) && text.contains(reason));
    assert!(tells("Add ", "a sum of two branches"), "{found:?}");
    assert!(tells("Add ", "adds in the scale of its last convolution"), "{found:?}");
    assert!(found.iter().any(|text| text.contains("QuantizeLinear") && text.contains("int16")), "{found:?}");
}
