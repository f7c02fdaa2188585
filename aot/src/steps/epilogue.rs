//! What a float kernel does with a sum: the residual, and the activation.

use netkit::kernels::Activation;
use netkit::plan::steps::{FLAG_ACCUMULATE, Step};

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

/// The epilogue of a step as a structure inside another one.
pub(super) fn epilogue(step: &Step, source: &mut Source) -> String {
    let (number, alpha) = match step.activation() {
        Activation::None => (0, 0.0),
        Activation::Relu => (1, 0.0),
        Activation::Sigmoid => (2, 0.0),
        Activation::Tanh => (3, 0.0),
        Activation::LeakyRelu(alpha) => (4, alpha),
        Activation::Relu6 => (5, 0.0),
        Activation::Silu => (6, 0.0),
        Activation::Gelu => (7, 0.0),
    };
    if let Some((name, _)) = usize::checked_sub(number, 1).and_then(|at| ACTIVATIONS.get(at)) {
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
