//! From models of training frameworks to `.nk` models.
//!
//! ```text
//! model bytes --onnx--> Graph --simplify--> Graph --lower--> Network --write--> .nk bytes
//!                         |                                                        |
//!                         +--interpret--> outputs  ==  outputs <--netkit::Network--+      (proof)
//! ```
//!
//! * [`onnx`]: reads ONNX files; [`onnx::load`] gives the simplified graph.
//! * [`tflite`]: reads TensorFlow Lite files, translates and executes them; lowering and proof are the same.
//! * [`qdq`]: ONNX graphs that are quantised already.
//! * [`source`]: a model of either kind.
//! * [`graph`]: the graph of a model whatever file it came from; everything else works on it.
//! * [`tensor`]: constants and intermediate results.
//! * [`interpret`]: executes a graph in double precision, for constants and as the reference of the proof.
//! * [`lower`]: from a graph to `.nk` layers that compute the same.
//! * [`network`]: those layers with their tensors; writes the file.
//! * [`proof`]: compares a graph with the `.nk` model that was made from it.
//! * [`error`]: what is wrong with a file or its options.
//! * [`refusal`]: why a node cannot be converted, and what would work.

mod budget;
pub mod error;
pub mod fold;
pub mod graph;
mod identity;
pub mod interpret;
pub mod lower;
pub mod network;
pub mod onnx;
pub mod proof;
pub mod qdq;
pub mod refusal;
mod shapes;
pub mod source;
pub mod tensor;
pub mod tflite;
