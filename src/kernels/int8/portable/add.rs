//! Residual addition.
//!
//! Multipliers of a term are at most 1, so everything but the last step is one product and a shift that is the same for
//! all elements; see `finish.rs` for the products.

use core::array;

use crate::kernels::int8::args::Term;
use crate::kernels::int8::requantize::ADD_LEFT_SHIFT;
use crate::kernels::int8::{Add, reference};

/// Elements at a time.
const CHUNK: usize = 8;

/// The same integers as the reference; which takes over where a multiplier shifts left or the last few elements do not
/// fill a chunk.
#[inline(always)]
pub fn add(args: &mut Add<'_>) {
    let mut done = 0;
    if [args.own, args.other_term, args.output].iter().all(|term| (-31..=0).contains(&term.shift)) {
        let (own, other_term, output) = (Scale::new(args.own), Scale::new(args.other_term), Scale::new(args.output));
        let (min, max, zero_point) = (i16::from(args.min), i16::from(args.max), args.output.zero_point as i16);
        let (data, other) = (args.data.as_chunks_mut::<CHUNK>().0, args.other.as_chunks::<CHUNK>().0);
        for (data, other) in data.iter_mut().zip(other) {
            let own = own.apply(centred(data, args.own.zero_point));
            let other = other_term.apply(centred(other, args.other_term.zero_point));
            let sum = output.apply(array::from_fn(|i| own[i].wrapping_add(other[i])));
            let short = sum.map(|sum| sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16);
            for (code, sum) in data.iter_mut().zip(short) {
                *code = sum.saturating_add(zero_point).max(min).min(max) as i8;
            }
            done += CHUNK;
        }
    }
    let (Some(data), Some(other)) = (args.data.get_mut(done..), args.other.get(done..)) else { return };
    reference::add::add(&mut Add { data, other, ..*args });
}

/// A multiplier of at most 1 and the constants that go with it.
#[derive(Clone, Copy)]
struct Scale {
    multiplier: u32,
    right: u32,
    mask: i32,
}

impl Scale {
    #[inline(always)]
    fn new(term: Term) -> Self {
        let right = u32::from(term.shift.unsigned_abs() & 31);
        Self { multiplier: term.multiplier as u32, right, mask: ((1u32 << right) - 1) as i32 }
    }

    /// `multiply_by_quantized_multiplier` for a shift to the right.
    #[inline(always)]
    fn apply(self, x: [i32; CHUNK]) -> [i32; CHUNK] {
        let product: [i32; CHUNK] = array::from_fn(|i| {
            let moved = u64::from(x[i] as u32 ^ 1 << 31);
            let product = (moved * u64::from(self.multiplier) + (1 << 30)) >> 31;
            (product as u32).wrapping_sub(self.multiplier) as i32
        });
        array::from_fn(|i| {
            let threshold = (self.mask >> 1) - (product[i] >> 31);
            (product[i] >> self.right) + i32::from((product[i] & self.mask) > threshold)
        })
    }
}

/// Codes without their zero point, moved up.
#[inline(always)]
fn centred(codes: &[i8; CHUNK], zero_point: i32) -> [i32; CHUNK] {
    array::from_fn(|i| (i32::from(codes[i]) - zero_point) << ADD_LEFT_SHIFT)
}
