//! What a model needs to run: the numbers of its memory plan, and the plan step by step.

use netkit::kernels::Activation;
use netkit::plan::steps::{self, FLAG_ACCUMULATE, FLAG_NORM, Op, Operand, Place};
use netkit::{Error, ErrorKind, MemoryPlan, Model};
use serde::Serialize;

/// All null but `flash_bytes` for a model that cannot run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Memory {
    /// Arena bytes that loading takes and running uses.
    pub(crate) arena_bytes: Option<usize>,
    /// Why `arena_bytes` is null.
    pub(crate) arena_reason: Option<String>,
    pub(crate) activation_bytes: Option<usize>,
    pub(crate) plan_bytes: Option<usize>,
    /// Integer tables of an int8 model.
    pub(crate) table_bytes: Option<usize>,
    pub(crate) peak_live_bytes: Option<usize>,
    /// What packed weights take beyond `arena_bytes`.
    pub(crate) packed_bytes: Option<usize>,
    pub(crate) recommended_arena_bytes: Option<usize>,
    pub(crate) flash_bytes: usize,
    pub(crate) steps: Option<usize>,
    pub(crate) macs: Option<u64>,
}

/// A primitive step.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    pub(crate) index: usize,
    pub(crate) layer: u8,
    pub(crate) op: &'static str,
    /// What is computed along with it: `norm`, `residual`, an activation, in int8 models `clamp` for relu and relu6.
    pub(crate) fused: Vec<&'static str>,
    pub(crate) input_shape: Vec<u32>,
    pub(crate) output_shape: Vec<u32>,
    /// Rows and columns that are computed, of a window: fewer than the layer says where the others are zero.
    pub(crate) kernel: Option<[u32; 2]>,
    pub(crate) input: Range,
    pub(crate) output: Range,
    pub(crate) scratch: Option<Range>,
    pub(crate) macs: u64,
}

/// A range of bytes in one place.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Range {
    pub(crate) place: &'static str,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// The plan of a model. The error is one that keeps a valid model from loading; a model that is only beyond this version
/// has none, and a reason instead.
pub(crate) fn plan(model: &Model<'_>, with_steps: bool) -> (Memory, Option<Vec<Step>>, Option<Error>) {
    let flash_bytes = model.payload_bytes();
    match MemoryPlan::of(model) {
        Ok(plan) => {
            let memory = Memory {
                arena_bytes: Some(plan.arena_bytes),
                arena_reason: None,
                activation_bytes: Some(plan.activation_bytes),
                plan_bytes: Some(plan.plan_bytes),
                table_bytes: Some(plan.table_bytes),
                peak_live_bytes: Some(plan.peak_live_bytes),
                packed_bytes: Some(plan.packed_bytes),
                recommended_arena_bytes: plan.recommended_arena_bytes().ok(),
                flash_bytes,
                steps: Some(plan.steps),
                macs: Some(plan.macs),
            };
            let mut steps = Vec::new();
            let is_int8 = model.is_quantized();
            let mut visit = |step: &steps::Step| steps.push(describe(steps.len(), step, is_int8));
            let fault = if with_steps { plan.for_each_step(model, &mut visit).err() } else { None };
            (memory, with_steps.then_some(steps), fault)
        }
        Err(error) => {
            let memory = Memory { arena_reason: Some(error.to_string()), flash_bytes, ..Memory::default() };
            (memory, None, (error.kind != ErrorKind::Unsupported).then_some(error))
        }
    }
}

fn describe(index: usize, step: &steps::Step, is_int8: bool) -> Step {
    let op = step.op();
    let range = |operand: &Operand| range(operand, if is_int8 { 1 } else { 4 });
    let clamps = is_int8 && (i8::MIN, i8::MAX) != (step.quant.min, step.quant.max) && step.quant.min < step.quant.max;
    let (input_shape, output_shape) = shapes(op, step);
    let has = |flag: u8, name| (step.flags & flag != 0).then_some(name);
    let fused = [
        has(FLAG_NORM, "norm"),
        has(FLAG_ACCUMULATE, "residual"),
        activation(step.activation()),
        clamps.then_some("clamp"),
    ];
    Step {
        index,
        layer: step.layer,
        op: op.map_or("unknown", Op::name),
        fused: fused.into_iter().flatten().collect(),
        input_shape,
        output_shape,
        kernel: (step.window.kernel_h > 0).then_some([step.window.kernel_h, step.window.kernel_w]),
        input: range(&step.input),
        output: range(&step.output),
        scratch: (step.scratch.elems > 0).then(|| range(&step.scratch)),
        macs: step.macs(),
    }
}

/// Shapes as the operation sees them: maps for windows, rows for everything else.
fn shapes(op: Option<Op>, step: &steps::Step) -> (Vec<u32>, Vec<u32>) {
    let w = &step.window;
    match op {
        Some(Op::Conv2d | Op::DepthwiseConv2d | Op::MaxPool2d | Op::AvgPool2d) => {
            (vec![w.in_h, w.in_w, w.in_c], vec![w.out_h, w.out_w, w.out_c])
        }
        Some(Op::AddUpsampled2x) => (vec![w.in_h, w.in_w, w.in_c], vec![2 * w.in_h, 2 * w.in_w, w.in_c]),
        _ => (vec![w.in_h, w.in_c], vec![w.out_h, w.out_c]),
    }
}

fn range(operand: &Operand, element_bytes: u64) -> Range {
    let place = match operand.place() {
        Place::Input => "input",
        Place::Output => "output",
        Place::Arena => "arena",
    };
    Range { place, offset: element_bytes * u64::from(operand.first), bytes: element_bytes * u64::from(operand.elems) }
}

fn activation(activation: Activation) -> Option<&'static str> {
    match activation {
        Activation::None => None,
        Activation::Relu => Some("relu"),
        Activation::Sigmoid => Some("sigmoid"),
        Activation::Tanh => Some("tanh"),
        Activation::LeakyRelu(_) => Some("leaky_relu"),
        Activation::Relu6 => Some("relu6"),
        Activation::Silu => Some("silu"),
        Activation::Gelu => Some("gelu"),
    }
}
