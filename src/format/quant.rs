//! QUAN section of int8 models: scales and zero points, one descriptor per weight tensor.

use super::reader::Reader;
use super::write::Sink;
use super::{MAX_QUANT_ENTRIES, catalog::TensorEntry};
use crate::error::ErrorKind;
use crate::fault::text;

/// First four bytes of the section.
pub const MAGIC: [u8; 4] = *b"QUAN";
/// Section flag: lists of per-channel weight scales follow the descriptors.
pub const FLAG_PER_CHANNEL: u16 = 1;
/// Bytes of one descriptor.
pub const ENTRY_BYTES: usize = 32;

/// Scale and zero point of a tensor: `real = scale * (q - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantParams {
    /// Real value of one step, above 0.
    pub scale: f32,
    /// Quantised value that stands for 0.
    pub zero_point: i32,
}

impl QuantParams {
    fn read(r: &mut Reader<'_>, scale: &'static str, zero_point: &'static str) -> Self {
        Self { scale: r.positive_f32(scale, ErrorKind::Quant), zero_point: r.int8(zero_point, ErrorKind::Quant) }
    }

    /// The int8 value nearest to a real one, halves away from zero, saturated; NaN becomes the zero point.
    pub fn quantize(&self, real: f32) -> i8 {
        self.quantize_unbounded(real).clamp(i8::MIN.into(), i8::MAX.into()) as i8
    }

    /// [`QuantParams::quantize`] before it saturates to int8: tells what is lost.
    pub fn quantize_unbounded(&self, real: f32) -> i32 {
        // The conversion turns NaN into 0 and cuts what is too large.
        (libm::roundf(real / self.scale) as i32).saturating_add(self.zero_point)
    }

    /// The real value of `q`.
    pub fn dequantize(&self, q: i8) -> f32 {
        self.scale * i32::from(q).saturating_sub(self.zero_point) as f32
    }
}

/// Descriptor of one weight tensor and the activations around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantEntry {
    /// Input activations.
    pub input: QuantParams,
    /// Weights; the scale is unused when per-channel scales are there.
    pub weights: QuantParams,
    /// Unused by most layers: the bias has the scale `input.scale * weights.scale`.
    pub bias: QuantParams,
    /// Output activations.
    pub output: QuantParams,
}

/// The section, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct QuantSection<'m> {
    file: &'m [u8],
    offset: usize,
    entries: u16,
    flags: u16,
}

impl<'m> QuantSection<'m> {
    /// Reads and checks the section; `r` then stands behind it.
    pub(super) fn read(file: &'m [u8], r: &mut Reader<'m>) -> Self {
        let offset = r.offset();
        let is_there = r.take(4, "QUAN magic") == MAGIC;
        r.require(is_there, text!(Quant, note "the quantization section must start with QUAN"), [0; 2], offset);
        let (entries, flags) = (r.u16("QUAN count"), r.u16("QUAN flags"));
        let (count, most) = (usize::from(entries), usize::from(MAX_QUANT_ENTRIES));
        r.require(count >= 1, text!(Quant: at_least, field "QUAN count"), [count, 1], offset + 4);
        r.require(count <= most, text!(Quant: at_most, field "QUAN count"), [count, most], offset + 4);
        let section = Self { file, offset, entries, flags };
        for _ in 0..entries {
            QuantEntry::read(r);
        }
        for _ in 0..if section.is_per_channel() { entries } else { 0 } {
            let count = r.u32("channel scale count");
            for _ in 0..count {
                r.positive_f32("channel scale", ErrorKind::Quant);
                if r.has_failed() {
                    return section;
                }
            }
        }
        section
    }

    /// Number of descriptors.
    pub fn len(&self) -> usize {
        usize::from(self.entries)
    }

    /// Never true for a section that was read from a file.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Flags word of the section.
    pub fn flags(&self) -> u16 {
        self.flags
    }

    /// Offset of the section in the file.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// True when per-channel weight scales follow the descriptors.
    pub fn is_per_channel(&self) -> bool {
        self.flags & FLAG_PER_CHANNEL != 0
    }

    /// Descriptor `index`.
    pub fn entry(&self, index: usize) -> Option<QuantEntry> {
        if index >= self.len() {
            return None;
        }
        let at = self.offset + 8 + index * ENTRY_BYTES;
        Some(QuantEntry::read(&mut Reader::new(self.file, at, ErrorKind::Quant)))
    }

    /// Per-channel weight scales of descriptor `index` as raw little-endian floats; empty when the scalar scale counts.
    pub fn channel_scales(&self, index: usize) -> &'m [u8] {
        if !self.is_per_channel() || index >= self.len() {
            return &[];
        }
        let mut r = Reader::new(self.file, self.offset + 8 + self.len() * ENTRY_BYTES, ErrorKind::Quant);
        let mut scales: &'m [u8] = &[];
        for _ in 0..=index {
            let count = r.u32("channel scale count") as usize;
            scales = r.take(count.saturating_mul(4), "channel scales");
        }
        scales
    }
}

impl QuantEntry {
    /// Reads one descriptor and checks that the scales are positive and the zero points are int8 values.
    #[inline(never)]
    pub fn read(r: &mut Reader<'_>) -> Self {
        let input = QuantParams::read(r, "input scale", "input zero point");
        let weights = QuantParams::read(r, "weight scale", "weight zero point");
        let bias =
            QuantParams { scale: r.finite_f32("bias scale", ErrorKind::Quant), zero_point: r.i32("bias zero point") };
        let output = QuantParams::read(r, "output scale", "output zero point");
        Self { input, weights, bias, output }
    }

    /// Writes the descriptor.
    pub fn write(&self, sink: &mut dyn Sink) {
        for params in [self.input, self.weights, self.bias, self.output] {
            sink.f32(params.scale);
            sink.bytes(&params.zero_point.to_le_bytes());
        }
    }
}

/// Output channels of a weight tensor: its first dimension in every layer kind.
pub fn channels(entry: &TensorEntry) -> u32 {
    entry.dims[0]
}
