//! What the cases are made of: slices with odd starts, windows, epilogues, columns. Everything follows from a case's
//! parameters and its seed, so that printing a case says all about it.

use netkit::kernels::args::Columns;
use netkit::kernels::{Activation, Epilogue};
use netkit::tensor::{Padding, Shape, Window};
use proptest::prelude::*;

use crate::guarded::{Guarded, Place};

/// Stands in output elements that no kernel may touch; no kernel computes it.
pub(crate) const SENTINEL: f32 = -1.25e30;

/// A slice at a guard page, or up to 3 elements behind one.
pub(crate) type Shifted = Guarded<f32>;

/// Values in -1 to 1 that depend on the seed alone, in slices at different places.
pub(crate) struct Values {
    state: u64,
}

impl Values {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }

    fn place(&self) -> Place {
        let bits = (self.state >> 33) as usize;
        if bits & 4 == 0 { Place::AfterGuard(bits % 4) } else { Place::BeforeGuard }
    }

    pub(crate) fn slice(&mut self, len: usize) -> Shifted {
        self.scaled(len, 1.0)
    }

    pub(crate) fn scaled(&mut self, len: usize, scale: f32) -> Shifted {
        let place = self.place();
        Shifted::new(&(0..len).map(|_| scale * self.next()).collect::<Vec<_>>(), place)
    }

    /// Exactly as much scratch as the kernel asked for, filled with NaN.
    pub(crate) fn scratch(&mut self, elems: u32) -> Shifted {
        Shifted::new(&vec![f32::NAN; elems as usize], self.place())
    }

    /// `pixels * pitch` elements: random where the results go, sentinels in between.
    pub(crate) fn output(&mut self, pixels: usize, columns: Columns, channels: usize) -> Shifted {
        let is_result = |at: usize| (columns.first..columns.first + channels).contains(&(at % columns.pitch));
        let mut output = self.slice(pixels * columns.pitch);
        for (at, x) in output.slice_mut().iter_mut().enumerate() {
            *x = if is_result(at) { *x } else { SENTINEL };
        }
        output
    }
}

pub(crate) fn seed() -> impl Strategy<Value = u64> {
    any::<u64>()
}

/// Mostly few, now and then enough for several vectors, with and without remainder.
pub(crate) fn channels() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1..=9u32, 2 => 10..=33u32, 1 => 34..=70u32]
}

/// Square and rectangular kernels, strides 1 to 4 and the largest, a different padding on each side that may be wider than the
/// kernel. `same` channels go out as come in.
pub(crate) fn window(kernel: u32, same: bool) -> impl Strategy<Value = Window> {
    let extent = || prop_oneof![5 => 1..=9u32, 1 => 10..=20u32];
    let extents = (extent(), extent(), channels(), channels());
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

pub(crate) fn activation() -> impl Strategy<Value = Activation> {
    prop_oneof![
        Just(Activation::None),
        Just(Activation::Relu),
        Just(Activation::Sigmoid),
        Just(Activation::Tanh),
        (-1.0..1.0f32).prop_map(Activation::LeakyRelu),
        Just(Activation::Relu6),
        Just(Activation::Silu),
        Just(Activation::Gelu),
    ]
}

/// What an [`Epilogue`] does, without its tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finish {
    pub(crate) norm: bool,
    pub(crate) accumulate: bool,
    pub(crate) activation: Activation,
}

pub(crate) fn finish() -> impl Strategy<Value = Finish> {
    (any::<bool>(), any::<bool>(), activation()).prop_map(|(norm, accumulate, activation)| Finish {
        norm,
        accumulate,
        activation,
    })
}

/// The tables of an [`Epilogue`].
pub(crate) struct Tables {
    bias: Shifted,
    scale: Shifted,
    shift: Shifted,
}

impl Tables {
    pub(crate) fn new(values: &mut Values, channels: usize) -> Self {
        Self { bias: values.slice(channels), scale: values.slice(channels), shift: values.slice(channels) }
    }

    pub(crate) fn epilogue(&self, finish: Finish) -> Epilogue<'_> {
        Epilogue {
            bias: self.bias.slice(),
            norm: finish.norm.then_some((self.scale.slice(), self.shift.slice())),
            accumulate: finish.accumulate,
            activation: finish.activation,
        }
    }
}

/// Elements before and after the results in each pixel of the output; none of either as often as not.
pub(crate) fn gaps() -> impl Strategy<Value = (usize, usize)> {
    prop_oneof![Just((0, 0)), (0..=5usize, 0..=5usize)]
}

pub(crate) fn columns((before, after): (usize, usize), channels: usize) -> Columns {
    Columns { pitch: before + channels + after, first: before }
}

/// The output, once the columns that are not ours are seen to be untouched.
pub(crate) fn checked(output: Shifted, pixels: usize, columns: Columns, channels: usize) -> Vec<f32> {
    let values = output.into_values();
    let untouched = values.iter().filter(|&&x| x == SENTINEL).count();
    assert_eq!(untouched, pixels * (columns.pitch - channels), "elements between the columns changed");
    values
}
