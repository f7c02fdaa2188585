//! Kernels that work in place, element by element or pixel by pixel.

use netkit::kernels::{Activation, Grn, Kernels, grn_scratch_elems};
use proptest::prelude::*;

use crate::args::{Values, activation, channels, seed};
use crate::{Bound, Case};

#[derive(Debug)]
pub(crate) struct BatchNormCase {
    pixels: usize,
    channels: usize,
    seed: u64,
}

impl Case for BatchNormCase {
    fn all() -> BoxedStrategy<Self> {
        (1..=20usize, channels(), seed())
            .prop_map(|(pixels, channels, seed)| Self { pixels, channels: channels as usize, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let (scale, shift) = (values.slice(self.channels), values.slice(self.channels));
        let mut data = values.slice(self.pixels * self.channels);
        (kernels.batch_norm2d)(data.slice_mut(), scale.slice(), shift.slice());
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Exact
    }
}

#[derive(Debug)]
pub(crate) struct LayerNormCase {
    pixels: usize,
    channels: usize,
    eps: f32,
    seed: u64,
}

impl Case for LayerNormCase {
    fn all() -> BoxedStrategy<Self> {
        (1..=20usize, channels(), prop_oneof![Just(1e-6f32), Just(1e-5), Just(1e-3)], seed())
            .prop_map(|(pixels, channels, eps, seed)| Self { pixels, channels: channels as usize, eps, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let (gamma, beta) = (values.slice(self.channels), values.slice(self.channels));
        let mut data = values.slice(self.pixels * self.channels);
        (kernels.layernorm2d)(data.slice_mut(), gamma.slice(), beta.slice(), self.eps);
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Sum(self.channels)
    }
}

#[derive(Debug)]
pub(crate) struct GrnCase {
    pixels: usize,
    channels: usize,
    eps: f32,
    seed: u64,
}

impl Case for GrnCase {
    fn all() -> BoxedStrategy<Self> {
        (1..=60usize, channels(), prop_oneof![Just(1e-6f32), Just(1e-3)], seed())
            .prop_map(|(pixels, channels, eps, seed)| Self { pixels, channels: channels as usize, eps, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let (gamma, beta) = (values.slice(self.channels), values.slice(self.channels));
        let mut scratch = values.scratch(grn_scratch_elems(self.channels as u32));
        let mut data = values.slice(self.pixels * self.channels);
        (kernels.grn)(&mut Grn {
            data: data.slice_mut(),
            gamma: gamma.slice(),
            beta: beta.slice(),
            eps: self.eps,
            scratch: scratch.slice_mut(),
        });
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Sum(1)
    }
}

#[derive(Debug)]
pub(crate) struct SoftmaxCase {
    rows: usize,
    row_elems: usize,
    /// Elements lie between minus this and this.
    largest: f32,
    seed: u64,
}

impl Case for SoftmaxCase {
    fn all() -> BoxedStrategy<Self> {
        (1..=5usize, 1..=150usize, prop_oneof![Just(1.0f32), Just(20.0), Just(200.0)], seed())
            .prop_map(|(rows, row_elems, largest, seed)| Self { rows, row_elems, largest, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let mut data = values.scaled(self.rows * self.row_elems, self.largest);
        (kernels.softmax)(data.slice_mut(), self.row_elems);
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Sum(1)
    }
}

#[derive(Debug)]
pub(crate) struct ActivateCase {
    len: usize,
    activation: Activation,
    /// Elements lie between minus this and this.
    largest: f32,
    seed: u64,
}

impl Case for ActivateCase {
    fn all() -> BoxedStrategy<Self> {
        (0..=70usize, activation(), prop_oneof![Just(1.0f32), Just(10.0), Just(150.0)], seed())
            .prop_map(|(len, activation, largest, seed)| Self { len, activation, largest, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut data = Values::new(self.seed).scaled(self.len, self.largest);
        (kernels.activate)(data.slice_mut(), self.activation);
        data.into_values()
    }

    fn bound(&self) -> Bound {
        match self.activation {
            Activation::None | Activation::Relu | Activation::LeakyRelu(_) | Activation::Relu6 => Bound::Exact,
            Activation::Sigmoid | Activation::Tanh | Activation::Silu | Activation::Gelu => Bound::Sum(1),
        }
    }
}

#[derive(Debug)]
pub(crate) struct AddCase {
    len: usize,
    seed: u64,
}

impl Case for AddCase {
    fn all() -> BoxedStrategy<Self> {
        (0..=300usize, seed()).prop_map(|(len, seed)| Self { len, seed }).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let other = values.slice(self.len);
        let mut data = values.slice(self.len);
        (kernels.add)(data.slice_mut(), other.slice());
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Exact
    }
}

#[derive(Debug)]
pub(crate) struct UpsampleCase {
    half_h: usize,
    half_w: usize,
    channels: usize,
    seed: u64,
}

impl Case for UpsampleCase {
    fn all() -> BoxedStrategy<Self> {
        (1..=7usize, 1..=7usize, channels(), seed())
            .prop_map(|(half_h, half_w, channels, seed)| Self { half_h, half_w, channels: channels as usize, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let half = values.slice(self.half_h * self.half_w * self.channels);
        let mut data = values.slice(4 * self.half_h * self.half_w * self.channels);
        (kernels.add_upsampled2x)(data.slice_mut(), half.slice(), self.half_w, self.channels);
        data.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Exact
    }
}
