//! Any bytes as a `.nk` file: parsed, described and planned, never run.

#![no_main]

use libfuzzer_sys::fuzz_target;
use netkit::format::Cases;
use netkit::{MemoryPlan, Model};

fuzz_target!(|bytes: &[u8]| {
    let Ok(model) = Model::parse(bytes) else { return };
    if let Ok(cases) = Cases::read(&model) {
        assert_eq!(cases.iter().count(), cases.len());
    }
    let _ = model.check_payload();
    netkit::summary::write(&model, "fuzz", &mut String::new()).expect("a string takes everything");
    let Ok(plan) = MemoryPlan::of(&model) else { return };
    let again = MemoryPlan::of(&model).expect("planned before");
    assert_eq!(plan.arena_bytes, again.arena_bytes);
    plan.for_each_step(&model, &mut |_| {}).expect("planned before");
    plan.for_each_event(&model, &mut |_| {}).expect("planned before");
});
