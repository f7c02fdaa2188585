//! What a float kernel does with a sum: the residual, and the activation.

use netkit::kernels::Activation;
use netkit::plan::steps::{FLAG_ACCUMULATE, Step};

use super::At;
use crate::Error;
use crate::kernels::Used;
use crate::source::{Source, fields};
use crate::text::Literal;

/// Kernels of the activations in the order of their numbers, which begin with 1, and their arguments.
const ACTIVATIONS: [(&str, &str); 7] = [
    ("relu", "x"),
    ("sigmoid", "x"),
    ("tanh", "x"),
    ("leaky_relu", "x, alpha"),
    ("relu6", "x"),
    ("silu", "x"),
    ("gelu", "x"),
];

/// The fields of a float step with weights that all kinds have; `order` is that in which its kernel reads the weights.
pub(super) fn weighted(
    at: &At<'_, '_>,
    order: fn(&[Vec<f32>]) -> Vec<f32>,
    source: &mut Source,
) -> Result<[(&'static str, String); 3], Error> {
    let (filters, bias) = at.program.float_filters(at.index)?;
    Ok([
        ("weights", source.array(at.name("weights"), &order(&filters))),
        ("bias", source.array(at.name("bias"), &bias)),
        ("epilogue", epilogue(at.step, source)),
    ])
}

/// Where a float step writes its columns.
pub(super) fn columns(step: &Step) -> [(&'static str, String); 2] {
    [("pitch", step.pitch.to_string()), ("column", step.column.to_string())]
}

/// The epilogue of a step as a structure inside another one.
fn epilogue(step: &Step, source: &mut Source) -> String {
    let (name, alpha) = match step.activation() {
        Activation::None => ("", 0.0),
        Activation::Relu => ("relu", 0.0),
        Activation::Sigmoid => ("sigmoid", 0.0),
        Activation::Tanh => ("tanh", 0.0),
        Activation::LeakyRelu(alpha) => ("leaky_relu", alpha),
        Activation::Relu6 => ("relu6", 0.0),
        Activation::Silu => ("silu", 0.0),
        Activation::Gelu => ("gelu", 0.0),
    };
    // 0 is none.
    let number = ACTIVATIONS.iter().position(|(kernel, _)| *kernel == name).map_or(0, |index| index + 1);
    if number > 0 {
        source.need(name);
    }
    fields(&[
        ("accumulates", u8::from(step.flags & FLAG_ACCUMULATE != 0).to_string()),
        ("activation", number.to_string()),
        ("alpha", alpha.literal()),
    ])
}

/// `nk_activate` for the activations that are used.
pub(crate) fn activations(used: &Used) -> String {
    let cases = ACTIVATIONS.iter().enumerate().filter(|(_, (name, _))| used.has(name));
    let cases: String = cases
        .map(|(index, (name, arguments))| format!("    case {}:\n        return nk_{name}({arguments});\n", index + 1))
        .collect();
    let unused = if used.has("leaky_relu") { "" } else { "    (void)alpha;\n" };
    format!(
        "static float nk_activate(int activation, float alpha, float x) {{\n{unused}    switch (activation) {{\n\
         {cases}    default:\n        return x;\n    }}\n}}\n\n"
    )
}
