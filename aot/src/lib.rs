//! Turns a `.nk` model into C: ahead of time, on the machine of whoever builds firmware.
//!
//! ```text
//!  Model
//!     | program.rs    its steps with the offsets of the planner, tables and weights as data
//!     v
//!  Program
//!     | steps/        each kind of step: its weights in the order of its kernel, its parameters, its call
//!     v
//!  Source             source.rs: constants, calls and which kernels they need
//!     | lowered.rs    put together with kernels/**/*.c and templates/
//!     v
//!  Package            package.rs: files, and what they cost on the target
//! ```
//!
//! `embed.rs` is the other mode, which leaves the work to the library: the model's bytes as an array, and the calls. The
//! kernels are C files that `kernels.rs` lists; nothing of them is made up here, so that they can be read, compiled and
//! tested as they are.

mod arduino;
mod cases;
mod embed;
mod error;
mod interface;
mod kernels;
mod lowered;
mod main_program;
mod options;
mod package;
mod program;
mod source;
mod steps;
mod symbol;
mod template;
mod text;

pub use error::Error;
pub use options::{Layout, Mode, Options, Scratch};
pub use package::{Cost, File, LayerCost, Package};
pub use symbol::Symbol;

use netkit::Model;

/// The files that stand for `model`, of which the comments say that it comes from `file_name`.
pub fn generate(model: &Model<'_>, file_name: &str, symbol: &Symbol, options: &Options) -> Result<Package, Error> {
    match options.mode {
        Mode::Lowered => lowered::generate(model, file_name, symbol, options),
        Mode::Embed => embed::generate(model, file_name, symbol, options),
    }
}
