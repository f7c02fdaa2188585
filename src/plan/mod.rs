//! From layers to a plan: which steps run, and where every byte lies.
//!
//! ```text
//! lowering.rs   what layers/ use to turn a record into steps
//! steps.rs      the steps
//! placement.rs  liveness -> offsets of activations and scratch
//! memory.rs     the answer to "how many bytes?", and the plan written into the arena
//! ```

pub mod lowering;
mod memory;
pub mod placement;
pub mod steps;

pub(crate) use memory::ALIGN_BYTES;
pub use memory::{MemoryPlan, shapes};
