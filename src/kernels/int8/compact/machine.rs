//! What differs between processors.
//!
//! Rows are inputs without their zero point, four pixels side by side, in groups of four k. The two forms:
//!
//! ```text
//! words   [k][pixel]              i32      one load of several registers fetches a k of all pixels
//! pairs   [pixel][k0 k2 k1 k3]    i16      the order in which weights come out of two sign extensions of every other byte
//! ```

use core::array;

use crate::kernels::int8::requantize::doubling_high_product;

/// k of a group.
pub const GROUP: usize = 4;
/// Pixels side by side, and channels of a depthwise block.
pub const SIDE: usize = 4;

/// A rectangle of the taps of a depthwise kernel, and where its channels lie in the input.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Rectangle {
    /// Rows of taps; not 0.
    pub rows: usize,
    /// Taps of a row; not 0.
    pub columns: usize,
    /// Input elements from tap to tap.
    pub channels: usize,
    /// Input elements from row to row.
    pub input_row: usize,
    /// Taps from row to row of the kernel.
    pub kernel_row: usize,
}

impl Rectangle {
    /// Whether there are input and taps for all of it, and at least one tap.
    #[allow(dead_code, reason = "for loops without checks")]
    #[inline(always)]
    pub(in crate::kernels) const fn is_inside(&self, input: &[i8], taps: &[i32], tap_words: usize) -> bool {
        self.rows > 0
            && self.columns > 0
            && (self.rows - 1) * self.input_row + (self.columns - 1) * self.channels + SIDE <= input.len()
            && ((self.rows - 1) * self.kernel_row + self.columns) * tap_words <= taps.len()
    }
}

/// Inner loops of a processor. All sums wrap.
pub trait Machine: 'static {
    /// Words of a group of rows of [`SIDE`] pixels.
    const GROUP_WORDS: usize;
    /// Words of a group of a single row.
    const SINGLE_WORDS: usize = Self::GROUP_WORDS / SIDE;
    /// Words of the weights of a tap of four channels.
    const TAP_WORDS: usize = Self::SINGLE_WORDS;

    /// Sets the input of a pixel.
    fn set(rows: &mut [i32], k: usize, pixel: usize, value: i32);
    /// The input of a pixel.
    fn get(rows: &[i32], k: usize, pixel: usize) -> i32;
    /// Sets the inputs of a pixel from `k`, a multiple of 4, on: so many as there are codes, whose number is a multiple of 4.
    fn set_groups(rows: &mut [i32], k: usize, pixel: usize, codes: &[i8], zero_point: i32);
    /// Sets the input of a single row.
    fn set_single(row: &mut [i32], k: usize, value: i32);
    /// The input of a single row.
    fn get_single(row: &[i32], k: usize) -> i32;
    /// Adds the products of the rows with the weights of one filter: all whole groups of weights.
    fn four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]);
    /// Adds the products of a single row of `k` inputs with the weights of four filters, `pitch` apart: all whole groups.
    fn four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]);
    /// Sets the weights of a tap of four channels.
    fn set_tap(taps: &mut [i32], tap: usize, weights: [i8; SIDE]);
    /// Adds the products of four channels over a rectangle of taps.
    fn four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]);
    /// `a * b / 2^31`, halves up, for `b >= 0`.
    fn doubling_high_product(a: i32, b: i32) -> i32;
    /// The same for `a` from `-2^30` to `2^30 - 1`.
    fn small_doubling_high_product(a: i32, b: i32) -> i32;
    /// Writes the codes of sums, `pitch` apart: as many as there are sums, or as fit the output.
    #[inline(always)]
    fn codes(quick: &Quick, sums: &[i32], output: &mut [i8], pitch: usize) {
        for (code, &sum) in output.iter_mut().step_by(pitch.max(1)).zip(sums) {
            *code = quick.code(Self::small_doubling_high_product(sum.wrapping_add(quick.bias), quick.multiplier));
        }
    }
}

/// How a channel is requantised whose products are shifted to the right, and whose sums with their bias stay below 2^30.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Quick {
    /// Added to the sum.
    pub bias: i32,
    /// Q31, not negative.
    pub multiplier: i32,
    /// Bits that the product is shifted to the right, 1 to 31.
    pub right: i32,
    /// Half of what is shifted out.
    pub half: i32,
    /// Added to what is left.
    pub zero_point: i32,
    /// Least code.
    pub min: i32,
    /// Largest code.
    pub max: i32,
}

impl Quick {
    /// The code of a rounded product.
    #[inline(always)]
    fn code(&self, product: i32) -> i8 {
        let shifted = (product + (product >> 31) + self.half) >> (self.right & 31);
        (shifted + self.zero_point).max(self.min).min(self.max) as i8
    }
}

// The processor that this is compiled for.
#[cfg(not(arm_instructions))]
pub use self::Words as Native;
#[cfg(arm_instructions)]
pub use crate::kernels::arm::Native;

/// A processor that multiplies to 64 bits.
#[derive(Debug)]
pub struct Words;

/// One that multiplies to 32 bits only.
#[derive(Debug)]
pub struct Halves;

/// One that multiplies two pairs of 16 bits at once.
#[derive(Debug)]
pub struct Pairs;

/// Rows in words; `$product` is the rounded product.
macro_rules! words {
    ($machine:ty, $product:path) => {
        impl Machine for $machine {
            const GROUP_WORDS: usize = GROUP * SIDE;

            #[inline(always)]
            fn set(rows: &mut [i32], k: usize, pixel: usize, value: i32) {
                set_word(rows, k * SIDE + pixel, value);
            }

            #[inline(always)]
            fn get(rows: &[i32], k: usize, pixel: usize) -> i32 {
                word(rows, k * SIDE + pixel)
            }

            #[inline(always)]
            fn set_groups(rows: &mut [i32], k: usize, pixel: usize, codes: &[i8], zero_point: i32) {
                words_set_groups(rows, k, pixel, codes, zero_point);
            }

            #[inline(always)]
            fn set_single(row: &mut [i32], k: usize, value: i32) {
                set_word(row, k, value);
            }

            #[inline(always)]
            fn get_single(row: &[i32], k: usize) -> i32 {
                word(row, k)
            }

            #[inline(always)]
            fn four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
                words_four_pixels(rows, weights, sums);
            }

            #[inline(always)]
            fn four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]) {
                words_four_filters(row, weights, pitch, k, sums);
            }

            #[inline(always)]
            fn set_tap(taps: &mut [i32], tap: usize, weights: [i8; SIDE]) {
                if let Some(tap) = taps.as_chunks_mut().0.get_mut(tap) {
                    *tap = weights.map(i32::from);
                }
            }

            #[inline(always)]
            fn four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
                words_four_channels(input, taps, rectangle, sums);
            }

            #[inline(always)]
            fn doubling_high_product(a: i32, b: i32) -> i32 {
                $product(a, b)
            }

            #[inline(always)]
            fn small_doubling_high_product(a: i32, b: i32) -> i32 {
                $product(a, b)
            }
        }
    };
}
#[cfg(any(arm_instructions = "thumb1", arm_instructions = "thumb2"))]
pub(in crate::kernels) use words;

words!(Words, doubling_high_product);
words!(Halves, halves_product);

#[inline(always)]
pub(in crate::kernels) fn word(words: &[i32], at: usize) -> i32 {
    words.get(at).copied().unwrap_or_default()
}

#[inline(always)]
pub(in crate::kernels) fn set_word(words: &mut [i32], at: usize, value: i32) {
    if let Some(word) = words.get_mut(at) {
        *word = value;
    }
}

pub(in crate::kernels) fn words_set_groups(rows: &mut [i32], k: usize, pixel: usize, codes: &[i8], zero_point: i32) {
    let rows = rows.get_mut(k * SIDE + pixel..).unwrap_or_default();
    for (word, &code) in rows.iter_mut().step_by(SIDE).zip(codes) {
        *word = i32::from(code) - zero_point;
    }
}

pub(in crate::kernels) fn words_four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
    let groups = rows.as_chunks::<{ GROUP * SIDE }>().0;
    let mut totals = *sums;
    for (group, weights) in groups.iter().zip(weights.as_chunks::<GROUP>().0) {
        for (inputs, &weight) in group.as_chunks::<SIDE>().0.iter().zip(weights) {
            let weight = i32::from(weight);
            for (total, input) in totals.iter_mut().zip(inputs) {
                *total = total.wrapping_add(input.wrapping_mul(weight));
            }
        }
    }
    *sums = totals;
}

pub(in crate::kernels) fn words_four_filters(
    row: &[i32],
    weights: &[i8],
    pitch: usize,
    k: usize,
    sums: &mut [i32; SIDE],
) {
    for (sum, weights) in sums.iter_mut().zip(weights.chunks(pitch.max(1))) {
        let weights = weights.get(..k).unwrap_or(weights).as_chunks::<GROUP>().0;
        let mut total = *sum;
        for (inputs, weights) in row.as_chunks::<GROUP>().0.iter().zip(weights) {
            for (input, &weight) in inputs.iter().zip(weights) {
                total = total.wrapping_add(input.wrapping_mul(i32::from(weight)));
            }
        }
        *sum = total;
    }
}

pub(in crate::kernels) fn words_four_channels(
    input: &[i8],
    taps: &[i32],
    rectangle: &Rectangle,
    sums: &mut [i32; SIDE],
) {
    let mut totals = *sums;
    let taps = taps.as_chunks::<SIDE>().0;
    let lines = input.chunks(rectangle.input_row.max(1)).zip(taps.chunks(rectangle.kernel_row.max(1)));
    for (line, taps) in lines.take(rectangle.rows) {
        let columns = line.chunks(rectangle.channels.max(1)).zip(taps);
        for (codes, weights) in columns.take(rectangle.columns) {
            let Some(codes) = codes.first_chunk::<SIDE>() else { continue };
            for ((total, &code), weight) in totals.iter_mut().zip(codes).zip(weights) {
                *total = total.wrapping_add(i32::from(code).wrapping_mul(*weight));
            }
        }
    }
    *sums = totals;
}

/// `a * b / 2^31`, halves up, for `b >= 0`, from products of halves of 16 bits.
#[inline]
pub(in crate::kernels) const fn halves_product(a: i32, b: i32) -> i32 {
    let (a_high, a_low) = (a >> 16, a as u32 & 0xffff);
    let (b_high, b_low) = (b >> 16, b as u32 & 0xffff);
    let low = a_low.wrapping_mul(b_low);
    // Below 2^31 each.
    let first = a_high.wrapping_mul(b_low as i32);
    let second = a_low.wrapping_mul(b_high as u32) as i32;
    let middle = (low >> 16) + (first as u32 & 0xffff) + (second as u32 & 0xffff);
    let high = a_high.wrapping_mul(b_high).wrapping_add(first >> 16).wrapping_add(second >> 16);
    let high = high.wrapping_add((middle >> 16) as i32);
    // The bits of the product from the 30th to the 32nd round it.
    let rounded = ((middle & 0xffff) >> 14) + 1;
    high.wrapping_shl(1).wrapping_add((rounded >> 1) as i32)
}

/// Where k lies in its group of pairs.
pub(in crate::kernels) const PLACES: [usize; GROUP] = [0, 2, 1, 3];

/// Two products of 16 bits, added.
fn multiply_pairs(a: i32, b: i32, sum: i32) -> i32 {
    let product = |shift: u32| i32::from((a >> shift) as i16).wrapping_mul(i32::from((b >> shift) as i16));
    sum.wrapping_add(product(0)).wrapping_add(product(16))
}

/// Every other byte as 16 bits with its sign.
fn extend_bytes(word: i32) -> i32 {
    let extended = |shift: u32| i32::from((word >> shift) as i8) as u32 & 0xffff;
    (extended(0) | extended(16) << 16) as i32
}

/// Word of rows of pairs with the input, and its place in the word.
#[inline(always)]
pub(in crate::kernels) const fn place_of(k: usize, pixel: usize, side: usize) -> (usize, u32) {
    // 0, 2, 1, 3
    let place = (k & 1) << 1 | (k & 2) >> 1;
    ((k / GROUP * side + pixel) * 2 + place / 2, (place % 2) as u32 * 16)
}

/// A half of a word.
#[inline(always)]
pub(in crate::kernels) fn half(words: &[i32], (at, shift): (usize, u32)) -> i32 {
    i32::from((word(words, at) >> shift) as i16)
}

/// Sets a half of a word.
#[inline(always)]
pub(in crate::kernels) fn set_half(words: &mut [i32], (at, shift): (usize, u32), value: i32) {
    if let Some(word) = words.get_mut(at) {
        *word = *word & !(0xffff << shift) | (value & 0xffff) << shift;
    }
}

impl Machine for Pairs {
    const GROUP_WORDS: usize = GROUP * SIDE / 2;

    fn set(rows: &mut [i32], k: usize, pixel: usize, value: i32) {
        set_half(rows, place_of(k, pixel, SIDE), value);
    }

    fn get(rows: &[i32], k: usize, pixel: usize) -> i32 {
        half(rows, place_of(k, pixel, SIDE))
    }

    fn set_groups(rows: &mut [i32], k: usize, pixel: usize, codes: &[i8], zero_point: i32) {
        for (i, &code) in codes.iter().enumerate() {
            Self::set(rows, k + i, pixel, i32::from(code) - zero_point);
        }
    }

    fn set_single(row: &mut [i32], k: usize, value: i32) {
        set_half(row, place_of(k, 0, 1), value);
    }

    fn get_single(row: &[i32], k: usize) -> i32 {
        half(row, place_of(k, 0, 1))
    }

    fn four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
        let groups = rows.as_chunks::<{ GROUP * SIDE / 2 }>().0;
        for (group, &weights) in groups.iter().zip(weights.as_chunks::<GROUP>().0) {
            let word = i32::from_le_bytes(weights.map(|weight| weight as u8));
            let weights = [extend_bytes(word), extend_bytes(word.rotate_right(8))];
            for (sum, inputs) in sums.iter_mut().zip(group.as_chunks::<2>().0) {
                *sum = multiply_pairs(inputs[1], weights[1], multiply_pairs(inputs[0], weights[0], *sum));
            }
        }
    }

    fn four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]) {
        for (sum, weights) in sums.iter_mut().zip(weights.chunks(pitch.max(1))) {
            let weights = weights.get(..k).unwrap_or(weights).as_chunks::<GROUP>().0;
            for (inputs, &weights) in row.as_chunks::<2>().0.iter().zip(weights) {
                let word = i32::from_le_bytes(weights.map(|weight| weight as u8));
                *sum = multiply_pairs(inputs[0], extend_bytes(word), *sum);
                *sum = multiply_pairs(inputs[1], extend_bytes(word.rotate_right(8)), *sum);
            }
        }
    }

    fn set_tap(taps: &mut [i32], tap: usize, weights: [i8; SIDE]) {
        set_pairs_tap(taps, tap, weights);
    }

    fn four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
        for row in 0..rectangle.rows {
            for column in 0..rectangle.columns {
                let at = row * rectangle.input_row + column * rectangle.channels;
                let tap = 2 * (row * rectangle.kernel_row + column);
                let weights: [_; SIDE] =
                    array::from_fn(|i| half(taps, (tap + PLACES[i] / 2, PLACES[i] as u32 % 2 * 16)));
                for (i, sum) in sums.iter_mut().enumerate() {
                    let code = input.get(at + i).copied().unwrap_or_default();
                    *sum = sum.wrapping_add(i32::from(code).wrapping_mul(weights[i]));
                }
            }
        }
    }

    fn doubling_high_product(a: i32, b: i32) -> i32 {
        doubling_high_product(a, b)
    }

    fn small_doubling_high_product(a: i32, b: i32) -> i32 {
        // The upper half of the product, rounded.
        let product = i64::from(a.wrapping_shl(1)) * i64::from(b);
        ((product + (1 << 31)) >> 32) as i32
    }
}

/// The weights of four channels as two words, in the order in which inputs come out of two sign extensions.
#[inline(always)]
pub(in crate::kernels) fn set_pairs_tap(taps: &mut [i32], tap: usize, weights: [i8; SIDE]) {
    for (i, weight) in weights.into_iter().enumerate() {
        set_half(taps, (2 * tap + PLACES[i] / 2, PLACES[i] as u32 % 2 * 16), i32::from(weight));
    }
}
