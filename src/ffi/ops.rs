//! Operations on tensors
//!
//! They work on tensors of floats. The checks tell whether shapes fit; an operation checks for itself. When its tensors do
//! not fit, it prints a line to C stdout, such as `MulND shape mismatch` or `ReLU: the tensor is not of type float32`, and
//! writes nothing; with NULL as a tensor it does nothing at all. Builds without an operating system print nothing.
//!
//! All but nk_ops_mat_add() and nk_ops_mat_mul() take the elements of a tensor in the order of memory and do not look at
//! strides. The result may be written over an operand: `c` is the same tensor as `a` or `b`, or apart from both. Only
//! nk_ops_mat_mul() needs it to be apart.

use core::ops::Range;

use super::errors::nk_status_t;
use super::float_kernels;
use super::last_error::report;
use super::print;
use super::raw::{Span, invalid};
use super::tensor::{nk_tensor, nk_tensor_t};
use crate::element;
use crate::error::{Error, ErrorKind};
use crate::kernels::args::Columns;
use crate::kernels::{Activation, Dense, Epilogue, Kernels};
use crate::tensor::checked_product;

/// Whether two tensors have the same shape; false for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_is_elementwise_valid(a: *const nk_tensor_t, b: *const nk_tensor_t) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, b]) }.is_some_and(|all| same_shape(&all))
}

/// Whether three tensors are matrices of the same shape; false for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_check_same_shape_2d(
    a: *const nk_tensor_t,
    b: *const nk_tensor_t,
    c: *const nk_tensor_t,
) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, b, c]) }.is_some_and(|all| same_shape(&all) && are_matrices(&all))
}

/// Whether three tensors have the same shape; false for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_check_same_shape_nd(
    a: *const nk_tensor_t,
    b: *const nk_tensor_t,
    c: *const nk_tensor_t,
) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, b, c]) }.is_some_and(|all| same_shape(&all))
}

/// Whether `c` has the shape of the matrix product of `a` and `b`; false for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_is_matmul_valid(
    a: *const nk_tensor_t,
    b: *const nk_tensor_t,
    c: *const nk_tensor_t,
) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, b, c]) }.is_some_and(|all| is_matrix_product(&all))
}

/// Whether three tensors have the same shape, which may have any rank; false for NULL. Threads: any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_is_elementwise_valid_nd(
    a: *const nk_tensor_t,
    b: *const nk_tensor_t,
    c: *const nk_tensor_t,
) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, b, c]) }.is_some_and(|all| same_shape(&all))
}

/// Whether the result of an operation on `a` can be written to `c`: both have the same shape; false for NULL. Threads:
/// any. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_is_unary_op_valid(a: *const nk_tensor_t, c: *const nk_tensor_t) -> bool {
    // SAFETY: each is NULL or by the conventions a tensor.
    unsafe { all([a, c]) }.is_some_and(|all| same_shape(&all))
}

/// Multiplies two tensors of the same shape element by element: c = a * b.
///
/// - a, b: operands.
/// - c: receives the products in the order of memory; needs as many elements, in any shape.
///
/// Prints `Mul error: shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mul(a: *const nk_tensor_t, b: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some([a, b, c]) = (unsafe { all([a, b, c]) }) else { return };
    let fits = same_shape(&[a, b]);
    // SAFETY: by the conventions the tensors' values are there.
    say("Mul", "Mul error: shape mismatch", unsafe { binary(fits, &[a, b, c], multiply) });
}

/// Multiplies all elements of a tensor by a number: c = a * scalar.
///
/// - a: operand.
/// - scalar: the number.
/// - c: receives the products in the order of memory; needs as many elements, in any shape.
///
/// Prints `MulScalar shape mismatch` when `c` has fewer elements. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mul_scalar(a: *const nk_tensor_t, scalar: f32, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some([a, c]) = (unsafe { all([a, c]) }) else { return };
    let multiply_all = |kernels: &Kernels, data: &mut [f32]| multiply(kernels, data, &[scalar; BLOCK]);
    // SAFETY: by the conventions the tensors' values are there.
    say("MulScalar", "MulScalar shape mismatch", unsafe { unary(true, &[a, c], multiply_all) });
}

/// Adds two matrices: c = a + b.
///
/// The strides of all three are honoured, so that a matrix may be part of a larger one or lie transposed.
///
/// - a, b: matrices of the same shape.
/// - c: receives the sums; same shape.
///
/// Prints `Shape mismatch in Add()` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mat_add(a: *const nk_tensor_t, b: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some(all) = (unsafe { all([a, b, c]) }) else { return };
    // SAFETY: by the conventions the tensors' values are there.
    say("Add", "Shape mismatch in Add()", unsafe { add_matrices(&all) });
}

/// Adds two tensors of the same shape element by element: c = a + b.
///
/// - a, b: operands of any rank.
/// - c: receives the sums; same shape.
///
/// Prints `Shape mismatch in AddND()` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mat_add_nd(a: *const nk_tensor_t, b: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some(all) = (unsafe { all([a, b, c]) }) else { return };
    // SAFETY: by the conventions the tensors' values are there.
    say("AddND", "Shape mismatch in AddND()", unsafe { binary(same_shape(&all), &all, add) });
}

/// Multiplies two matrices: c = a b.
///
/// The strides of all three are honoured, so that a matrix may be part of a larger one or lie transposed.
///
/// - a: [rows, n].
/// - b: [n, columns].
/// - c: [rows, columns]; must not overlap the others.
///
/// Prints `MatMul shape mismatch` when the shapes do not fit. Threads: any. Cost: rows * n * columns multiplications;
/// about 200 bytes of stack. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mat_mul(a: *const nk_tensor_t, b: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some(all) = (unsafe { all([a, b, c]) }) else { return };
    // SAFETY: by the conventions the tensors' values are there.
    say("MatMul", "MatMul shape mismatch", unsafe { multiply_matrices(&all) });
}

/// Multiplies two tensors of the same shape element by element: c = a * b.
///
/// - a, b: operands of any rank.
/// - c: receives the products; same shape.
///
/// Prints `MulND shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_mul_nd(a: *const nk_tensor_t, b: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some(all) = (unsafe { all([a, b, c]) }) else { return };
    // SAFETY: by the conventions the tensors' values are there.
    say("MulND", "MulND shape mismatch", unsafe { binary(same_shape(&all), &all, multiply) });
}

/// Rectifies: c = a where a > 0, else 0. NaN becomes 0.
///
/// - a: operand.
/// - c: receives the result; same shape.
///
/// Prints `ReLU shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_relu(a: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: the conventions of the header, which `activate` repeats.
    unsafe { activate("ReLU", "ReLU shape mismatch", a, c, Activation::Relu) };
}

/// Logistic function: c = 1 / (1 + exp(-a)).
///
/// - a: operand.
/// - c: receives the result; same shape.
///
/// Prints `Sigmoid shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_sigmoid(a: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: the conventions of the header, which `activate` repeats.
    unsafe { activate("Sigmoid", "Sigmoid shape mismatch", a, c, Activation::Sigmoid) };
}

/// Hyperbolic tangent: c = tanh(a).
///
/// - a: operand.
/// - c: receives the result; same shape.
///
/// Prints `Tanh shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_tanh(a: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: the conventions of the header, which `activate` repeats.
    unsafe { activate("Tanh", "Tanh shape mismatch", a, c, Activation::Tanh) };
}

/// Leaky rectifier: c = a where a > 0, else alpha * a.
///
/// - a: operand.
/// - c: receives the result; same shape.
/// - alpha: slope below 0.
///
/// Prints `LeakyReLU shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_leaky_relu(a: *const nk_tensor_t, c: *mut nk_tensor_t, alpha: f32) {
    // SAFETY: the conventions of the header, which `activate` repeats.
    unsafe { activate("LeakyReLU", "LeakyReLU shape mismatch", a, c, Activation::LeakyRelu(alpha)) };
}

/// Rectifier with a ceiling: c = min(max(a, 0), 6). NaN stays NaN.
///
/// - a: operand.
/// - c: receives the result; same shape.
///
/// Prints `ReLU6 shape mismatch` when the shapes do not fit. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_relu6(a: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: the conventions of the header, which `activate` repeats.
    unsafe { activate("ReLU6", "ReLU6 shape mismatch", a, c, Activation::Relu6) };
}

/// Softmax over all elements of a tensor, whatever its shape: c = exp(a - max) / sum of exp(a - max). See
/// nk_ops_softmax_axis() for the softmax of each row.
///
/// - a: operand.
/// - c: receives the result in the order of memory; needs as many elements, in any shape.
///
/// Prints `Softmax shape mismatch` when `c` has fewer elements. Threads: any. Cost: linear. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_softmax(a: *const nk_tensor_t, c: *mut nk_tensor_t) {
    // SAFETY: each is NULL or by the conventions a tensor.
    let Some([a, c]) = (unsafe { all([a, c]) }) else { return };
    let softmax = |kernels: &Kernels, data: &mut [f32]| {
        let all = data.len();
        (kernels.softmax)(data, all);
    };
    // SAFETY: by the conventions the tensors' values are there.
    say("Softmax", "Softmax shape mismatch", unsafe { unary(true, &[a, c], softmax) });
}

/// Softmax along one dimension: the elements that differ in that index alone sum to 1. Unlike its neighbours it prints
/// nothing and returns a status.
///
/// - a: operand; its elements must follow each other.
/// - c: receives the result; same shape. It may be the same tensor as `a`.
/// - axis: the dimension from 0, outermost first; a negative one counts from behind, -1 being the last.
///
/// Returns NK_OK, or NK_ERR_INVALID_ARGUMENT for NULL, a dimension that `a` does not have, different shapes, and a tensor
/// without values or of another type; a build without float networks refuses. Threads: any. Cost:
/// linear; the last dimension is the fastest. Since 0.1.0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nk_ops_softmax_axis(a: *const nk_tensor_t, c: *mut nk_tensor_t, axis: i32) -> nk_status_t {
    // SAFETY: each is NULL or by the conventions a tensor.
    let tensors = unsafe { all([a, c]) }.ok_or(invalid("a or c is NULL"));
    report(tensors.and_then(|[a, c]| {
        element::require(false)?;
        let (row, step) = axis_of(&a, axis)?;
        let along_axis = |kernels: &Kernels, data: &mut [f32]| softmax_along(kernels, data, row, step);
        // SAFETY: by the conventions the tensors' values are there.
        unsafe { unary(same_shape(&[a, c]), &[a, c], along_axis) }.map_err(|refusal| match refusal {
            Refusal::Shape => invalid("a and c do not have the same shape"),
            Refusal::Tensor(what) => invalid(what),
        })
    }))
}

/// Elements that are staged on the stack at a time: 128 bytes.
const BLOCK: usize = 32;

/// Why an operation does not write.
#[derive(Clone, Copy, Debug)]
pub(super) enum Refusal {
    /// Shapes that do not fit each other.
    Shape,
    /// Something else, as a sentence about a tensor.
    Tensor(&'static str),
}

impl From<&'static str> for Refusal {
    fn from(what: &'static str) -> Self {
        Refusal::Tensor(what)
    }
}

/// Prints why the operation `name` did not write: `mismatch` for shapes that do not fit.
pub(super) fn say(name: &str, mismatch: &str, result: Result<(), Refusal>) {
    let Err(refusal) = result else { return };
    print::with_stdout(|out| {
        // A stdout that takes no text is the business of the program that closed it.
        let _ = match refusal {
            Refusal::Shape => writeln!(out, "{mismatch}"),
            Refusal::Tensor(what) => writeln!(out, "{name}: {what}"),
        };
    });
}

/// The tensors behind pointers, unless one is null.
///
/// # Safety
/// Each is null or points to a tensor.
unsafe fn all<const N: usize>(pointers: [*const nk_tensor_t; N]) -> Option<[nk_tensor; N]> {
    if pointers.iter().any(|pointer| pointer.is_null()) {
        return None;
    }
    // SAFETY: not null, and by this function's contract a tensor each.
    Some(pointers.map(|pointer| unsafe { pointer.read_unaligned() }))
}

fn same_shape(tensors: &[nk_tensor]) -> bool {
    let Some((first, others)) = tensors.split_first() else { return true };
    others.iter().all(|other| other.rank == first.rank && other.extents() == first.extents())
}

fn are_matrices(tensors: &[nk_tensor]) -> bool {
    tensors.iter().all(|tensor| tensor.rank == 2)
}

fn is_matrix_product(all: &[nk_tensor; 3]) -> bool {
    let [a, b, c] = all;
    are_matrices(all) && a.shape[1] == b.shape[0] && c.shape[..2] == [a.shape[0], b.shape[1]]
}

/// `data[i] *= factors[i]`, the factors over and over again. The shift of minus zero leaves every product as it is.
fn multiply(kernels: &Kernels, data: &mut [f32], factors: &[f32]) {
    const NOTHING: [f32; BLOCK] = [-0.0; BLOCK];
    (kernels.batch_norm2d)(data, factors, &NOTHING[..factors.len()]);
}

/// `data[i] += other[i]`
fn add(kernels: &Kernels, data: &mut [f32], other: &[f32]) {
    (kernels.add)(data, other);
}

/// # Safety
/// Each pointer is null or points to a tensor whose values are there.
unsafe fn activate(name: &str, mismatch: &str, a: *const nk_tensor_t, c: *const nk_tensor_t, activation: Activation) {
    // SAFETY: by this function's contract.
    let Some(all) = (unsafe { all([a, c]) }) else { return };
    let activate = |kernels: &Kernels, data: &mut [f32]| (kernels.activate)(data, activation);
    // SAFETY: by this function's contract.
    say(name, mismatch, unsafe { unary(same_shape(&all), &all, activate) });
}

/// Copies the elements of the first tensor to the second and lets `operation` work on them there.
///
/// # Safety
/// The tensors' values are there.
unsafe fn unary(
    fits: bool,
    [a, c]: &[nk_tensor; 2],
    operation: impl FnOnce(&Kernels, &mut [f32]),
) -> Result<(), Refusal> {
    let kernels = float_kernels::active()?;
    if !fits || c.num_elements < a.num_elements {
        return Err(Refusal::Shape);
    }
    let (from, to, count) = (a.floats()?, c.floats()?, a.num_elements as usize);
    // SAFETY: by this function's contract there are `count` floats in both. `copy` allows any overlap, and afterwards the
    // slice is the only way to the values.
    let data = unsafe {
        core::ptr::copy(from, to, count);
        core::slice::from_raw_parts_mut(to, count)
    };
    operation(kernels, data);
    Ok(())
}

/// An operation that changes its first operand.
type Combine = fn(&Kernels, &mut [f32], &[f32]);

/// `c = operation(a, b)` in the order of memory.
///
/// # Safety
/// The tensors' values are there.
unsafe fn binary(fits: bool, [a, b, c]: &[nk_tensor; 3], operation: Combine) -> Result<(), Refusal> {
    let kernels = float_kernels::active()?;
    if !fits || b.num_elements < a.num_elements || c.num_elements < a.num_elements {
        return Err(Refusal::Shape);
    }
    let line = |tensor: &nk_tensor| Ok::<_, Refusal>(Line { data: tensor.floats()?, step: 1 });
    let (a_line, b_line, c_line) = (line(a)?, line(b)?, line(c)?);
    // SAFETY: by this function's contract there are so many floats in each.
    unsafe { combine(kernels, [a_line, b_line, c_line], a.num_elements as usize, operation) };
    Ok(())
}

/// Floats that lie `step` elements apart.
#[derive(Clone, Copy, Debug)]
struct Line {
    data: *mut f32,
    step: usize,
}

impl Line {
    /// # Safety
    /// There is a float at `index`.
    unsafe fn get(self, index: usize) -> f32 {
        // SAFETY: by this function's contract.
        unsafe { self.data.add(index * self.step).read() }
    }

    /// # Safety
    /// There is a float at `index`.
    unsafe fn set(self, index: usize, value: f32) {
        // SAFETY: by this function's contract.
        unsafe { self.data.add(index * self.step).write(value) };
    }
}

/// `c[i] = operation(a[i], b[i])`. A block of operands is copied to the stack first, so that lines may be the same.
///
/// # Safety
/// There are `count` floats in each line.
unsafe fn combine(kernels: &Kernels, [a, b, c]: [Line; 3], count: usize, operation: Combine) {
    let (mut left, mut right) = ([0.0; BLOCK], [0.0; BLOCK]);
    for start in (0..count).step_by(BLOCK) {
        let block = BLOCK.min(count - start);
        let (left, right) = (&mut left[..block], &mut right[..block]);
        for (index, (x, y)) in left.iter_mut().zip(right.iter_mut()).enumerate() {
            // SAFETY: the index is below `count`.
            unsafe { (*x, *y) = (a.get(start + index), b.get(start + index)) };
        }
        operation(kernels, left, right);
        for (index, &x) in left.iter().enumerate() {
            // SAFETY: the index is below `count`.
            unsafe { c.set(start + index, x) };
        }
    }
}

/// A matrix of floats in memory.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    data: *mut f32,
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl Matrix {
    fn of(tensor: &nk_tensor) -> Result<Self, Refusal> {
        let ([rows, columns, ..], [row_step, column_step, ..]) = (tensor.shape, tensor.stride);
        let data = tensor.floats()?;
        let last = |extent: u32, step: u32| u64::from(extent.saturating_sub(1)) * u64::from(step);
        // Two products of 32 bits each do not overflow 64 bits together.
        let elements = last(rows, row_step).saturating_add(last(columns, column_step)).saturating_add(1);
        if elements > (isize::MAX as u64) / size_of::<f32>() as u64 {
            return Err(Refusal::Tensor("the strides reach further than memory does"));
        }
        let [rows, columns, row_step, column_step] = [rows, columns, row_step, column_step].map(|n| n as usize);
        Ok(Self { data, rows, columns, row_step, column_step })
    }

    fn row(self, row: usize) -> Line {
        Line { data: self.data.wrapping_add(row * self.row_step), step: self.column_step }
    }

    fn column(self, column: usize) -> Line {
        Line { data: self.data.wrapping_add(column * self.column_step), step: self.row_step }
    }

    fn span(self) -> Span {
        if self.rows == 0 || self.columns == 0 {
            return Span::of(self.data, 0);
        }
        Span::of(self.data, (self.rows - 1) * self.row_step + (self.columns - 1) * self.column_step + 1)
    }
}

/// # Safety
/// The tensors' values are there.
unsafe fn add_matrices(all: &[nk_tensor; 3]) -> Result<(), Refusal> {
    let kernels = float_kernels::active()?;
    if !same_shape(all) || !are_matrices(all) {
        return Err(Refusal::Shape);
    }
    let [a, b, c] = all;
    let (a, b, c) = (Matrix::of(a)?, Matrix::of(b)?, Matrix::of(c)?);
    for row in 0..c.rows {
        // SAFETY: by this function's contract.
        unsafe { combine(kernels, [a, b, c].map(|matrix| matrix.row(row)), c.columns, add) };
    }
    Ok(())
}

/// Elements of a row of `a` that are multiplied at a time.
const TERMS: usize = 8;
/// Columns of `b` that are multiplied at a time.
const OUTPUTS: usize = 4;

/// Four sums at a time, eight terms after eight: what meets is copied to the stack in the order of the dense kernel, which
/// then adds it to the sums.
///
/// # Safety
/// The tensors' values are there.
unsafe fn multiply_matrices(all: &[nk_tensor; 3]) -> Result<(), Refusal> {
    let kernels = float_kernels::active()?;
    if !is_matrix_product(all) {
        return Err(Refusal::Shape);
    }
    let [a, b, c] = all;
    let (a, b, c) = (Matrix::of(a)?, Matrix::of(b)?, Matrix::of(c)?);
    if c.span().overlaps(a.span()) || c.span().overlaps(b.span()) {
        return Err(Refusal::Tensor("the output overlaps an operand"));
    }
    for row in 0..c.rows {
        for first in (0..c.columns).step_by(OUTPUTS) {
            let outputs = OUTPUTS.min(c.columns - first);
            let mut sums = [0.0; OUTPUTS];
            for start in (0..a.columns).step_by(TERMS) {
                let terms = TERMS.min(a.columns - start);
                // SAFETY: by this function's contract; all indices are below the extents.
                unsafe { add_products(kernels, (a.row(row), b), start..start + terms, first, &mut sums[..outputs]) };
            }
            for (index, &sum) in sums[..outputs].iter().enumerate() {
                // SAFETY: as above.
                unsafe { c.row(row).set(first + index, sum) };
            }
        }
    }
    Ok(())
}

/// Adds to `sums[o]` the products of some `terms` of `a` and of column `first + o` of `b`.
///
/// # Safety
/// The values are there.
unsafe fn add_products(kernels: &Kernels, (a, b): (Line, Matrix), terms: Range<usize>, first: usize, sums: &mut [f32]) {
    let (start, terms) = (terms.start, terms.len());
    let (mut input, mut weights) = ([0.0; TERMS], [0.0; TERMS * OUTPUTS]);
    let (input, weights) = (&mut input[..terms], &mut weights[..terms * sums.len()]);
    for (index, x) in input.iter_mut().enumerate() {
        // SAFETY: by this function's contract.
        *x = unsafe { a.get(start + index) };
    }
    for (output, weights) in weights.chunks_mut(terms).enumerate() {
        for (index, w) in weights.iter_mut().enumerate() {
            // SAFETY: by this function's contract.
            *w = unsafe { b.column(first + output).get(start + index) };
        }
    }
    let bias = &[0.0; OUTPUTS][..sums.len()];
    (kernels.dense)(&mut Dense {
        rows: 1,
        input,
        weights,
        packed: &[],
        epilogue: Epilogue { bias, norm: None, accumulate: true, activation: Activation::None },
        columns: Columns { pitch: sums.len(), first: 0 },
        // A single row needs none.
        scratch: &mut [],
        output: sums,
    });
}

/// Extent of a dimension and elements from one of its indices to the next.
fn axis_of(tensor: &nk_tensor, axis: i32) -> Result<(usize, usize), Error> {
    let extents = tensor.extents();
    let elements = checked_product(extents).filter(|&elements| elements == tensor.num_elements);
    let elements = elements.ok_or(invalid("num_elements is not the product of the shape, or too large"))?;
    let from_front = if axis < 0 { i64::from(axis) + extents.len() as i64 } else { i64::from(axis) };
    let axis = usize::try_from(from_front).ok().filter(|&axis| axis < extents.len());
    let axis = axis.ok_or(Error::new(ErrorKind::Argument).field("axis").note("the tensor has no such dimension"))?;
    if elements == 0 {
        return Ok((0, 1));
    }
    let inner: u32 = extents.iter().skip(axis + 1).product();
    Ok((extents[axis] as usize, inner as usize))
}

/// Softmax of each group of `row` elements that lie `step` elements apart.
fn softmax_along(kernels: &Kernels, data: &mut [f32], row: usize, step: usize) {
    if data.is_empty() {
        return;
    }
    if step == 1 {
        return (kernels.softmax)(data, row);
    }
    for block in data.chunks_exact_mut(row * step) {
        for first in 0..step {
            float_kernels::softmax_of_every(step, &mut block[first..]);
        }
    }
}
