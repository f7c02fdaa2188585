//! What the cases are made of. Everything follows from a case's parameters and its seed.

use bytemuck::Pod;
use netkit::kernels::int8::Requantize;
use netkit::tensor::{Padding, Shape, Window};
use proptest::prelude::*;

use crate::guarded::{Guarded, Place};

/// A slice at a guard page, or up to 15 elements behind one.
pub(crate) type Shifted<T> = Guarded<T>;

/// Values that depend on the seed alone, in slices at different places.
pub(crate) struct Values {
    state: u64,
}

impl Values {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as u32
    }

    fn slice<T: Pod>(&mut self, len: usize, mut value: impl FnMut(u32) -> T) -> Shifted<T> {
        let place = match (self.next() >> 27) as usize {
            0..8 => Place::BeforeGuard,
            8..16 => Place::AfterGuard(0),
            bits => Place::AfterGuard(bits % 16),
        };
        Shifted::new(&(0..len).map(|_| value(self.next())).collect::<Vec<T>>(), place)
    }

    /// Codes of all sizes, or now and then nothing but -128 and 127.
    pub(crate) fn codes(&mut self, len: usize) -> Shifted<i8> {
        match self.next() >> 29 {
            0 => self.slice(len, |bits| if bits >> 31 == 0 { i8::MIN } else { i8::MAX }),
            1 => self.slice(len, |_| i8::MIN),
            _ => self.slice(len, |bits| (bits >> 24) as i8),
        }
    }

    /// Exactly as much scratch as the kernel asked for, filled with anything.
    pub(crate) fn scratch(&mut self, elems: u32) -> Shifted<i16> {
        self.slice(elems as usize, |bits| (bits >> 16) as i16)
    }
}

pub(crate) fn seed() -> impl Strategy<Value = u64> {
    any::<u64>()
}

/// Mostly few, now and then enough for several vectors, with and without remainder.
pub(crate) fn channels() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1..=9u32, 3 => 10..=33u32, 1 => 34..=70u32]
}

pub(crate) fn zero_point() -> impl Strategy<Value = i32> {
    prop_oneof![Just(-128), Just(127), Just(0), -128..=127i32]
}

/// Square and rectangular kernels, strides 1 to 4 and the largest, a different padding on each side that may be wider than the
/// kernel. `same` channels go out as come in.
pub(crate) fn window(kernel: u32, same: bool) -> impl Strategy<Value = Window> {
    let extents = (1..=11u32, 1..=24u32, channels(), channels());
    let kernels = prop_oneof![Just((1, 1)), Just((2, 2)), Just((3, 3)), (1..=kernel, 1..=kernel)];
    let pads = prop_oneof![
        Just(Padding::default()),
        Just(Padding::same(1)),
        (0..=2u32, 0..=2u32).prop_map(|(bottom, right)| Padding { bottom, right, ..Padding::default() }),
        (0..=kernel + 1, 0..=kernel + 1, 0..=kernel + 1, 0..=kernel + 1)
            .prop_map(|(top, left, bottom, right)| Padding { top, left, bottom, right })
    ];
    let strides = prop_oneof![12 => 1..=4u32, 1 => Just(u32::MAX)];
    (extents, kernels, strides, pads).prop_filter_map(
        "kernel larger than input",
        move |(extents, kernel, stride, pads)| {
            let (h, w, in_c, out_c) = extents;
            Window::new(Shape::map(h, w, in_c), kernel, stride, pads, if same { in_c } else { out_c }).ok()
        },
    )
}

/// So many channels that few windows, or not even one, fit into what a kernel copies at a time.
pub(crate) fn deep_window() -> impl Strategy<Value = Window> {
    let extents = (1..=5u32, 1..=9u32, prop_oneof![64..=300u32, 500..=1500u32, 4000..=4200u32], 1..=40u32);
    let kernels = (1..=3u32, 1..=3u32, 1..=2u32, 0..=1u32);
    (extents, kernels).prop_filter_map("kernel larger than input", |((h, w, in_c, out_c), (kh, kw, stride, pad))| {
        Window::new(Shape::map(h, w, in_c), (kh, kw), stride, Padding::same(pad), out_c).ok()
    })
}

/// Which multipliers a layer has.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Multipliers {
    /// Those that bring sums of `terms` products into the range of codes.
    Usual { terms: u32 },
    /// From 2^-32 to 2^30.
    Any,
    /// The ends of both ranges.
    Extreme,
    /// Products at the ends of 32 bits, and shifts to the right that differ little from channel to channel.
    Close { shift: i8 },
}

/// A [`Requantize`] without its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    pub(crate) multipliers: Multipliers,
    pub(crate) input_zero_point: i32,
    pub(crate) weight_zero_point: i32,
    pub(crate) output_zero_point: i32,
    pub(crate) clamp: (i8, i8),
}

pub(crate) fn finish(terms: u32) -> impl Strategy<Value = Finish> {
    let multipliers = prop_oneof![
        5 => Just(Multipliers::Usual { terms }),
        1 => Just(Multipliers::Any),
        1 => Just(Multipliers::Extreme),
        2 => (-26..=-1i8).prop_map(|shift| Multipliers::Close { shift }),
    ];
    let clamp = prop_oneof![Just((-128, 127)), (any::<i8>(), any::<i8>()).prop_map(|(a, b)| (a.min(b), a.max(b)))];
    (multipliers, zero_point(), zero_point(), clamp).prop_map(
        |(multipliers, input_zero_point, output_zero_point, clamp)| Finish {
            multipliers,
            input_zero_point,
            weight_zero_point: 0,
            output_zero_point,
            clamp,
        },
    )
}

/// The tables of a [`Requantize`].
pub(crate) struct Tables {
    bias: Shifted<i32>,
    multipliers: Shifted<i32>,
    shifts: Shifted<i8>,
}

impl Tables {
    pub(crate) fn new(values: &mut Values, channels: usize, finish: &Finish) -> Self {
        let large = |bits: u32| (1 << 30) + (bits >> 2) as i32;
        let (bias, multipliers, shifts): (Shifted<i32>, Shifted<i32>, Shifted<i8>) = match finish.multipliers {
            Multipliers::Usual { terms } => {
                let shift = -5 - (terms.max(1).ilog2() / 2) as i8;
                (
                    values.slice(channels, |bits| (bits >> 20) as i32 - 2048),
                    values.slice(channels, large),
                    values.slice(channels, |bits| shift - (bits % 4) as i8),
                )
            }
            Multipliers::Any => (
                values.slice(channels, |bits| bits as i32),
                values.slice(channels, large),
                values.slice(channels, |bits| (bits % 62) as i8 - 31),
            ),
            Multipliers::Extreme => (
                values.slice(channels, |bits| [i32::MIN, i32::MAX, 0, -1][(bits >> 30) as usize]),
                values.slice(channels, |bits| [0, 1 << 30, i32::MAX, i32::MAX - 1][(bits >> 30) as usize]),
                values.slice(channels, |bits| [-31, -1, 0, 30][(bits >> 30) as usize]),
            ),
            Multipliers::Close { shift } => (
                // As in a loaded model, a sum with its bias fits: the largest of pooled sums depends on that.
                values.slice(channels, |bits| {
                    let most = i32::MAX - (1 << 25);
                    [bits as i32 / 2, most - (bits & 0xfff) as i32, -most, -1][(bits >> 30) as usize]
                }),
                values.slice(channels, |bits| {
                    [large(bits), i32::MAX - (bits & 0xffff) as i32, i32::MAX, 1 << 30][(bits >> 30) as usize]
                }),
                values.slice(channels, |bits| shift - (bits >> 29) as i8 / 2),
            ),
        };
        Self { bias, multipliers, shifts }
    }

    pub(crate) fn requantize(&self, finish: &Finish) -> Requantize<'_> {
        Requantize {
            bias: self.bias.slice(),
            multipliers: self.multipliers.slice(),
            shifts: self.shifts.slice(),
            input_zero_point: finish.input_zero_point,
            weight_zero_point: finish.weight_zero_point,
            output_zero_point: finish.output_zero_point,
            min: finish.clamp.0,
            max: finish.clamp.1,
        }
    }
}
