//! From float `.nk` models to int8 models, and what that costs.
//!
//! ```text
//! float .nk --form--> layers with int8 forms --calibrate--> distributions --assemble--> int8 .nk
//!                                                 |                                        |
//!             the library runs the float model ---+        the library runs both --evaluate+--> what was lost
//! ```
//!
//! * [`form`]: the layers that the int8 model will have: batch norm folded, blocks as their convolutions; or all refusals.
//! * [`probe`]: small float models that show what layers keep inside: logits, convolutions of a block.
//! * [`calibrate`]: what flows through the float model for the calibration samples.
//! * [`distribution`]: values of one tensor, counted.
//! * [`range`]: from a distribution to scale and zero point.
//! * [`weights`]: int8 weights and int32 biases.
//! * [`assemble`]: descriptors and the file.
//! * [`given`]: the same with scales that the source model states.
//! * [`evaluate`]: int8 against float, layer by layer and by the class that comes out.
//! * `engine`, `parallel`: models in the library, on all processors.
//!
//! No number comes from a second executor: layer outputs are those of the library, float and int8.

pub mod assemble;
pub mod calibrate;
pub mod distribution;
mod engine;
pub mod error;
pub mod evaluate;
pub mod form;
pub mod given;
mod parallel;
pub mod probe;
pub mod range;
pub mod weights;

pub use error::Error;
