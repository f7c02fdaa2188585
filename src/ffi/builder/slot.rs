//! A layer of a network that is built by hand: its record, and where its tensors lie.

use super::super::arena::{self, nk_arena_t};
use super::super::raw::{Span, invalid, required};
use crate::arena::Arena;
use crate::error::{Error, ErrorKind};
use crate::format::catalog::TensorEntry;
use crate::format::records::{ActivationCode, YoloxPafpnMultiscale};
use crate::format::write::Sink;
use crate::format::{DType, Layer};
use crate::tensor::{MAX_RANK, checked_product};

/// A weight tensor and its bias in the caller's memory.
#[derive(Clone, Copy)]
pub(in crate::ffi) struct Pair {
    weights: *const f32,
    /// Null means zeros.
    bias: *const f32,
    entry: TensorEntry,
    biases: u32,
    /// A batch norm inside a block, whose scale may be null and then is 1.
    is_norm: bool,
    /// What is said when the weights are null.
    missing: &'static str,
}

impl Pair {
    /// Weights of these extents and a bias that may be null. `missing` is said when the weights are null.
    pub(in crate::ffi) fn new(
        weights: *const f32,
        missing: &'static str,
        bias: *const f32,
        extents: &[u32],
        biases: u32,
    ) -> Self {
        let mut dims = [0; MAX_RANK];
        dims.iter_mut().zip(extents).for_each(|(dim, &extent)| *dim = extent);
        let rank = extents.len().min(MAX_RANK) as u8;
        Self {
            weights,
            bias,
            entry: TensorEntry { rank, dtype: DType::Float32, dims },
            biases,
            is_norm: false,
            missing,
        }
    }

    /// A batch norm of a block. Without a scale it multiplies by 1, without a shift it adds 0.
    pub(in crate::ffi) fn norm(scale: *const f32, shift: *const f32, channels: u32) -> Self {
        Self { is_norm: true, ..Self::new(scale, "", shift, &[channels], channels) }
    }

    /// A place in a table that is still to be filled.
    pub(in crate::ffi) const MISSING: Pair = Pair {
        weights: core::ptr::null(),
        bias: core::ptr::null(),
        entry: TensorEntry { rank: 1, dtype: DType::Float32, dims: [0; MAX_RANK] },
        biases: 0,
        is_norm: false,
        missing: "",
    };

    /// Refuses missing weights.
    pub(in crate::ffi) fn check(&self) -> Result<(), Error> {
        if self.is_norm { Ok(()) } else { required(self.weights, self.missing) }
    }

    /// Refuses a tensor too large to be one.
    pub(super) fn check_size(&self) -> Result<(), Error> {
        let fits = checked_product(self.entry.active_dims()).is_some() && checked_product(&[self.biases]).is_some();
        if fits { Ok(()) } else { Err(Error::new(ErrorKind::SizeOverflow).note("a tensor of this layer is too large")) }
    }

    /// The catalog entry of the weights or of the bias.
    pub(super) fn entry(&self, is_bias: bool) -> TensorEntry {
        if is_bias { TensorEntry { rank: 1, dtype: DType::Float32, dims: [self.biases, 0, 0, 0] } } else { self.entry }
    }

    fn source(&self, is_bias: bool) -> *const f32 {
        if is_bias { self.bias } else { self.weights }
    }

    /// Whether the caller's weights or bias share a byte with this range.
    pub(super) fn overlaps(&self, range: Span) -> bool {
        [false, true].into_iter().any(|is_bias| {
            let source = self.source(is_bias);
            !source.is_null() && Span::of(source, self.entry(is_bias).num_elements() as usize).overlaps(range)
        })
    }

    /// Copies the weights or the bias.
    ///
    /// # Safety
    /// What the init call was given still is where it was.
    pub(super) unsafe fn write(&self, is_bias: bool, sink: &mut dyn Sink) {
        let (source, entry) = (self.source(is_bias), self.entry(is_bias));
        if source.is_null() {
            let value = if is_bias { 0.0 } else { 1.0 };
            (0..entry.num_elements()).for_each(|_| sink.f32(value));
            return;
        }
        // SAFETY: the caller gave this many floats and keeps them, by this function's contract.
        sink.bytes(unsafe { core::slice::from_raw_parts(source.cast::<u8>(), entry.num_bytes() as usize) });
    }

    /// Elements of the weights.
    pub(super) fn weight_elems(&self) -> u32 {
        self.entry.num_elements()
    }

    /// Last extent of the weights: the inputs of a dense layer.
    pub(super) fn inputs(&self) -> u32 {
        self.entry.active_dims().last().copied().unwrap_or(0)
    }
}

/// A layer.
#[derive(Clone, Copy)]
pub(in crate::ffi) struct Slot {
    pub(super) layer: Option<Layer>,
    /// Height and width that the caller expects at the layer's input.
    pub(super) spatial: Option<(u32, u32)>,
    /// The only pair of a simple layer.
    own: Option<Pair>,
    /// The pairs of a block, in an arena.
    table: *mut Pair,
    table_len: u32,
}

impl Slot {
    /// Not initialised.
    pub(super) const EMPTY: Slot =
        Slot { layer: None, spatial: None, own: None, table: core::ptr::null_mut(), table_len: 0 };

    /// A layer with one pair of tensors or none.
    pub(in crate::ffi) fn simple(layer: Layer, own: Option<Pair>) -> Result<Slot, Error> {
        own.iter().try_for_each(Pair::check)?;
        Ok(Slot { layer: Some(layer), own, ..Slot::EMPTY })
    }

    /// A layer without tensors that stands on a map of this height and width.
    pub(in crate::ffi) fn on_map(layer: Layer, spatial: (u32, u32)) -> Slot {
        Slot { layer: Some(layer), spatial: Some(spatial), ..Slot::EMPTY }
    }

    /// The tensors in catalog order.
    pub(super) fn pairs(&self) -> &[Pair] {
        if self.table.is_null() {
            return self.own.as_slice();
        }
        // SAFETY: `Table::finish` initialised this many pairs, which live as long as their arena.
        unsafe { core::slice::from_raw_parts(self.table, self.table_len as usize) }
    }

    /// Replaces a tensor of a block.
    pub(in crate::ffi) fn replace(&mut self, index: usize, pair: Pair) {
        if index < self.table_len as usize {
            // SAFETY: within the table, see `pairs`, and no reference to it is alive.
            unsafe { self.table.add(index).write(pair) };
        }
    }

    /// The record of a feature pyramid.
    pub(in crate::ffi) fn pafpn(&self) -> Option<YoloxPafpnMultiscale> {
        match self.layer {
            Some(Layer::YoloxPafpnMultiscale(record)) => Some(record),
            _ => None,
        }
    }

    /// True for a dense layer with softmax.
    pub(super) fn is_softmax(&self) -> bool {
        matches!(self.layer, Some(Layer::Dense(dense)) if dense.activation == ActivationCode::SOFTMAX)
    }
}

/// The tensors of a block while they are being collected.
pub(in crate::ffi) struct Table {
    state: Arena,
    pairs: *mut Pair,
    capacity: u32,
    len: u32,
}

impl Table {
    /// Room for `capacity` pairs in the free part of an arena.
    ///
    /// # Safety
    /// `arena` is null or points to a handle of an arena with valid memory.
    pub(in crate::ffi) unsafe fn new(arena: *const nk_arena_t, capacity: u32) -> Result<Self, Error> {
        required(arena, "arena is NULL")?;
        // SAFETY: not null, and by this function's contract a handle.
        let mut state = unsafe { arena::get_or_empty(arena) };
        let bytes = capacity as usize * size_of::<Pair>();
        let pairs = state.request(bytes, align_of::<Pair>(), "for the list of tensors")?;
        Ok(Self { state, pairs: pairs.cast(), capacity, len: 0 })
    }

    /// Appends pairs whose weights must be there.
    pub(in crate::ffi) fn push(&mut self, pairs: &[Pair]) -> Result<(), Error> {
        pairs.iter().try_for_each(Pair::check)?;
        self.push_unchecked(pairs)
    }

    /// Appends pairs whose weights are still to come.
    pub(in crate::ffi) fn push_unchecked(&mut self, pairs: &[Pair]) -> Result<(), Error> {
        for pair in pairs {
            if self.len >= self.capacity {
                return Err(invalid("this layer has fewer tensors"));
            }
            // SAFETY: within the room that `new` took.
            unsafe { self.pairs.add(self.len as usize).write(*pair) };
            self.len += 1;
        }
        Ok(())
    }

    /// The layer with these tensors; the room now is taken from the arena.
    ///
    /// # Safety
    /// `arena` is the one that the table was made in.
    pub(in crate::ffi) unsafe fn finish(self, arena: *mut nk_arena_t, layer: Layer, spatial: (u32, u32)) -> Slot {
        // SAFETY: by this function's contract a handle.
        unsafe { arena::store(arena, self.state) };
        Slot { table: self.pairs, table_len: self.len, ..Slot::on_map(layer, spatial) }
    }
}
