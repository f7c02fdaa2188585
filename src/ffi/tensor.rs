//! Tensors
//!
//! A tensor describes values that lie somewhere else, row-major unless its strides say otherwise.

use core::ffi::c_void;

use super::limits::NK_MAX_TENSOR_RANK;
use super::nk_dtype_int;

/// Type of a tensor's elements.
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

/// Type of a tensor's elements.
pub type nk_dtype_t = nk_dtype;

/// Shape and place of an array of numbers. It owns nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct nk_tensor {
    /// First element.
    pub data: *mut c_void,
    /// Type of the elements.
    pub dtype: nk_dtype_int,
    /// Number of dimensions, 1 to NK_MAX_TENSOR_RANK.
    pub rank: u32,
    /// Extent of each dimension, outermost first; 0 beyond the rank.
    pub shape: [u32; NK_MAX_TENSOR_RANK],
    /// Elements from one index of a dimension to the next; 0 beyond the rank.
    pub stride: [u32; NK_MAX_TENSOR_RANK],
    /// Product of the extents.
    pub num_elements: u32,
    /// Size of all elements in bytes.
    pub bytes: u32,
}

/// Shape and place of an array of numbers.
pub type nk_tensor_t = nk_tensor;

const _: () = {
    use core::mem::offset_of;
    const POINTER: usize = size_of::<usize>();
    assert!(offset_of!(nk_tensor, dtype) == POINTER && offset_of!(nk_tensor, rank) == POINTER + 4);
    assert!(offset_of!(nk_tensor, shape) == POINTER + 8 && offset_of!(nk_tensor, stride) == POINTER + 24);
    assert!(offset_of!(nk_tensor, num_elements) == POINTER + 40 && offset_of!(nk_tensor, bytes) == POINTER + 44);
    assert!(size_of::<nk_tensor>() == POINTER + 48 && align_of::<nk_tensor>() == POINTER);
};
