//! The planner's number is exact, for any start address and any content of the memory, and stays near what must be alive.

mod common;

use common::Runner;
use netkit::error::ErrorKind;
use netkit::{MemoryPlan, Model, Network, SharedNetwork};

fn run(model: &Model<'_>, arena: &mut [u8]) -> Vec<u8> {
    Runner::load(model, arena).run(0)
}

#[test]
fn need_works_and_one_byte_less_is_refused_with_both_numbers() {
    for (name, bytes) in common::small_models(200 << 10) {
        let model = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let need = plan.arena_bytes;
        let mut arena = vec![0; need];
        let expected = run(&model, &mut arena);
        let error = Network::load(&model, &mut arena[..need - 1]).expect_err("one byte less");
        assert_eq!((error.kind, error.available(), error.needed()), (ErrorKind::Arena, need as u64 - 1, need as u64));
        assert_eq!(error.to_string(), format!("free arena memory is {}, expected at least {need}", need - 1), "{name}");
        for offset in 0..16 {
            let mut arena = vec![0xFF; need + 32];
            let output = run(&model, &mut arena[offset..offset + need]);
            assert_eq!(output, expected, "{name} at offset {offset}");
            let outside = arena[..offset].iter().chain(&arena[offset + need..]);
            assert!(outside.copied().all(|byte| byte == 0xFF), "{name}: wrote outside the arena");
        }
    }
}

#[test]
fn model_bytes_may_lie_at_any_address() {
    for (name, bytes) in common::small_models(50 << 10) {
        let aligned = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&aligned) else { continue };
        let expected = run(&aligned, &mut vec![0; plan.arena_bytes]);
        for offset in 1..16 {
            let mut moved = vec![0u8; bytes.len() + 16];
            moved[offset..offset + bytes.len()].copy_from_slice(&bytes);
            let model = Model::parse(&moved[offset..offset + bytes.len()]).expect("valid");
            let need = MemoryPlan::of(&model).expect("plan").arena_bytes;
            assert_eq!(run(&model, &mut vec![0xFF; need]), expected, "{name} at offset {offset}");
        }
    }
}

#[test]
fn runs_do_not_depend_on_earlier_runs() {
    for (name, bytes) in common::small_models(50 << 10) {
        let model = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let mut arena = vec![0xFF; plan.arena_bytes];
        let mut runner = Runner::load(&model, &mut arena);
        let first = runner.run(0);
        runner.run(5);
        let again = runner.run(0);
        assert_eq!(first, again, "{name}");
    }
}

/// Scratch memory may be anybody's: two runs of one network at the same time give what one gives.
#[test]
fn a_shared_network_runs_in_scratch_memory() {
    let bytes = common::TestModel::mlp().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    let (input, mut expected) = ([0.5, -0.25], [0.0; 2]);
    network.run(&input, &mut expected).expect("run");
    let shared = SharedNetwork::of(&network);
    std::thread::scope(|scope| {
        for fill in [0x00, 0xFF] {
            scope.spawn(move || {
                let mut memory = vec![fill; shared.scratch_bytes() + SharedNetwork::SCRATCH_ALIGN];
                let start = memory.as_ptr().align_offset(SharedNetwork::SCRATCH_ALIGN);
                let mut output = [f32::NAN; 2];
                shared.run(&mut memory[start..], &input, &mut output).expect("run");
                assert_eq!(output, expected);
            });
        }
    });
    if shared.scratch_bytes() > 0 {
        let error = shared.run(&mut [], &input, &mut [0.0; 2]).expect_err("no scratch memory");
        assert_eq!((error.kind, error.needed()), (ErrorKind::Buffer, shared.scratch_bytes() as u64));
        let mut memory = vec![0; shared.scratch_bytes() + 2 * SharedNetwork::SCRATCH_ALIGN];
        let start = memory.as_ptr().align_offset(SharedNetwork::SCRATCH_ALIGN) + 4;
        let error = shared.run(&mut memory[start..], &input, &mut [0.0; 2]).expect_err("misaligned");
        assert_eq!(error.kind, ErrorKind::Argument);
    }
}

#[test]
fn wrong_counts_are_refused_and_the_output_stays() {
    let bytes = common::TestModel::mlp().bytes();
    let model = Model::parse(&bytes).expect("valid");
    let mut arena = vec![0; MemoryPlan::of(&model).expect("plan").arena_bytes];
    let mut network = Network::load(&model, &mut arena).expect("load");
    let mut output = [7.0; 2];
    let error = network.run(&[1.0; 3], &mut output).expect_err("three inputs");
    assert_eq!(error.to_string(), "input elements is 3, expected 2");
    let error = network.run(&[1.0; 2], &mut output[..1]).expect_err("one output");
    assert_eq!(error.to_string(), "output elements is 1, expected 2");
    assert_eq!(output, [7.0; 2]);
}

/// The placement wastes at most 5 % over the largest sum of live tensors, and the plan itself stays below 24 KiB.
#[test]
fn arena_stays_near_the_largest_sum_of_live_tensors() {
    for path in common::model_files() {
        let bytes = std::fs::read(&path).expect("read");
        let model = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let bound = plan.peak_live_bytes + plan.peak_live_bytes / 20;
        assert!(plan.activation_bytes <= bound, "{}: {plan:?}", path.display());
        assert!(plan.plan_bytes < 20 << 10, "{}: {plan:?}", path.display());
    }
}
