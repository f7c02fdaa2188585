//! Runs `.nk` neural-network files in memory that the caller provides: no heap, no std.
//!
//! ```text
//!  .nk bytes (flash, mapped file, caller's buffer)
//!     | format    every byte checked once; a borrowed view, nothing copied
//!     v
//!  Model          records, catalog, quantisation, test cases
//!     | layers    each of the 14 layer kinds becomes primitive steps; the only place that knows fused blocks
//!     v
//!  steps
//!     | plan      liveness -> offsets of activations and scratch; the answer to "how many bytes?"
//!     v
//!  Network        the plan in the caller's arena
//!     | run       executes the steps with the kernels of the best level; decides nothing, allocates nothing
//!     v
//!  output
//! ```
//!
//! `ffi` holds the C API, `host` what it needs of the C library, `summary` and `regression` what people read.
#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

#[expect(unsafe_code, reason = "lists through memory of the caller")]
mod arena;
mod element;
pub mod error;
pub mod fault;
#[expect(unsafe_code, reason = "the C interface")]
pub mod ffi;
pub mod format;
#[cfg(feature = "host")]
#[expect(unsafe_code, reason = "the C library")]
mod host;
pub mod kernels;
pub mod layers;
pub mod network;
pub mod plan;
pub mod regression;
mod run;
pub mod summary;
pub mod tensor;
pub mod text;

pub use error::{Error, ErrorKind};
pub use fault::Fault;
pub use format::Model;
pub use network::{Network, SharedNetwork};
pub use plan::MemoryPlan;
pub use run::Watcher;
