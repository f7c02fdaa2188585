//! Which tensors lie where in the activations, and from which step to which.

use std::ops::Range;

use netkit::plan::Event;
use netkit::plan::steps::{Op, Operand, Place, Step};
use netkit::{Error, MemoryPlan, Model};

use super::theme::Family;

/// A tensor or scratch among the activations.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    pub(crate) bytes: Range<u32>,
    /// The steps during which it must not be overwritten.
    pub(crate) steps: Range<usize>,
    /// Operation that writes it first.
    pub(crate) name: &'static str,
    pub(crate) family: Family,
    /// Layer of that operation.
    pub(crate) layer: usize,
}

impl Tensor {
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.bytes.end - self.bytes.start)
    }
}

/// A step of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepName {
    pub(crate) layer: usize,
    pub(crate) name: &'static str,
    /// Bytes of tensors and scratch that are alive.
    pub(crate) live_bytes: u64,
}

/// Everything that the drawing shows.
#[derive(Default)]
pub(crate) struct Lifetimes {
    pub(crate) tensors: Vec<Tensor>,
    pub(crate) steps: Vec<StepName>,
}

impl Lifetimes {
    pub(crate) fn of(model: &Model<'_>, plan: &MemoryPlan) -> Result<Self, Error> {
        let element_bytes = if model.is_quantized() { 1 } else { 4 };
        let mut lifetimes = Self::default();
        let mut live: Vec<(Tensor, bool)> = Vec::new();
        plan.for_each_event(model, &mut |event| match event {
            Event::Step(step) => lifetimes.step(step, element_bytes, &mut live),
            Event::Allocated(bytes) => {
                let first = lifetimes.steps.len();
                let tensor = Tensor { bytes, steps: first..first, name: "", family: Family::Shape, layer: 0 };
                live.push((tensor, false));
            }
            Event::Released(bytes) => {
                if let Some(at) = live.iter().position(|(tensor, _)| tensor.bytes == bytes) {
                    let (tensor, _) = live.remove(at);
                    lifetimes.close(tensor);
                }
            }
        })?;
        for (tensor, _) in live {
            lifetimes.close(tensor);
        }
        Ok(lifetimes)
    }

    fn step(&mut self, step: &Step, element_bytes: usize, live: &mut [(Tensor, bool)]) {
        let layer = usize::from(step.layer);
        let op = step.op().unwrap_or(Op::Copy);
        let rows = step.window.in_h;
        let marks = [
            (&step.output, short_name(op, rows), Family::of_step(op, rows)),
            (&step.scratch, "scratch", Family::Scratch),
        ];
        for (operand, name, family) in marks {
            for (tensor, is_known) in live.iter_mut().filter(|(tensor, _)| contains(tensor, operand, element_bytes)) {
                if !std::mem::replace(is_known, true) {
                    (tensor.name, tensor.family, tensor.layer) = (name, family, layer);
                }
            }
        }
        let live_bytes = live.iter().map(|(tensor, _)| tensor.size()).sum();
        self.steps.push(StepName { layer, name: short_name(op, rows), live_bytes });
    }

    fn close(&mut self, mut tensor: Tensor) {
        tensor.steps.end = self.steps.len();
        self.tensors.push(tensor);
    }
}

fn contains(tensor: &Tensor, operand: &Operand, element_bytes: usize) -> bool {
    let range = operand.range();
    let start = range.start * element_bytes;
    operand.place() == Place::Arena
        && !range.is_empty()
        && (tensor.bytes.start as usize..tensor.bytes.end as usize).contains(&start)
}

const fn short_name(op: Op, rows: u32) -> &'static str {
    match op {
        Op::Dense if rows > 1 => "conv 1 × 1",
        Op::Conv2d => "conv",
        Op::DepthwiseConv2d => "depthwise",
        Op::MaxPool2d => "max pool",
        Op::AvgPool2d => "average pool",
        Op::BatchNorm2d => "batch norm",
        Op::LayerNorm2d => "layer norm",
        Op::AddUpsampled2x => "add upsampled",
        _ => op.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tensor_has_a_writer_and_the_sums_are_those_of_the_plan() {
        let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        let mut seen = 0;
        for entry in std::fs::read_dir(models).expect("models") {
            let path = entry.expect("entry").path();
            if path.extension().is_none_or(|extension| extension != "nk") {
                continue;
            }
            let bytes = std::fs::read(&path).expect("a model");
            let model = Model::parse(&bytes).expect("valid");
            let Ok(plan) = MemoryPlan::of(&model) else { continue };
            let lifetimes = Lifetimes::of(&model, &plan).expect("plan");
            let name = path.display();
            assert_eq!(lifetimes.steps.len(), plan.steps, "{name}");
            let peak = lifetimes.steps.iter().map(|step| step.live_bytes).max();
            assert_eq!(peak, Some(plan.peak_live_bytes as u64), "{name}");
            for tensor in &lifetimes.tensors {
                assert!(!tensor.name.is_empty() && !tensor.steps.is_empty(), "{name}: {tensor:?}");
                assert!(tensor.bytes.end as usize <= plan.activation_bytes, "{name}: {tensor:?}");
            }
            seen += 1;
        }
        assert!(seen > 50, "{seen} models");
    }
}
