//! Any bytes may be handed to the loader: a model cut anywhere or with any byte changed gives an error or a run, never a
//! panic, and what is refused is refused before anything is written to the output.

mod common;

use netkit::format::Cases;
use netkit::{MemoryPlan, Model, Network};

/// Arena above which a damaged model is planned but not run: it may legally ask for very much.
const MAX_ARENA: usize = 4 << 20;

/// Does everything that a program can do with the bytes.
fn exercise(bytes: &[u8], arena: &mut Vec<u8>) {
    let Ok(model) = Model::parse(bytes) else { return };
    if let Ok(cases) = Cases::read(&model) {
        assert_eq!(cases.iter().count(), cases.len());
    }
    let _ = netkit::summary::write(&model, "damaged", &mut String::new());
    let _ = netkit::plan::shapes(&model);
    let Ok(plan) = MemoryPlan::of(&model) else { return };
    let (input, output) = (plan.input.elements().expect("planned"), plan.output.elements().expect("planned"));
    if plan.arena_bytes > MAX_ARENA || input as usize > MAX_ARENA || output as usize > MAX_ARENA || plan.macs > 1 << 24
    {
        return;
    }
    arena.clear();
    arena.resize(plan.arena_bytes, 0xFF);
    let Ok(mut network) = Network::load(&model, arena) else { return };
    let (input, output) = (input as usize, output as usize);
    let result = if network.is_quantized() {
        network.run_int8(&vec![7; input], &mut vec![0; output])
    } else {
        network.run(&vec![0.5; input], &mut vec![0.0; output])
    };
    result.expect("a loaded network runs");
}

#[test]
fn every_prefix_is_refused_or_runs() {
    let mut arena = Vec::new();
    for (_, bytes) in common::small_models(8 << 10) {
        for end in 0..bytes.len() {
            exercise(&bytes[..end], &mut arena);
        }
    }
}

#[test]
fn every_changed_metadata_byte_is_refused_or_runs() {
    let mut arena = Vec::new();
    for (_, bytes) in common::small_models(8 << 10) {
        let metadata = Model::parse(&bytes).expect("valid").payload_offset();
        let mut file = bytes.clone();
        for offset in 0..metadata {
            let old = bytes[offset];
            for new in [0, 1, 2, 0x7F, 0x80, 0xFF, old.wrapping_add(1), old.wrapping_sub(1), old ^ 0x10, old ^ 0x40] {
                file[offset] = new;
                exercise(&file, &mut arena);
            }
            file[offset] = old;
        }
    }
}

#[test]
fn changed_test_sections_are_refused_or_read() {
    let mut arena = Vec::new();
    for (_, bytes) in common::small_models(4 << 10) {
        let cases = Model::parse(&bytes).expect("valid").payload_end();
        let mut file = bytes.clone();
        for offset in cases..bytes.len() {
            for new in [0, 0x7F, 0xFF, bytes[offset] ^ 1] {
                file[offset] = new;
                exercise(&file, &mut arena);
            }
            file[offset] = bytes[offset];
        }
    }
}
