//! From layers to a plan: which steps run, and where every byte lies.
//!
//! ```text
//! lowering.rs   what layers/ use to turn a record into steps
//! steps.rs      the steps
//! tables.rs     integer tables of int8 steps
//! placement.rs  liveness -> offsets of activations and scratch
//! memory.rs     the answer to "how many bytes?", and the plan written into the arena
//! code.rs       the plan of a model that becomes code
//! layers.rs     what a plan makes of each layer, told one after another
//! ```

mod code;
mod layers;
pub mod lowering;
mod memory;
pub mod placement;
pub mod steps;
pub mod tables;

pub use code::CodePlan;
pub use layers::LayerFacts;
pub(crate) use layers::for_each_layer;
pub(crate) use memory::ALIGN_BYTES;
pub use memory::{Event, MemoryPlan, shapes};
pub(crate) use placement::Scheme;
