//! Types of values

/// Type of the values of a tensor, an input or an output.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum nk_dtype {
    /// IEEE binary32.
    NK_DTYPE_FLOAT32 = 0,
    /// Signed 8-bit integer.
    NK_DTYPE_INT8 = 1,
    /// Unsigned 8-bit integer.
    NK_DTYPE_UINT8 = 2,
    /// Signed 16-bit integer.
    NK_DTYPE_INT16 = 3,
    /// Signed 32-bit integer.
    NK_DTYPE_INT32 = 4,
}

/// Type of the values of a tensor, an input or an output.
pub type nk_dtype_t = nk_dtype;
