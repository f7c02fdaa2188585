//! Tensors
//!
//! A tensor describes values that lie somewhere else, row-major unless its strides say otherwise. It owns nothing: the
//! values of a view are yours. Extents whose product does not fit 32 bits of bytes give a view without values.

use core::ffi::c_void;

use super::dtype::nk_dtype;
use super::limits::NK_MAX_TENSOR_RANK;
use super::nk_dtype_int;

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

/// Makes a tensor [rows, cols] over floats.
///
/// - data: rows * cols floats; may be NULL.
/// - rows, cols: extents.
/// - out: filled in.
///
/// Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_view_2d(data: *mut f32, rows: u32, cols: u32, out: *mut nk_tensor_t) {
    // SAFETY: `out` is NULL or by the conventions room for a tensor.
    unsafe { write(out, view(data.cast(), nk_dtype::NK_DTYPE_FLOAT32, &[rows, cols])) };
}

/// Makes a tensor [rows, cols] over int8 values, otherwise as nk_tensor_view_2d(). Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_view_2d_int8(data: *mut i8, rows: u32, cols: u32, out: *mut nk_tensor_t) {
    // SAFETY: `out` is NULL or by the conventions room for a tensor.
    unsafe { write(out, view(data.cast(), nk_dtype::NK_DTYPE_INT8, &[rows, cols])) };
}

/// Makes a tensor [h, w, c] over int8 values, otherwise as nk_tensor_view_2d(). Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_view_3d_int8(data: *mut i8, h: u32, w: u32, c: u32, out: *mut nk_tensor_t) {
    // SAFETY: `out` is NULL or by the conventions room for a tensor.
    unsafe { write(out, view(data.cast(), nk_dtype::NK_DTYPE_INT8, &[h, w, c])) };
}

/// Makes a tensor [1, length], which has rank 2, over int32 values, otherwise as nk_tensor_view_2d(). Threads: any.
/// Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_view_1d_int32(data: *mut i32, length: u32, out: *mut nk_tensor_t) {
    // SAFETY: `out` is NULL or by the conventions room for a tensor.
    unsafe { write(out, view(data.cast(), nk_dtype::NK_DTYPE_INT32, &[1, length])) };
}

/// First float of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_f32(tensor: *mut nk_tensor_t) -> *mut f32 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_FLOAT32) }.cast()
}

/// The same for a tensor that must not be changed. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_f32_const(tensor: *const nk_tensor_t) -> *const f32 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_FLOAT32) }.cast()
}

/// First int8 value of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_i8(tensor: *mut nk_tensor_t) -> *mut i8 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_INT8) }.cast()
}

/// The same for a tensor that must not be changed. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_i8_const(tensor: *const nk_tensor_t) -> *const i8 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_INT8) }.cast()
}

/// First int32 value of a tensor; NULL when its type is another one. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_i32(tensor: *mut nk_tensor_t) -> *mut i32 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_INT32) }.cast()
}

/// The same for a tensor that must not be changed. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_data_i32_const(tensor: *const nk_tensor_t) -> *const i32 {
    // SAFETY: `tensor` is NULL or by the conventions a tensor.
    unsafe { data(tensor, nk_dtype::NK_DTYPE_INT32) }.cast()
}

/// Index of an element in a tensor [height, width, channels] whose elements follow each other.
///
/// - tensor: its shape counts; rank and bounds are not checked.
/// - h, w, c: position.
///
/// Returns (h * width + w) * channels + c, cut to 32 bits; 0 for NULL. Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_index_nhwc(tensor: *const nk_tensor_t, h: u32, w: u32, c: u32) -> u32 {
    if tensor.is_null() {
        return 0;
    }
    // SAFETY: not NULL, and by the conventions a tensor.
    let [_, width, channels, _] = unsafe { (&raw const (*tensor).shape).read_unaligned() };
    h.wrapping_mul(width).wrapping_add(w).wrapping_mul(channels).wrapping_add(c)
}

/// The place of a tensor's elements if they have this type, else null.
///
/// # Safety
/// `tensor` is null or points to a tensor.
unsafe fn data(tensor: *const nk_tensor_t, wanted: nk_dtype) -> *mut c_void {
    if tensor.is_null() {
        return core::ptr::null_mut();
    }
    // SAFETY: not null, and by this function's contract a tensor.
    let (data, dtype) =
        unsafe { ((&raw const (*tensor).data).read_unaligned(), (&raw const (*tensor).dtype).read_unaligned()) };
    // The other bytes of the type are garbage where C compilers give enumerations one byte.
    if dtype as u8 == wanted as u8 { data } else { core::ptr::null_mut() }
}

/// # Safety
/// `out` is null or has room for a tensor.
unsafe fn write(out: *mut nk_tensor_t, tensor: nk_tensor) {
    if !out.is_null() {
        // SAFETY: not null, and by this function's contract room for a tensor.
        unsafe { out.write_unaligned(tensor) };
    }
}

/// A dense tensor; one without values when they would not fit 32 bits of bytes.
pub(super) fn view<const RANK: usize>(data: *mut c_void, dtype: nk_dtype, extents: &[u32; RANK]) -> nk_tensor {
    let (mut shape, mut stride) = ([0; NK_MAX_TENSOR_RANK], [0; NK_MAX_TENSOR_RANK]);
    let mut elements = 1u64;
    for axis in (0..RANK).rev() {
        // Meaningless, but harmless, when it does not fit: there are no values then.
        stride[axis] = elements as u32;
        shape[axis] = extents[axis];
        elements = elements.saturating_mul(u64::from(extents[axis]));
    }
    let element = if dtype == nk_dtype::NK_DTYPE_INT8 { 1 } else { 4 };
    let bytes = u32::try_from(elements.saturating_mul(element)).ok();
    nk_tensor {
        data: if bytes.is_some() { data } else { core::ptr::null_mut() },
        dtype: dtype as nk_dtype_int,
        rank: RANK as u32,
        shape,
        stride,
        num_elements: if bytes.is_some() { elements as u32 } else { 0 },
        bytes: bytes.unwrap_or(0),
    }
}

const _: () = {
    use core::mem::offset_of;
    const POINTER: usize = size_of::<usize>();
    assert!(offset_of!(nk_tensor, dtype) == POINTER && offset_of!(nk_tensor, rank) == POINTER + 4);
    assert!(offset_of!(nk_tensor, shape) == POINTER + 8 && offset_of!(nk_tensor, stride) == POINTER + 24);
    assert!(offset_of!(nk_tensor, num_elements) == POINTER + 40 && offset_of!(nk_tensor, bytes) == POINTER + 44);
    assert!(size_of::<nk_tensor>() == POINTER + 48 && align_of::<nk_tensor>() == POINTER);
};
