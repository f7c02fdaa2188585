//! From an accumulator to an output element.

use super::activation::apply;
use crate::kernels::Epilogue;

/// `activation((acc + bias[c]) * scale[c] + shift[c] + (accumulate ? present : 0))`, where `present` is the output
/// element before the call. Without a bias at all, 0 is added.
#[inline(never)]
pub(in crate::kernels) fn finish(acc: f32, c: usize, present: f32, epilogue: &Epilogue<'_>) -> f32 {
    let bias = if epilogue.bias.is_empty() { 0.0 } else { epilogue.bias[c] };
    let mut value = acc + bias;
    if let Some((scale, shift)) = epilogue.norm {
        value = value * scale[c] + shift[c];
    }
    if epilogue.accumulate {
        value += present;
    }
    apply(value, epilogue.activation)
}
