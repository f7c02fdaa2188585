//! Inner loops of the int8 kernels for Arm microcontrollers.
//!
//! ```text
//! dsp.rs      Cortex-M4, M7, M33, M55: two products of 16 bits at once
//! thumb2.rs   Cortex-M3: products to 64 bits
//! thumb1.rs   Cortex-M0, M0+: products to 32 bits, eight registers for most instructions
//! calls.rs    checked calls of the loops
//! ```
//!
//! The loops are whole functions in assembly: the count of their instructions is that of this text, however the rest of the
//! library is optimised. `scripts/budgets` counts them.
#![expect(unsafe_code, reason = "assembly is beyond what the compiler can check")]

mod calls;
#[cfg(arm_instructions = "dsp")]
mod dsp;
#[cfg(arm_instructions = "thumb1")]
mod thumb1;
#[cfg(arm_instructions = "thumb2")]
mod thumb2;

#[cfg(arm_instructions = "dsp")]
pub use dsp::Dsp as Native;
#[cfg(arm_instructions = "thumb1")]
pub use thumb1::Thumb1 as Native;
#[cfg(arm_instructions = "thumb2")]
pub use thumb2::Thumb2 as Native;
