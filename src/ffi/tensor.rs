//! Tensors
//!
//! A tensor describes values that lie somewhere else, row-major unless its strides say otherwise. It owns nothing: the
//! values of a view are yours, those of a tensor that was created are the arena's. Extents whose product does not fit 32
//! bits of bytes give a view without values.

use core::ffi::{CStr, c_char, c_void};
use core::fmt::{self, Write};

use super::arena::{self, nk_arena_t};
use super::dtype::nk_dtype;
use super::errors::nk_status_t;
use super::last_error::report;
use super::limits::NK_MAX_TENSOR_RANK;
use super::raw::{invalid, required};
use super::{files, nk_dtype_int, print};
use crate::error::{Error, ErrorKind};
use crate::text::{Decimal4, Dims};

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

/// Makes a tensor [rows, cols] of floats in an arena. Its values are not cleared.
///
/// - arena: gives 4 * rows * cols bytes at a multiple of 4; when it is reset, the tensor ends.
/// - rows, cols: extents, at least 1.
/// - out: filled in on success.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL and for more than 4 GiB, or NK_ERR_ARENA_OVERFLOW when the arena has
/// too little room or an extent is 0. Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_create_2d(
    arena: *mut nk_arena_t,
    rows: u32,
    cols: u32,
    out: *mut nk_tensor_t,
) -> nk_status_t {
    // SAFETY: the conventions of the header, which `create` repeats.
    report(unsafe { create(arena, &[rows, cols], out) })
}

/// Makes a tensor of floats in an arena. Its values are not cleared.
///
/// - arena: gives 4 bytes for each element at a multiple of 4; when it is reset, the tensor ends.
/// - rank: number of dimensions, 1 to NK_MAX_TENSOR_RANK.
/// - shape: rank extents, at least 1 each, outermost first.
/// - out: filled in on success.
///
/// Returns NK_OK, NK_ERR_INVALID_ARGUMENT for NULL, another rank and more than 4 GiB, or NK_ERR_ARENA_OVERFLOW when the
/// arena has too little room or an extent is 0. Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_create_nd(
    arena: *mut nk_arena_t,
    rank: u32,
    shape: *const u32,
    out: *mut nk_tensor_t,
) -> nk_status_t {
    let mut extents = [0; NK_MAX_TENSOR_RANK];
    // SAFETY: the conventions of the header, which both repeat.
    report(unsafe { read_shape(rank, shape, &mut extents).and_then(|shape| create(arena, shape, out)) })
}

/// Makes a tensor over values of any type.
///
/// - data: the values, row-major; may be NULL.
/// - dtype: their type.
/// - rank: number of dimensions, 1 to NK_MAX_TENSOR_RANK.
/// - shape: rank extents, outermost first.
/// - out: filled in on success.
///
/// Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL as shape or out, another rank, an unknown type and more than 4 GiB.
/// Threads: any. Cost: constant. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_view_nd(
    data: *mut c_void,
    dtype: nk_dtype_int,
    rank: u32,
    shape: *const u32,
    out: *mut nk_tensor_t,
) -> nk_status_t {
    let mut extents = [0; NK_MAX_TENSOR_RANK];
    // SAFETY: the conventions of the header.
    report(unsafe { read_shape(rank, shape, &mut extents) }.and_then(|shape| {
        required(out, "out is NULL")?;
        let dtype = known_dtype(dtype).ok_or(invalid("dtype is not one of nk_dtype_t"))?;
        check_size(dtype, shape)?;
        // SAFETY: not NULL, and by the conventions room for a tensor.
        unsafe { write(out, view(data, dtype, shape)) };
        Ok(())
    }))
}

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

/// Copies floats to the first elements of a tensor.
///
/// - tensor: a tensor of floats; its elements must follow each other.
/// - values: count floats; they may overlap the tensor.
/// - count: number of floats, 1 to the number of elements. Elements beyond it stay as they are.
///
/// Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL, another count, and a tensor without values or of another type.
/// Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_fill(tensor: *mut nk_tensor_t, values: *const f32, count: u32) -> nk_status_t {
    // SAFETY: the conventions of the header, which `fill` repeats.
    report(unsafe { fill(tensor, values, count) })
}

/// Prints a tensor to C stdout under the name `Tensor`; otherwise as nk_tensor_print_labeled(). Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_print(tensor: *const nk_tensor_t) {
    // SAFETY: NULL is a label, and `tensor` is NULL or by the conventions a tensor.
    unsafe { nk_tensor_print_labeled(core::ptr::null(), tensor) };
}

/// Prints shape and values of a tensor to C stdout, in one line such as
/// `LABEL: shape=[2, 2] values=[1.0000, 2.5000, -3.0000, inf]`.
///
/// Floats have four decimals, integers none. All elements are printed in the order of memory; `values=[empty]` when there
/// are none or the type is unknown. Stdout is flushed. Builds without an operating system print nothing.
///
/// - label: UTF-8 text; `Tensor` when NULL. What follows a byte that is not UTF-8 is left out.
/// - tensor: a tensor; nothing is printed for NULL.
///
/// Threads: any; stdout is shared. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_tensor_print_labeled(label: *const c_char, tensor: *const nk_tensor_t) {
    // SAFETY: by the conventions NULL or a tensor.
    let Some(tensor) = (unsafe { get(tensor) }) else { return };
    // SAFETY: not NULL where it is read, and by the conventions a C string.
    let label = if label.is_null() { c"Tensor" } else { unsafe { CStr::from_ptr(label) } };
    print::with_stdout(|out| {
        // A stdout that takes no text is the business of the program that closed it.
        // SAFETY: by the conventions the tensor's values are there.
        let _ = unsafe { print_line(out, files::text_of(label.to_bytes()), &tensor) };
    });
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

/// The tensor at `tensor`, unless that is null.
///
/// # Safety
/// `tensor` is null or points to a tensor.
pub(super) unsafe fn get(tensor: *const nk_tensor_t) -> Option<nk_tensor> {
    // SAFETY: not null where it is read, and by this function's contract a tensor; every field may hold any bits.
    if tensor.is_null() { None } else { Some(unsafe { tensor.read_unaligned() }) }
}

impl nk_tensor {
    /// The extents; those of a rank above the largest are cut.
    pub(super) fn extents(&self) -> &[u32] {
        self.shape.get(..self.rank as usize).unwrap_or(&self.shape)
    }

    /// First element, or what is wrong with a tensor whose floats somebody wants to use.
    pub(super) fn floats(&self) -> Result<*mut f32, &'static str> {
        let data = self.data.cast::<f32>();
        if known_dtype(self.dtype) != Some(nk_dtype::NK_DTYPE_FLOAT32) {
            Err("the tensor is not of type float32")
        } else if data.is_null() {
            Err("the tensor has no values")
        } else if !data.is_aligned() {
            Err("the tensor's values lie at an address that is no multiple of 4")
        } else {
            Ok(data)
        }
    }
}

/// The first `rank` extents at `shape`.
///
/// # Safety
/// `shape` is null or points to `rank` extents.
unsafe fn read_shape(rank: u32, shape: *const u32, extents: &mut [u32; NK_MAX_TENSOR_RANK]) -> Result<&[u32], Error> {
    required(shape, "shape is NULL")?;
    let wrong = Error::new(ErrorKind::Argument).field("rank").found(u64::from(rank));
    if rank == 0 {
        return Err(wrong.at_least(1));
    }
    let Some(extents) = extents.get_mut(..rank as usize) else {
        return Err(wrong.at_most(NK_MAX_TENSOR_RANK as u64));
    };
    for (index, extent) in extents.iter_mut().enumerate() {
        // SAFETY: not null, and by this function's contract there are `rank` extents.
        *extent = unsafe { shape.add(index).read_unaligned() };
    }
    Ok(extents)
}

/// # Safety
/// Each pointer is null or as the header says: a handle, room for a tensor.
unsafe fn create(arena: *mut nk_arena_t, shape: &[u32], out: *mut nk_tensor_t) -> Result<(), Error> {
    required(arena, "arena is NULL")?;
    required(out, "out is NULL")?;
    let bytes = check_size(nk_dtype::NK_DTYPE_FLOAT32, shape)? as usize;
    if bytes == 0 {
        return Err(Error::new(ErrorKind::Arena).field("an extent").found(0).at_least(1));
    }
    // SAFETY: not null, and by this function's contract a handle.
    let mut state = unsafe { arena::get_or_empty(arena) };
    let data = state.request(bytes, align_of::<f32>(), "")?;
    // SAFETY: as above, and `out` has room for a tensor.
    unsafe {
        arena::store(arena, state);
        write(out, view(data.cast(), nk_dtype::NK_DTYPE_FLOAT32, shape));
    }
    Ok(())
}

/// # Safety
/// Each pointer is null or as the header says: a tensor, `count` floats.
unsafe fn fill(tensor: *mut nk_tensor_t, values: *const f32, count: u32) -> Result<(), Error> {
    // SAFETY: by this function's contract.
    let tensor = unsafe { get(tensor) }.ok_or(invalid("tensor is NULL"))?;
    required(values, "values is NULL")?;
    let wrong = Error::new(ErrorKind::Argument).field("count").found(u64::from(count));
    if count == 0 {
        return Err(wrong.at_least(1));
    }
    if count > tensor.num_elements {
        return Err(wrong.at_most(u64::from(tensor.num_elements)));
    }
    let data = tensor.floats().map_err(invalid)?;
    // SAFETY: by this function's contract both have `count` floats; as bytes they may lie anywhere.
    unsafe { core::ptr::copy(values.cast::<u8>(), data.cast::<u8>(), count as usize * size_of::<f32>()) };
    Ok(())
}

/// # Safety
/// The tensor's values are there.
unsafe fn print_line(out: &mut dyn Write, label: &str, tensor: &nk_tensor) -> fmt::Result {
    write!(out, "{label}: shape={} values=[", Dims(tensor.extents()))?;
    let dtype = known_dtype(tensor.dtype).filter(|_| !tensor.data.is_null() && tensor.num_elements > 0);
    for index in 0..if dtype.is_some() { tensor.num_elements as usize } else { 0 } {
        out.write_str(if index == 0 { "" } else { ", " })?;
        // SAFETY: by this function's contract there are so many values of that type.
        unsafe {
            match dtype {
                Some(nk_dtype::NK_DTYPE_FLOAT32) => write!(out, "{}", Decimal4(element(tensor, index)))?,
                Some(nk_dtype::NK_DTYPE_INT8) => write!(out, "{}", element::<i8>(tensor, index))?,
                Some(nk_dtype::NK_DTYPE_UINT8) => write!(out, "{}", element::<u8>(tensor, index))?,
                Some(nk_dtype::NK_DTYPE_INT16) => write!(out, "{}", element::<i16>(tensor, index))?,
                Some(nk_dtype::NK_DTYPE_INT32) => write!(out, "{}", element::<i32>(tensor, index))?,
                None => {}
            }
        }
    }
    out.write_str(if dtype.is_some() { "]\n" } else { "empty]\n" })
}

/// # Safety
/// The tensor has more than `index` values of this type.
unsafe fn element<T>(tensor: &nk_tensor, index: usize) -> T {
    // SAFETY: by this function's contract.
    unsafe { tensor.data.cast::<T>().add(index).read_unaligned() }
}

/// The type with this number. Only the lowest byte counts: the others are garbage where C compilers give enumerations one
/// byte.
fn known_dtype(dtype: nk_dtype_int) -> Option<nk_dtype> {
    use nk_dtype::*;
    [NK_DTYPE_FLOAT32, NK_DTYPE_INT8, NK_DTYPE_UINT8, NK_DTYPE_INT16, NK_DTYPE_INT32]
        .into_iter()
        .find(|&known| known as u8 == dtype as u8)
}

/// Bytes of a dense tensor, `None` when they do not fit 32 bits.
fn byte_count(dtype: nk_dtype, extents: &[u32]) -> Option<u32> {
    let element = match dtype {
        nk_dtype::NK_DTYPE_FLOAT32 | nk_dtype::NK_DTYPE_INT32 => 4,
        nk_dtype::NK_DTYPE_INT16 => 2,
        nk_dtype::NK_DTYPE_INT8 | nk_dtype::NK_DTYPE_UINT8 => 1,
    };
    u32::try_from(extents.iter().fold(element, |bytes: u64, &extent| bytes.saturating_mul(u64::from(extent)))).ok()
}

/// Bytes of a dense tensor, or the error that they are too many.
fn check_size(dtype: nk_dtype, extents: &[u32]) -> Result<u32, Error> {
    byte_count(dtype, extents).ok_or(invalid("shape: the elements have more bytes than 32 bits can count"))
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
pub(super) fn view(data: *mut c_void, dtype: nk_dtype, extents: &[u32]) -> nk_tensor {
    let (mut shape, mut stride) = ([0; NK_MAX_TENSOR_RANK], [0; NK_MAX_TENSOR_RANK]);
    let mut elements = 1u64;
    for axis in (0..extents.len()).rev() {
        // Meaningless, but harmless, when it does not fit: there are no values then.
        stride[axis] = elements as u32;
        shape[axis] = extents[axis];
        elements = elements.saturating_mul(u64::from(extents[axis]));
    }
    let bytes = byte_count(dtype, extents);
    nk_tensor {
        data: if bytes.is_some() { data } else { core::ptr::null_mut() },
        dtype: dtype as nk_dtype_int,
        rank: extents.len() as u32,
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
