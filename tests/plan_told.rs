//! What a plan tells about itself: steps, lifetimes and layers are those that a run follows.

mod common;

use core::ops::Range;

use netkit::plan::Event;
use netkit::plan::steps::{Op, Operand, Place, Step};
use netkit::plan::{CodePlan, LayerFacts, MemoryPlan};
use netkit::{Error, Model, Network, Watcher};

/// Whether one of the live tensors contains the operand.
fn is_live(operand: &Operand, element_bytes: usize, live: &[Range<u32>]) -> bool {
    let range = operand.range();
    let (start, end) = (range.start * element_bytes, range.end * element_bytes);
    let contains = |live: &Range<u32>| live.start as usize <= start && end <= live.end as usize;
    operand.place() != Place::Arena || range.is_empty() || live.iter().any(contains)
}

#[test]
fn steps_use_what_is_allocated_and_the_peak_is_the_largest_sum() {
    for (name, bytes) in common::small_models(200 << 10) {
        let model = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let element_bytes = if model.is_quantized() { 1 } else { 4 };
        let (mut live, mut peak, mut steps): (Vec<Range<u32>>, u32, usize) = (Vec::new(), 0, 0);
        let mut unused: Vec<Range<u32>> = Vec::new();
        let check = |step: &Step, live: &[Range<u32>]| {
            for operand in [&step.input, &step.output, &step.scratch] {
                assert!(is_live(operand, element_bytes, live), "{name} {step:?}: {live:?}");
            }
        };
        plan.for_each_event(&model, &mut |event| match event {
            Event::Step(step) => {
                check(step, &live);
                peak = peak.max(live.iter().map(|bytes| bytes.end - bytes.start).sum());
                steps += 1;
                unused.clear();
            }
            Event::Allocated(bytes) => {
                unused.push(bytes.clone());
                let overlaps = |other: &Range<u32>| other.start < bytes.end && bytes.start < other.end;
                assert!(!live.iter().any(overlaps) && bytes.end as usize <= plan.activation_bytes, "{name}: {bytes:?}");
                live.push(bytes);
            }
            Event::Released(bytes) => {
                assert!(!unused.contains(&bytes), "{name}: no step runs while {bytes:?} are allocated");
                live.remove(live.iter().position(|other| *other == bytes).expect("what is released was allocated"));
            }
        })
        .expect("plan");
        assert_eq!((peak as usize, steps), (plan.peak_live_bytes, plan.steps), "{name}");
    }
}

/// The steps for generated code are the same, and only GRN has scratch memory.
#[test]
fn a_plan_for_code_has_the_same_steps_in_less_memory() {
    for (name, bytes) in common::small_models(200 << 10) {
        let model = Model::parse(&bytes).expect("valid");
        let (Ok(plan), Ok(code)) = (MemoryPlan::of(&model), CodePlan::of(&model)) else { continue };
        let mut own = Vec::new();
        plan.for_each_step(&model, &mut |step| own.push(*step)).expect("plan");
        let (mut steps, mut tables) = (vec![Step::default(); code.steps()], vec![0; code.table_bytes()]);
        code.write(&model, &mut steps, &mut tables).expect("plan");
        assert_eq!(own.len(), steps.len(), "{name}");
        let element_bytes = if model.is_quantized() { 1 } else { 4 };
        for (own, step) in own.iter().zip(&steps) {
            let facts = |step: &Step| (step.op(), step.window, step.weights, step.quant, step.input.elems);
            assert_eq!(facts(own), facts(step), "{name}");
            assert_eq!(step.scratch.elems, if step.op() == Some(Op::Grn) { step.window.in_c } else { 0 }, "{name}");
            for operand in [step.input, step.output, step.scratch] {
                let end = operand.range().end * element_bytes;
                assert!(operand.place() != Place::Arena || end <= plan.activation_bytes, "{name}: {step:?}");
            }
        }
    }
}

/// Counts layers and keeps the last result.
#[derive(Default)]
struct Last {
    entered: usize,
    left: usize,
    output: Vec<u8>,
}

impl Watcher for Last {
    fn before(&mut self, layer: &LayerFacts) -> Result<(), Error> {
        assert_eq!(layer.index, self.entered);
        self.entered += 1;
        Ok(())
    }

    fn after(&mut self, layer: &LayerFacts, output: &[u8]) -> Result<(), Error> {
        let element_bytes = if layer.output_quant.is_some() { 1 } else { 4 };
        assert_eq!(output.len(), element_bytes * layer.result_shape.elements()? as usize);
        self.left += 1;
        self.output = output.to_vec();
        Ok(())
    }
}

#[test]
fn a_watched_run_gives_the_same_output_and_tells_every_layer() {
    for (name, bytes) in common::small_models(50 << 10) {
        let model = Model::parse(&bytes).expect("valid");
        let Ok(plan) = MemoryPlan::of(&model) else { continue };
        let (mut layers, mut macs, mut payload) = (0, 0, 0);
        plan.for_each_layer(&model, &mut |layer| {
            layers += 1;
            macs += layer.macs;
            payload += layer.payload_bytes;
            Ok(())
        })
        .expect("plan");
        assert_eq!((layers, macs), (model.layers().count(), plan.macs), "{name}");
        assert!(payload <= plan.flash_bytes && plan.flash_bytes - payload < 4, "{name}: padding only");
        let (inputs, outputs) = (plan.input.elements().expect("few"), plan.output.elements().expect("few"));
        let mut arena = vec![0; plan.arena_bytes];
        let mut network = Network::load(&model, &mut arena).expect("load");
        let mut last = Last::default();
        if network.is_quantized() {
            let input: Vec<i8> = (0..inputs).map(|i| i as i8).collect();
            let (mut plain, mut watched) = (vec![0; outputs as usize], vec![0; outputs as usize]);
            network.run_int8(&input, &mut plain).expect("run");
            network.run_layers_int8(&mut last, &input, &mut watched).expect("run");
            assert_eq!(plain, watched, "{name}");
            assert_eq!(last.output, watched.iter().map(|&value| value as u8).collect::<Vec<_>>(), "{name}");
        } else {
            let input: Vec<f32> = (0..inputs).map(|i| (i % 7) as f32 - 3.0).collect();
            let (mut plain, mut watched) = (vec![0.0; outputs as usize], vec![0.0; outputs as usize]);
            network.run(&input, &mut plain).expect("run");
            network.run_layers(&mut last, &input, &mut watched).expect("run");
            assert_eq!(plain, watched, "{name}");
            assert_eq!(last.output, watched.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<_>>(), "{name}");
        }
        assert_eq!((last.entered, last.left), (layers, layers), "{name}");
    }
}
