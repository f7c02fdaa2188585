//! Checked steps from the arguments of an init call to records and tensors.

use core::ffi::c_int;

use super::super::dtype::nk_dtype;
use super::super::raw::{invalid, required};
use super::super::tensor::nk_tensor_t;
use super::slot::{Pair, Slot};
use crate::error::{Error, ErrorKind};
use crate::format::Layer;
use crate::format::records::{ActivationCode, Conv2d, Dense, DepthwiseConv2d, Pool2d};
use crate::tensor::{MAX_RANK, checked_product};

/// A number that cannot be negative.
pub(in crate::ffi) fn count(field: &'static str, value: c_int) -> Result<u32, Error> {
    u32::try_from(value).map_err(|_| Error::new(ErrorKind::Argument).field(field).note("must not be negative"))
}

/// A number that the record keeps in a byte.
pub(in crate::ffi) fn byte(field: &'static str, value: c_int) -> Result<u8, Error> {
    let value = count(field, value)?;
    let error = Error::new(ErrorKind::Argument).field(field).found(u64::from(value)).at_most(255);
    u8::try_from(value).map_err(|_| error)
}

/// An activation and its slope as a record keeps them; numbers that are not listed mean none.
pub(in crate::ffi) fn elementwise(activation: u32, alpha: f32) -> (ActivationCode, f32) {
    // C compilers that give enumerations one byte leave the others as they were.
    let code = ActivationCode(activation as u8);
    let code = if code.is_none() { ActivationCode::NONE } else { code };
    (code, if code == ActivationCode::LEAKY_RELU { alpha } else { 0.0 })
}

/// Padding in the form of the records.
#[derive(Clone, Copy)]
pub(in crate::ffi) struct Pads {
    top: u8,
    left: u8,
    extra_bottom: u8,
    extra_right: u8,
}

impl Pads {
    /// The four arguments; a negative end equals its start.
    pub(in crate::ffi) fn new(h: c_int, w: c_int, h_end: c_int, w_end: c_int) -> Result<Self, Error> {
        Ok(Self {
            top: byte("pad_h", h)?,
            left: byte("pad_w", w)?,
            extra_bottom: extra("pad_h_end", h, h_end)?,
            extra_right: extra("pad_w_end", w, w_end)?,
        })
    }

    fn extra(self) -> u8 {
        self.extra_bottom | self.extra_right << 4
    }
}

/// How much more padding is at the end than at the start; the format has four bits for it.
fn extra(field: &'static str, start: c_int, end: c_int) -> Result<u8, Error> {
    if end < 0 {
        return Ok(0);
    }
    let error = Error::new(ErrorKind::Argument).field(field).found(end as u64);
    let extra = u8::try_from(end - start).ok().filter(|&extra| extra < 16);
    extra.ok_or(error.note("must be the start padding and 0 to 15 more"))
}

/// The record of a convolution.
pub(in crate::ffi) fn conv2d(
    kernel_size: u32,
    stride: u32,
    filters: u32,
    (activation, alpha): (ActivationCode, f32),
    pads: Pads,
) -> Layer {
    let (pad_h, pad_w, pad_extra) = (pads.top, pads.left, pads.extra());
    Layer::Conv2d(Conv2d { kernel_size, stride, filters, activation, pad_h, pad_w, pad_extra, alpha })
}

/// The record of a depthwise convolution. One byte of it holds the kernel's width or the extra padding, and the number of
/// weights tells which: what it cannot tell apart is refused.
pub(in crate::ffi) fn depthwise(
    (kernel_h, kernel_w): (u32, u32),
    stride: u32,
    channels: u32,
    (activation, alpha): (ActivationCode, f32),
    pads: Pads,
) -> Result<Layer, Error> {
    let (pad_h, pad_w) = (pads.top, pads.left);
    let record = |kernel_w| DepthwiseConv2d { kernel_h, stride, channels, activation, pad_h, pad_w, kernel_w, alpha };
    let wanted = Pool2d { pool_size: kernel_h, stride, pad_h, pad_w, packed: u16::from(pads.extra()) << 8 }.pads();
    let area = kernel_h.checked_mul(kernel_w).filter(|&area| area > 0);
    let says = |candidate: &DepthwiseConv2d| {
        area.and_then(|area| candidate.kernel_and_pads(area)) == Some(((kernel_h, kernel_w), wanted))
    };
    let candidates = [u8::try_from(kernel_w).unwrap_or(0), pads.extra()].map(record);
    let error = invalid("a depthwise layer cannot have this kernel together with this padding");
    candidates.into_iter().find(says).map(Layer::DepthwiseConv2d).ok_or(error)
}

/// The record of a pooling layer without its kind.
pub(in crate::ffi) fn pool(pool_h: c_int, pool_w: c_int, stride: c_int, pads: Pads) -> Result<Pool2d, Error> {
    let width = byte("pool_w", pool_w)?;
    if width == 0 {
        return Err(Error::new(ErrorKind::Argument).field("pool_w").found(0).at_least(1));
    }
    Ok(Pool2d {
        pool_size: count("pool_h", pool_h)?,
        stride: count("stride", stride)?,
        pad_h: pads.top,
        pad_w: pads.left,
        packed: u16::from_le_bytes([width, pads.extra()]),
    })
}

/// A dense layer from its tensors.
///
/// # Safety
/// Each pointer is null or points to a tensor.
pub(in crate::ffi) unsafe fn dense(
    weights: *const nk_tensor_t,
    bias: *const nk_tensor_t,
    activation: u32,
    alpha: f32,
) -> Result<Slot, Error> {
    // SAFETY: by this function's contract.
    let (weights, bias) = unsafe {
        required(weights, "weights is NULL")?;
        required(bias, "bias is NULL")?;
        (Values::of(weights)?, Values::of(bias)?)
    };
    if !weights.is(nk_dtype::NK_DTYPE_FLOAT32) || !bias.is(nk_dtype::NK_DTYPE_FLOAT32) {
        return Err(invalid("weights and bias of a dense layer must be tensors of floats"));
    }
    let &[units, inputs] = weights.extents() else {
        return Err(invalid("the weights of a dense layer must have rank 2: [out_features, in_features]"));
    };
    if bias.elements != units {
        let error = Error::new(ErrorKind::Weights).field("elements of the bias tensor");
        return Err(error.found(u64::from(bias.elements)).expected(u64::from(units)));
    }
    required(bias.data, "bias has no data")?;
    let (activation, alpha) = elementwise(activation, alpha);
    let pair = Pair::new(weights.data.cast(), "weights has no data", bias.data.cast(), &[units, inputs], units);
    Slot::simple(Layer::Dense(Dense { units, activation, alpha }), Some(pair))
}

/// A tensor of the caller whose elements follow each other.
pub(super) struct Values {
    pub(super) data: *mut core::ffi::c_void,
    dtype: u8,
    rank: usize,
    shape: [u32; MAX_RANK],
    pub(super) elements: u32,
}

impl Values {
    /// Checks a tensor's shape and strides.
    ///
    /// # Safety
    /// `tensor` points to a tensor.
    pub(super) unsafe fn of(tensor: *const nk_tensor_t) -> Result<Self, Error> {
        // SAFETY: by this function's contract.
        let tensor = unsafe { tensor.read_unaligned() };
        let rank = tensor.rank as usize;
        if rank == 0 || rank > MAX_RANK {
            return Err(Error::new(ErrorKind::Argument).field("rank of the tensor").found(rank as u64).at_most(4));
        }
        let shape = tensor.shape;
        let elements = checked_product(shape.get(..rank).unwrap_or_default());
        let elements = elements.filter(|&elements| elements > 0).ok_or(invalid("a tensor is empty or too large"))?;
        let mut dense = 1u32;
        for (&extent, &stride) in shape.iter().zip(&tensor.stride).take(rank).rev() {
            // A stride of 0 was never set.
            if extent > 1 && stride != dense && stride != 0 {
                return Err(invalid("the elements of a tensor must follow each other"));
            }
            dense = dense.saturating_mul(extent);
        }
        // Only the lowest byte of the type counts where C compilers give enumerations one byte.
        Ok(Self { data: tensor.data, dtype: tensor.dtype as u8, rank, shape, elements })
    }

    /// Whether the elements have this type.
    pub(super) fn is(&self, dtype: nk_dtype) -> bool {
        self.dtype == dtype as u8
    }

    fn extents(&self) -> &[u32] {
        self.shape.get(..self.rank).unwrap_or_default()
    }
}
