//! All float models of the repository: each has an int8 form that is close to it, or is refused for a reason.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{Random, USUAL, quantize};
use netkit::{MemoryPlan, Model};
use netkit_quantize::Error;

/// The largest relative root mean square error of an output: some of the models chain many small layers, and the digit
/// classifiers see noise here.
const MOST_ERROR: f64 = 0.1;
/// Layers that int8 has no form of.
const WITHOUT_FORM: [u8; 5] = [8, 11, 12, 13, 14];

fn float_models() -> BTreeMap<String, Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let paths = std::fs::read_dir(folder).expect("models").map(|entry| entry.expect("an entry").path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "nk");
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).expect("a model");
        let is_float = !Model::parse(&bytes).expect("a model").is_quantized();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        is_float.then_some((name, bytes))
    };
    paths.filter(is_model).filter_map(read).collect()
}

#[test]
fn every_model_is_close_or_refused() {
    let mut made = 0;
    for (name, bytes) in float_models() {
        let model = Model::parse(&bytes).expect("a model");
        let plan = MemoryPlan::of(&model).expect("a plan");
        let elements = plan.input.elements().expect("elements") as usize;
        let mut random = Random::new(name.len() as u64);
        let mut draw = |count| (0..count).map(|_| random.normals(elements, 1.0)).collect::<Vec<_>>();
        let (samples, others) = (draw(32), draw(16));
        let lacks_form = model.layers().any(|record| WITHOUT_FORM.contains(&record.layer.kind()));
        match quantize(&bytes, &samples, &others, USUAL) {
            Ok(result) => {
                assert!(!lacks_form, "{name}");
                let error = result.last().relative_error();
                assert!(error < MOST_ERROR, "{name}: {:.2} %", 100.0 * error);
                made += 1;
            }
            Err(Error::Unsupported(refusals)) => {
                let other_reason = ["softmax", "padding", "no layer has weights"];
                let is_other =
                    refusals.iter().all(|refusal| other_reason.iter().any(|text| refusal.reason.contains(text)));
                assert!(lacks_form || is_other, "{name}: {refusals:?}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(made > 30, "{made}");
}
