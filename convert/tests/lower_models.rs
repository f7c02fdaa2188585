//! The small models beside this file (`models/generate.py`) through lowering and the library.

mod common;
mod running;

use std::fs;
use std::path::Path;

use common::{files_with_extension, read_npy};
use netkit_convert::lower::{self, Lowered, lower};
use netkit_convert::onnx::{Options, load};

#[test]
fn every_model_is_computed_as_onnxruntime_does_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let models = files_with_extension(&folder, "onnx");
    assert!(models.len() > 100);
    let failures: Vec<String> = models.iter().filter_map(|path| check(path).err()).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), models.len(), failures.join("\n"));
}

fn check(path: &Path) -> Result<(), String> {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let (is_refused, is_residual) = (name.starts_with("refused_"), name.starts_with("residual_"));
    let (graph, _) = match load(&fs::read(path).unwrap(), path.parent(), &Options::default()) {
        Ok(loaded) => loaded,
        Err(_) if is_refused => return Ok(()),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    let plain = lower(&graph, lower::Options::default());
    let lowered = match (plain, is_residual) {
        (Ok(_), true) => return Err(format!("{name}: lowered without more channels")),
        (_, true) => lower(&graph, lower::Options { lower_residual: true, ..lower::Options::default() }),
        (plain, false) => plain,
    };
    match (lowered, is_refused) {
        (Err(refusals), true) => {
            refusals.iter().for_each(|refusal| println!("{name}: {refusal}"));
            Ok(())
        }
        (Ok(lowered), true) => Err(format!("{name}: not refused: {:?}", lowered.network.layers)),
        (Err(refusals), false) => Err(refusals.iter().map(|refusal| format!("{name}: {refusal}\n")).collect()),
        (Ok(lowered), false) => compare(path, name, &lowered),
    }
}

fn compare(path: &Path, name: &str, lowered: &Lowered) -> Result<(), String> {
    let (_, x) = read_npy(&path.with_extension("x.npy"));
    let (shape, y) = read_npy(&path.with_extension("y.npy"));
    assert_eq!(lowered.network.output.shape, shape, "{name}");
    assert_eq!(lowered.approximations.is_empty(), !name.starts_with("approximate_"), "{name}");
    let found = running::run(&lowered.network, &x);
    let kinds: Vec<u8> = lowered.network.layers.iter().map(|layer| layer.record.kind()).collect();
    println!("{name}: kinds {kinds:?}");
    if running::is_close(&found, &y) { Ok(()) } else { Err(format!("{name}:\n{found:?}\n{y:?}\nkinds {kinds:?}")) }
}
