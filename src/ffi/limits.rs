//! Version and limits
//!
//! Limits of the .nk format and sizes of the opaque handles. All are plain integers, fit for array sizes.

/// Version of the library, first number.
pub const NK_VERSION_MAJOR: u32 = 0;
/// Version of the library, second number.
pub const NK_VERSION_MINOR: u32 = 1;
/// Version of the library, third number.
pub const NK_VERSION_PATCH: u32 = 0;

/// Version of the binary interface that this header describes; see nk_check_abi().
pub const NK_ABI_VERSION: u32 = 1;

/// Most dimensions of a tensor.
pub const NK_MAX_TENSOR_RANK: usize = 4;
/// Most values in one input or output of an embedded test case.
pub const NK_MAX_CASE_FLOATS: usize = 16384;
/// Most layers of a model.
pub const NK_MAX_LAYERS: usize = 100;
/// Longest path, with its terminating zero, that is also tried with `../` in front.
pub const NK_MAX_PATH_LEN: usize = 256;
/// Size of an error message with its terminating zero.
pub const NK_MAX_MESSAGE_LEN: usize = 128;

/// Size of nk_arena_t in bytes.
pub const NK_ARENA_STORAGE_BYTES: usize = 64;
/// Size of nk_model_t in bytes.
pub const NK_MODEL_STORAGE_BYTES: usize = 96;
/// Size of an MLP handle in bytes.
pub const NK_MLP_STORAGE_BYTES: usize = 16;
/// Size of a CNN handle in bytes.
pub const NK_CNN_STORAGE_BYTES: usize = 16;

const _: () = {
    assert!(NK_MAX_TENSOR_RANK == crate::tensor::MAX_RANK);
    assert!(NK_MAX_LAYERS == crate::format::MAX_LAYERS as usize);
    assert!(NK_MAX_CASE_FLOATS == crate::format::MAX_CASE_FLOATS as usize);
};
