//! Activation functions over slices. The choice is made once per slice, outside the loop.

use super::math;
use crate::kernels::Activation;

/// Applies `activation` to every element. Other kernels call this on the rows they have just written.
#[inline(always)]
pub fn activate(data: &mut [f32], activation: Activation) {
    match activation {
        Activation::None => {}
        Activation::Relu => map(data, |x| if x > 0.0 { x } else { 0.0 }),
        Activation::Sigmoid => map(data, math::sigmoid),
        Activation::Tanh => map(data, math::tanh),
        Activation::LeakyRelu(alpha) => map(data, |x| if x > 0.0 { x } else { alpha * x }),
        Activation::Relu6 => map(data, |x| x.clamp(0.0, 6.0)),
        Activation::Silu => map(data, math::silu),
        Activation::Gelu => map(data, math::gelu),
    }
}

#[inline(always)]
fn map(data: &mut [f32], function: impl Fn(f32) -> f32) {
    for x in data {
        *x = function(*x);
    }
}
