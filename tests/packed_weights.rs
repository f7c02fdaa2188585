//! Weights that are packed when a model is loaded: they change nothing but the time of a run, and give way to whoever takes
//! the memory that they lie in.
#![cfg(feature = "simd")]

mod common;

use std::ptr::null_mut;

use netkit::ffi::nk_status::{self, NK_OK};
use netkit::ffi::*;
use netkit::plan::steps::{Op, Step};
use netkit::{MemoryPlan, Model, Network};

/// What the end of an arena holds before anything is loaded.
const UNTOUCHED: u8 = 0xd7;

#[test]
fn answers_do_not_depend_on_whether_weights_are_packed() {
    let (mut packed_models, mut rounded_models) = (0, 0);
    for (name, bytes) in common::small_models(2 << 20) {
        let Ok(model) = Model::parse(&bytes) else { continue };
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let mut in_place = vec![0; plan.arena_bytes];
        // At an odd address, because any address will do.
        let mut packed = vec![UNTOUCHED; plan.arena_bytes + plan.packed_bytes + 1];
        let mut in_place = common::Runner::load(&model, &mut in_place);
        let mut packed = common::Runner::load(&model, &mut packed[1..]);
        packed_models += usize::from(plan.packed_bytes > 0);
        // Winograd's method, which needs packed weights, computes the same sums with other roundings.
        let mut is_exact = true;
        plan.for_each_step(&model, &mut |step| is_exact &= step.packed == 0 || !is_winograd(step)).expect("steps");
        rounded_models += usize::from(!is_exact);
        for seed in 0..3 {
            let (packed, in_place) = (packed.run(seed), in_place.run(seed));
            if is_exact {
                assert_eq!(packed, in_place, "{name}");
            } else {
                assert_close(&packed, &in_place, &name);
            }
        }
    }
    assert!(packed_models > 20, "{packed_models}");
    assert!(rounded_models > 0);
}

fn is_winograd(step: &Step) -> bool {
    step.op() == Some(Op::Conv2d) && netkit::kernels::is_winograd(&step.window, step.scratch.elems as usize)
}

/// Floats that differ by no more than roundings.
fn assert_close(bytes: &[u8], others: &[u8], name: &str) {
    let floats = |bytes: &[u8]| bytes.as_chunks().0.iter().map(|b| f32::from_ne_bytes(*b)).collect::<Vec<_>>();
    let (values, others) = (floats(bytes), floats(others));
    let largest = others.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
    for (value, other) in values.iter().zip(&others) {
        assert!((value - other).abs() <= 1e-5 * largest, "{name}: {value} instead of {other}");
    }
}

#[test]
fn a_region_that_is_a_byte_too_small_reads_weights_in_place() {
    let bytes = model("digits_cnn");
    let model = Model::parse(&bytes).expect("parse");
    let plan = MemoryPlan::of(&model).expect("plan");
    assert!(plan.packed_bytes > 0);
    for (missing, is_packed) in [(1, false), (0, true)] {
        let mut region = vec![UNTOUCHED; plan.arena_bytes + plan.packed_bytes - missing];
        Network::load(&model, &mut region).expect("load");
        assert_eq!(region[plan.arena_bytes..].iter().any(|&byte| byte != UNTOUCHED), is_packed, "{missing}");
    }
}

fn model(name: &str) -> Vec<u8> {
    std::fs::read(format!("models/{name}.nk")).expect("a model of the repository")
}

/// An arena, and what its C functions say.
struct Arena {
    handle: nk_arena,
    memory: Vec<u8>,
}

impl Arena {
    fn new(bytes: usize) -> Self {
        let mut arena = Self { handle: nk_arena { storage: [0; 64] }, memory: vec![UNTOUCHED; bytes] };
        // SAFETY: the memory lives as long as the arena.
        unsafe { nk_arena_init(&mut arena.handle, arena.memory.as_mut_ptr().cast(), bytes) };
        arena
    }

    fn load(&mut self, bytes: &[u8]) -> Result<nk_model, nk_status> {
        let mut model = nk_model { storage: [0; 96] };
        // SAFETY: valid handles; every test keeps the bytes as long as it uses the model.
        let status = unsafe { nk_load_memory(bytes.as_ptr(), bytes.len(), &mut self.handle, &mut model) };
        if status == NK_OK { Ok(model) } else { Err(status) }
    }

    /// The ten outputs for an input that depends on the position.
    fn run(&mut self, model: &nk_model) -> Vec<f32> {
        let mut output = vec![0.0; 10];
        self.run_into(model, output.as_mut_ptr());
        output
    }

    fn run_into(&mut self, model: &nk_model, output: *mut f32) {
        // SAFETY: a valid handle.
        let count = unsafe { nk_model_input_bytes(model) } as u32 / 4;
        let input: Vec<f32> = (0..count).map(|i| (i % 17) as f32 / 17.0).collect();
        let mut written = 0;
        // SAFETY: valid handles and buffers.
        let status = unsafe { nk_forward(model, &mut self.handle, input.as_ptr(), count, output, 10, &mut written) };
        assert_eq!((status, written), (NK_OK, 10));
    }

    /// Takes bytes and writes to all of them.
    fn take(&mut self, bytes: usize) -> *mut u8 {
        // SAFETY: a valid handle whose memory is alive.
        let taken = unsafe { nk_arena_alloc(&mut self.handle, bytes, 1) };
        assert_ne!(taken, null_mut());
        // SAFETY: these bytes were just taken.
        unsafe { taken.cast::<u8>().write_bytes(0xee, bytes) };
        taken.cast()
    }

    fn used(&self) -> usize {
        // SAFETY: a valid handle.
        unsafe { nk_arena_used(&self.handle) }
    }

    fn remaining(&self) -> usize {
        // SAFETY: a valid handle.
        unsafe { nk_arena_remaining(&self.handle) }
    }

    fn rewind(&mut self, mark: usize) {
        // SAFETY: a valid handle whose memory is alive.
        assert_eq!(unsafe { nk_arena_rewind(&mut self.handle, mark) }, NK_OK);
    }

    /// Whether something was packed at the end of the memory.
    fn is_packed(&self) -> bool {
        self.memory.iter().rev().take(64 + 63).any(|&byte| byte != UNTOUCHED)
    }
}

/// Arena bytes of a model without packed weights, and the bytes of those.
fn bytes_of(model: &[u8]) -> (usize, usize) {
    let plan = MemoryPlan::of(&Model::parse(model).expect("parse")).expect("plan");
    (plan.arena_bytes, plan.packed_bytes)
}

fn expected(model: &[u8]) -> Vec<f32> {
    let mut arena = Arena::new(bytes_of(model).0);
    let loaded = arena.load(model).expect("the least arena");
    arena.run(&loaded)
}

#[test]
fn packed_weights_count_as_free_memory() {
    let bytes = model("digits_cnn");
    let (least, packed) = bytes_of(&bytes);
    let mut arena = Arena::new(least + packed);
    let loaded = arena.load(&bytes).expect("load");
    assert!(arena.is_packed());
    assert_eq!((arena.used(), arena.remaining()), (least, packed));
    assert_eq!(arena.run(&loaded), expected(&bytes));
}

#[test]
fn recommended_memory_has_room_for_packed_weights() {
    let bytes = model("digits_cnn");
    // SAFETY: the bytes are alive.
    let recommended = unsafe { nk_recommended_arena_bytes_memory(bytes.as_ptr().cast(), bytes.len()) };
    let mut arena = Arena::new(recommended);
    arena.load(&bytes).expect("load");
    assert!(arena.is_packed());
}

#[test]
fn an_arena_of_the_least_sizes_holds_all_models_although_the_first_were_packed() {
    let models = ["digits_cnn", "digits_cnn_dw", "digits_mlp", "handwritten_cnn_dw"].map(model);
    let mut arena = Arena::new(models.iter().map(|bytes| bytes_of(bytes).0).sum());
    let loaded: Vec<_> = models.iter().map(|bytes| arena.load(bytes).expect("there is room")).collect();
    for (bytes, loaded) in models.iter().zip(&loaded) {
        assert_eq!(arena.run(loaded), expected(bytes));
    }
}

#[test]
fn every_byte_can_be_taken_one_after_another() {
    let models = ["digits_cnn", "handwritten_cnn", "digits_cnn"].map(model);
    let sum = models.iter().map(|bytes| bytes_of(bytes)).map(|(least, packed)| least + packed).sum();
    let mut arena = Arena::new(sum);
    let loaded: Vec<_> = models.iter().map(|bytes| arena.load(bytes).expect("load")).collect();
    assert!(arena.is_packed());
    while arena.remaining() > 0 {
        arena.take(arena.remaining().min(1000));
        for (bytes, loaded) in models.iter().zip(&loaded) {
            assert_eq!(arena.run(loaded), expected(bytes));
        }
    }
}

#[test]
fn a_load_that_fails_may_cost_packed_weights_but_no_answer() {
    let (good, mut bad) = (model("digits_cnn"), model("handwritten_cnn"));
    let (least, packed) = bytes_of(&good);
    // A weight that is not a number: seen after memory was taken.
    let payload = Model::parse(&bad).expect("parse").payload_offset();
    bad[payload..payload + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    let mut arena = Arena::new(least + packed.max(bytes_of(&bad).0));
    let loaded = arena.load(&good).expect("load");
    let used = arena.used();
    assert!(arena.load(&bad).is_err());
    assert_eq!(arena.used(), used);
    for _ in 0..3 {
        assert_eq!(arena.run(&loaded), expected(&good));
        arena.take(arena.remaining() / 2);
    }
    assert_eq!(arena.run(&loaded), expected(&good));
}

#[test]
fn rewinding_ends_the_packed_weights_of_what_is_given_back() {
    let models = ["digits_cnn", "handwritten_cnn"].map(model);
    let sum = models.iter().map(|bytes| bytes_of(bytes)).map(|(least, packed)| least + packed).sum();
    let mut arena = Arena::new(sum);
    let first = arena.load(&models[0]).expect("load");
    let mark = arena.used();
    for _ in 0..2 {
        let second = arena.load(&models[1]).expect("load");
        assert_eq!(arena.run(&second), expected(&models[1]));
        arena.rewind(mark);
    }
    // Over the memory of the network that ended, and then over the packed weights of the other.
    while arena.remaining() > 0 {
        arena.take(arena.remaining().min(4096));
        assert_eq!(arena.run(&first), expected(&models[0]));
    }
    // SAFETY: a valid handle whose memory is alive.
    unsafe { nk_arena_reset(&mut arena.handle) };
    let again = arena.load(&models[0]).expect("load");
    assert_eq!(arena.run(&again), expected(&models[0]));
}

#[test]
fn output_in_free_memory_of_the_arena_ends_the_packed_weights_there() {
    let bytes = model("digits_cnn");
    let (least, packed) = bytes_of(&bytes);
    let mut arena = Arena::new(least + packed + 64);
    let loaded = arena.load(&bytes).expect("load");
    let end = arena.memory.as_mut_ptr().wrapping_add(least + packed / 2);
    let output = end.wrapping_add(end.align_offset(4)).cast::<f32>();
    for _ in 0..2 {
        arena.run_into(&loaded, output);
        // SAFETY: ten values were written there.
        assert_eq!(unsafe { std::slice::from_raw_parts(output, 10) }, expected(&bytes));
    }
}

#[test]
fn memory_that_was_written_to_without_taking_it_is_noticed() {
    let bytes = model("digits_cnn");
    let (least, packed) = bytes_of(&bytes);
    let mut arena = Arena::new(least + packed);
    let loaded = arena.load(&bytes).expect("load");
    arena.memory[least..].fill(0x11);
    assert_eq!(arena.run(&loaded), expected(&bytes));
}
