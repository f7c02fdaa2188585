//! TensorFlow Lite models: from a file to a network, and what its answers should be.
//!
//! ```text
//! bytes --schema, read--> Model --import--> operations over memory --lower--> Network
//!                           |
//!                           +--interpret--> answers, for the proof
//! ```

mod import;
pub mod interpret;
pub mod model;
mod names;
mod pads;
mod read;
mod schema;
mod source;

pub use read::read;
pub use source::Source;
