//! Activation functions.
//!
//! NaN stays NaN in all of them but ReLU, which turns it into 0, because `NaN > 0` is false. SiLU and GELU of negative
//! infinity are NaN, as their formulas multiply infinity by 0.

use crate::kernels::Activation;

/// Applies `activation` to every element.
pub fn activate(data: &mut [f32], activation: Activation) {
    for x in data {
        *x = apply(*x, activation);
    }
}

/// The activation of one value.
#[inline(never)]
pub fn apply(x: f32, activation: Activation) -> f32 {
    match activation {
        Activation::None => x,
        Activation::Relu => {
            if x > 0.0 {
                x
            } else {
                0.0
            }
        }
        Activation::Sigmoid => sigmoid(x),
        Activation::Tanh => libm::tanhf(x),
        Activation::LeakyRelu(alpha) => {
            if x > 0.0 {
                x
            } else {
                alpha * x
            }
        }
        Activation::Relu6 => x.clamp(0.0, 6.0),
        Activation::Silu => x * sigmoid(x),
        Activation::Gelu => gelu(x),
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

/// The tanh form of GELU. `0.7978845608` is `sqrt(2 / pi)`.
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + libm::tanhf(0.797_884_6 * (x + 0.044_715 * x * x * x)))
}
