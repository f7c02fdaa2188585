//! From models of training frameworks to `.nk` models.
//!
//! ```text
//! model bytes --onnx--> Graph --simplify--> Graph --lower--> Network --write--> .nk bytes
//!                         |                                                        |
//!                         +--interpret--> outputs  ==  outputs <--netkit::Network--+      (proof)
//! ```
//!
//! * [`graph`]: the graph of a model whatever file it came from; everything else works on it.
//! * [`tensor`]: constants and intermediate results.
//! * [`refusal`]: why a node cannot be converted, and what would work.

pub mod graph;
pub mod refusal;
pub mod tensor;
