//! From steps to constants and calls: a file for each kind of step, with the stem of its kernel.
//!
//! ```text
//! window.rs      geometry, which several kinds have
//! filters.rs     the order of weights in flash
//! epilogue.rs    what a float kernel does with a sum
//! channels.rs    what an int8 kernel does with a sum
//! ```

mod add;
mod add_upsampled2x;
mod avg_pool2d;
mod batch_norm2d;
mod channels;
mod conv2d;
mod copy;
mod dense;
mod depthwise_conv2d;
mod epilogue;
mod filters;
mod grn;
mod layernorm2d;
mod lookup;
mod max_pool2d;
mod softmax;
mod window;

use netkit::plan::steps::{Op, Step};

use crate::Error;
use crate::program::Program;
use crate::source::Source;

pub(crate) use epilogue::activations;

/// A step of a program.
#[derive(Clone, Copy)]
pub(crate) struct At<'p, 'm> {
    program: &'p Program<'m>,
    index: usize,
    step: &'p Step,
}

impl At<'_, '_> {
    /// The name of something that belongs to this step.
    fn name(&self, what: &str) -> String {
        format!("nk_{what}_{}", self.index)
    }

    /// The error that there is no such step in networks of this type.
    fn impossible(&self) -> Error {
        Error::Step { index: self.index }
    }
}

/// Writes all steps.
pub(crate) fn emit(program: &Program<'_>, source: &mut Source) -> Result<(), Error> {
    let mut layer = None;
    for (index, step) in program.steps.iter().enumerate() {
        if layer != Some(step.layer) {
            layer = Some(step.layer);
            source.enter(step.layer);
            source.calls.push_str(&heading(program, step.layer));
        }
        emit_step(&At { program, index, step }, source)?;
    }
    Ok(())
}

fn emit_step(at: &At<'_, '_>, source: &mut Source) -> Result<(), Error> {
    match at.step.op().ok_or(at.impossible())? {
        Op::Copy => copy::emit(at, source),
        Op::Dense => dense::emit(at, source),
        Op::Conv2d => conv2d::emit(at, source),
        Op::DepthwiseConv2d => depthwise_conv2d::emit(at, source),
        Op::MaxPool2d => max_pool2d::emit(at, source),
        Op::AvgPool2d => avg_pool2d::emit(at, source),
        Op::BatchNorm2d => batch_norm2d::emit(at, source),
        Op::LayerNorm2d => layernorm2d::emit(at, source),
        Op::Grn => grn::emit(at, source),
        Op::Softmax => softmax::emit(at, source),
        Op::Add => add::emit(at, source),
        Op::AddUpsampled2x => add_upsampled2x::emit(at, source),
        Op::Lookup => lookup::emit(at, source),
    }
}

/// The comment above the calls of a layer.
fn heading(program: &Program<'_>, layer: u8) -> String {
    let Some(facts) = program.layers.get(usize::from(layer)) else { return String::new() };
    let kind = netkit::format::kind_name(facts.kind).unwrap_or("layer");
    let extents = |shape: netkit::tensor::Shape| {
        let (dims, rank) = shape.dims();
        let dims: Vec<String> = dims.iter().take(rank as usize).map(u32::to_string).collect();
        dims.join(" x ")
    };
    format!("    /* layer {layer}: {kind}, {} to {} */\n", extents(facts.input), extents(facts.output))
}
