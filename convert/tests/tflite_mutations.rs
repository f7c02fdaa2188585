//! Damaged TensorFlow Lite files: no panic, no more memory than the size of a file justifies, and what is still converted computes
//! what the damaged file says.

mod common;
mod damaging;

use std::fs;
use std::path::Path;

use common::files_with_extension;
use damaging::{apply, bound, damage, most_allocated};
use netkit_convert::lower::Options;
use netkit_convert::proof::{self, Placement, ProofError, ProofOptions};
use netkit_convert::tflite::Source;
use proptest::prelude::*;

/// Larger tensors are not computed here.
const MOST_ELEMENTS: usize = 10_000;
/// Most multiplications of a model that is executed.
const MOST_PRODUCTS: usize = 1 << 22;

/// Models of all operators.
fn sources() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tflite");
    files_with_extension(&folder, "tflite").iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Reads and converts a file; the proof of an int8 model must not find a difference. Tells whether there was one to be made.
fn convert(file: &[u8]) -> bool {
    let (most, source) = most_allocated(|| Source::read(file));
    assert!(most <= bound(file), "{most} bytes for a file of {}", file.len());
    let Ok(source) = source else { return false };
    let (most, lowered) = most_allocated(|| {
        let lowered = source.lower(Options::default()).ok()?;
        let bytes = lowered.network.write(None).ok()?;
        Some((lowered, bytes))
    });
    assert!(most <= 4 * bound(file), "{most} bytes for converting a file of {}", file.len());
    let Some((_, bytes)) = lowered else { return false };
    let tensors = || source.model.tensors.iter();
    let weights: usize = tensors().filter_map(|tensor| tensor.data).map(<[u8]>::len).sum();
    let largest = tensors().filter(|tensor| tensor.data.is_none()).map(|tensor| tensor.elements()).max().unwrap_or(0);
    if largest > MOST_ELEMENTS || largest * weights > MOST_PRODUCTS {
        return false;
    }
    let options = ProofOptions { tolerance: 0.0, ..ProofOptions::default() };
    match proof::prove(&source, &bytes, Placement::default(), &options) {
        Ok(proof) => {
            assert!(!source.is_int8() || proof.passes(), "{}", proof.worst().unwrap());
            source.is_int8()
        }
        // Sums that leave 32 bits are refused by the engine.
        Err(ProofError::Engine(_) | ProofError::Source(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_neither_panic_nor_fill_memory(
        source in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        thread_local! {
            static SOURCES: Vec<Vec<u8>> = sources();
        }
        let mut bytes = SOURCES.with(|sources| sources[source.index(sources.len())].clone());
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        convert(&bytes);
    }

    #[test]
    fn any_bytes_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 8..300)) {
        bytes[4..8].copy_from_slice(b"TFL3");
        convert(&bytes);
    }
}

/// Every byte in front of the weights, one at a time: sizes, offsets, options, scales and shapes.
#[test]
fn every_changed_byte_is_survived() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tflite");
    let mut proven = 0;
    for name in ["resnet_strided_on_even_and_odd", "flatten_and_dense", "depthwise_with_multipliers"] {
        let file = fs::read(folder.join(name).with_extension("tflite")).unwrap();
        for at in 0..file.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff, file[at] ^ 4] {
                let mut bytes = file.clone();
                bytes[at] = byte;
                proven += usize::from(convert(&bytes));
            }
        }
    }
    assert!(proven > 1000, "{proven} of the changed files are converted");
}

#[test]
fn every_truncation_is_survived() {
    let file = sources().remove(0);
    (0..file.len() / 2).for_each(|length| assert!(!convert(&file[..length]), "{length} bytes of {}", file.len()));
}

/// A file that fuzzing found.
#[test]
fn a_reshape_to_another_number_of_elements_is_refused() {
    let source = Source::read(include_bytes!("damaging/reshape_to_fewer_elements.tflite")).expect("a whole file");
    let refusals = source.lower(Options::default()).expect_err("nothing to convert");
    assert!(refusals.iter().any(|refusal| refusal.to_string().contains("1572864 elements become 24")), "{refusals:?}");
}
