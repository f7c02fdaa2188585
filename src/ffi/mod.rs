//! NETKIT - runs .nk neural-network files inside memory that you provide
//!
//! Three calls are enough:
//!
//! ```c
//! #include <nk.h>
//! #include <stdio.h>
//!
//! static unsigned char memory[64 * 1024];
//!
//! int main(void) {
//!     nk_arena_t arena;
//!     nk_model_t model;
//!     float input[2] = {1.0f, 2.0f}, output[2];
//!     uint32_t count;
//!
//!     nk_arena_init(&arena, memory, sizeof memory);
//!     if (nk_load("models/test_mlp.nk", &arena, &model) != NK_OK ||
//!         nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
//!         puts(nk_last_error());
//!         return 1;
//!     }
//!     printf("%g %g\n", output[0], output[1]);
//!     return 0;
//! }
//! ```
//!
//! CONVENTIONS
//!
//! They hold for every function; a function's own text only adds to them.
//!
//! Memory. Everything a model needs lives in an arena: a range of your memory that is handed out from front to back.
//! Loading and running never touch the heap. Loading takes a number of arena bytes that nk_plan_memory() tells
//! beforehand, running takes none. A weight is read where it lies, in your buffer or in the mapped file; the buffer of
//! a model loaded from memory must stay as it is until the model is no longer used, and is never written to. What is
//! free of an arena belongs to the library, which keeps weights there in the order of its kernels to run faster; they
//! give way when you take the memory, so write only to what nk_arena_alloc() gave you. nk_recommended_arena_bytes()
//! has room for them; in a smaller arena models run with the same answers.
//!
//! Ownership. A handle (nk_arena_t, nk_model_t) is plain data in your hands: it may lie anywhere, be copied with `=` or
//! memcpy(), and needs no destructor. Copies are names for the same thing. The arena owns what was loaded into it:
//! resetting or destroying it ends every model in it and unmaps their files. Strings that a function returns are the
//! library's; those of nk_last_error() change with the next call on the same thread, all others never do.
//!
//! Errors. A function that can fail returns nk_status_t: NK_OK is 0, everything else left a sentence behind that
//! nk_last_error() returns. Outputs are written on success only, unless the function says otherwise. A load that fails
//! leaves the arena as it was.
//!
//! NULL. A NULL pointer where an object is needed is never dereferenced: a function that returns a status answers
//! NK_ERR_INVALID_ARGUMENT, a query answers 0, NULL or false, and a function without a result does nothing. The same
//! goes for a handle of zero bytes and, with overwhelming likelihood, for one that was never initialised.
//!
//! Threads. The library has no global state that calls share, except the last error, which every thread has for itself
//! on Unix and which the whole program shares elsewhere, and the functions of yours that nk_set_clock(),
//! nk_set_log_callback() and nk_set_print_callback() set for the whole process. Different models in different arenas may be loaded and run at
//! the same time. One arena, and all models in it, belong to one thread at a time: a run writes to the arena that the
//! model was loaded into; nk_model_run_scratch() lets several threads run one model. "Threads: any" below means any thread, as long as no other one uses the same objects.
//!
//! Alignment. An arena and the bytes of a model may start at any address; an address that is no multiple of 4 makes the
//! library copy weights into the arena. Tensors of floats are arrays of float and aligned as such.
//!
//! Numbers. Counts are elements, names that end in _bytes are bytes. A shape lists the outermost dimension first:
//! [rows, features] for an MLP, [height, width, channels] for a CNN; elements follow each other in that order, the last
//! dimension fastest. An enumeration argument may hold any number; what is not listed counts as unknown.
//!
//! Builds. The functions are the same in every build for an operating system. One that was made without the cargo feature
//! f32 or int8 refuses to plan and load networks of that type, with NK_ERR_UNSUPPORTED_NETWORK; without f32 there are
//! no operations on tensors and no single convolutions either. nk_build_info() tells what is missing.
//!
//! Versions. "Since" names the version of the library that first had a function. Structures that may grow begin with
//! struct_size, which you set to the sizeof of the structure.

// Everything C sees is in this directory, one file per section of `include/nk.h`. The header is generated from it
// (tests/header.rs): the text above opens the header, and the `//!` lines of a section's file open the section.
//
//     limits.rs errors.rs version.rs arena.rs arena_extras.rs heap_arena.rs inspect.rs model.rs dtype.rs tensor.rs
//     ops.rs conv.rs model_info.rs int8.rs mlp.rs cnn/ typed_load.rs scratch.rs layers.rs hooks.rs output.rs tests.rs
//     cli.rs
//
// The rest serves them:
//
//     handle.rs       what lies inside an nk_model_t
//     builder/        what lies behind an nk_mlp_t and an nk_cnn_t
//     run.rs          checks and buffers of a run
//     last_error.rs   the record behind nk_last_error
//     files.rs        from a path to the bytes of a file
//     mappings.rs     the list of mapped files that an arena owns
//     print.rs        C stdout or the program's print function
//     callbacks.rs    functions of the program that the process shares
//     cli_options.rs, cli_commands.rs    what nk_cli_run does
//     suite.rs        models that nk_run_all_tests runs where they are all there
//     float_kernels.rs, no_float_kernels.rs    what ops.rs and conv.rs compute with
//     raw.rs          checked steps from a pointer to a value
//
// An exported function checks its pointers, converts, and calls safe Rust. It decides the status before it builds a
// slice, because a caller may pass a short buffer to a call that has to be refused.
#![expect(non_camel_case_types, reason = "types and constants carry the names that C uses")]
#![allow(rustdoc::broken_intra_doc_links, reason = "[channels] in the text of the C header is a shape, not a link")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the conventions at the top of this file are the contract of every exported function"
)]

mod arena;
mod arena_extras;
mod builder;
mod callbacks;
#[cfg(feature = "host")]
mod cli;
#[cfg(feature = "host")]
mod cli_commands;
#[cfg(feature = "host")]
mod cli_options;
mod cnn;
mod conv;
mod dtype;
mod errors;
mod files;
#[cfg_attr(not(feature = "f32"), path = "no_float_kernels.rs")]
mod float_kernels;
mod handle;
#[cfg(feature = "host")]
mod heap_arena;
mod hooks;
mod inspect;
mod int8;
pub(crate) mod last_error;
mod layers;
#[cfg(all(test, feature = "host"))]
mod lifecycle;
mod limits;
mod mappings;
mod mlp;
mod model;
mod model_info;
mod ops;
mod output;
mod packing;
mod print;
mod raw;
mod run;
mod scratch;
#[cfg(feature = "host")]
mod suite;
mod tensor;
#[cfg(feature = "host")]
mod tests;
mod typed_load;
mod version;

pub use arena::*;
pub use arena_extras::*;
#[cfg(feature = "host")]
pub use cli::*;
pub use cnn::*;
pub use conv::*;
pub use dtype::*;
pub use errors::*;
#[cfg(feature = "host")]
pub use heap_arena::*;
pub use hooks::*;
pub use inspect::*;
pub use int8::*;
pub use layers::*;
pub use limits::*;
pub use mlp::*;
pub use model::*;
pub use model_info::*;
pub use ops::*;
pub use output::*;
pub use scratch::*;
pub use tensor::*;
#[cfg(feature = "host")]
pub use tests::*;
pub use typed_load::*;
pub use version::*;

/// One byte of an opaque handle. The header gives the first byte the strictest alignment of the target.
pub type nk_storage_byte = u8;

/// An `nk_status_t` that comes from C and may hold any number.
pub type nk_status_int = core::ffi::c_int;

/// An `nk_cnn_block_type_t` that comes from C and may hold any number.
pub type nk_block_type_int = core::ffi::c_uint;

/// An `nk_dtype_t` that comes from C and may hold any number. Where C compilers give enumerations the smallest size, as
/// on bare-metal Arm, only its lowest byte counts.
pub type nk_dtype_int = core::ffi::c_uint;

/// An `nk_activation_t` that comes from C and may hold any number.
pub type nk_activation_int = core::ffi::c_uint;

/// An `nk_conv_activation_t` that comes from C and may hold any number.
pub type nk_conv_activation_int = core::ffi::c_uint;
