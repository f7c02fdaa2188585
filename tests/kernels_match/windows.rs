//! Kernels that read a neighbourhood or a whole row for each output element.

use netkit::kernels::{
    Conv2d, Dense, DepthwiseConv2d, Epilogue, Filters, KernelPitch, Kernels, Level, Pool2d, conv2d_scratch_elems,
    dense_scratch_elems, depthwise_conv2d_scratch_elems, pack, pack_row, packed_elems, packed_row_elems,
};
use netkit::tensor::Window;
use proptest::prelude::*;

use crate::args::{Finish, Tables, Values, channels, checked, columns, finish, gaps, seed, window};
use crate::grown::{Edges, edges};
use crate::{Bound, Case};

/// The weights as a network has them that had room for packed ones, or none.
fn packed(is_packed: bool, pixels: usize, filters: Filters<'_, f32>, epilogue: &Epilogue<'_>) -> Vec<f32> {
    let outputs = epilogue.bias.len();
    let elems = if is_packed { packed_elems(pixels, outputs, filters.rows * filters.row_elems) } else { 0 };
    let mut packed = vec![f32::NAN; elems];
    pack(&filters, epilogue, &mut packed);
    packed
}

/// The same for a dense layer.
fn packed_dense(is_packed: bool, rows: usize, filters: Filters<'_, f32>, epilogue: &Epilogue<'_>) -> Vec<f32> {
    if !is_packed || rows > 1 {
        return packed(is_packed, rows, filters, epilogue);
    }
    let mut packed = vec![f32::NAN; packed_row_elems(epilogue.bias.len(), filters.row_elems)];
    pack_row(&filters, epilogue, &mut packed);
    packed
}

/// The filters that a window moves over its input.
pub(crate) fn filters<'w>(window: &Window, weights: &'w [f32], pitch: KernelPitch) -> Filters<'w, f32> {
    Filters { weights, rows: window.kernel_h as usize, row_elems: (window.kernel_w * window.in_c) as usize, pitch }
}

#[derive(Debug)]
pub(crate) struct ConvCase {
    window: Window,
    finish: Finish,
    gaps: (usize, usize),
    packed: bool,
    seed: u64,
}

impl Case for ConvCase {
    fn all() -> BoxedStrategy<Self> {
        (window(5, false), finish(), gaps(), any::<bool>(), seed())
            .prop_map(|(window, finish, gaps, packed, seed)| Self { window, finish, gaps, packed, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let (pixels, channels) = ((window.out_h * window.out_w) as usize, window.out_c as usize);
        let columns = columns(self.gaps, channels);
        let input = values.slice((window.in_h * window.in_w * window.in_c) as usize);
        let weights = values.slice((window.out_c * window.kernel_h * window.kernel_w * window.in_c) as usize);
        let tables = Tables::new(&mut values, channels);
        let mut scratch = values.scratch(conv2d_scratch_elems(&window));
        let mut output = values.output(pixels, columns, channels);
        let pitch = KernelPitch::dense(&window);
        let epilogue = tables.epilogue(self.finish);
        (kernels.conv2d)(&mut Conv2d {
            window,
            input: input.slice(),
            weights: weights.slice(),
            kernel_pitch: pitch,
            packed: &packed(self.packed, pixels, filters(&window, weights.slice(), pitch), &epilogue),
            epilogue,
            columns,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        checked(output, pixels, columns, channels)
    }

    fn bound(&self) -> Bound {
        Bound::Sum((self.window.kernel_h * self.window.kernel_w * self.window.in_c) as usize)
    }
}

/// A kernel with zeros around it: the reference computes all of it, the others the part inside.
#[derive(Debug)]
pub(crate) struct GrownConvCase {
    inner: Window,
    edges: Edges,
    packed: bool,
    finish: Finish,
    seed: u64,
}

impl Case for GrownConvCase {
    fn all() -> BoxedStrategy<Self> {
        (window(4, false), edges(), any::<bool>(), finish(), seed())
            .prop_map(|(inner, edges, packed, finish, seed)| Self { inner, edges, packed, finish, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let part = self.run_part(kernels, true);
        if kernels.level != Level::Reference {
            return part;
        }
        let whole = self.run_part(kernels, false);
        assert_eq!(part, whole);
        whole
    }

    fn bound(&self) -> Bound {
        Bound::Sum((self.inner.kernel_h * self.inner.kernel_w * self.inner.in_c) as usize)
    }
}

impl GrownConvCase {
    fn run_part(&self, kernels: &Kernels, is_part: bool) -> Vec<f32> {
        let (inner, mut values) = (self.inner, Values::new(self.seed));
        let (pixels, channels) = ((inner.out_h * inner.out_w) as usize, inner.out_c as usize);
        let columns = columns((0, 0), channels);
        let input = values.slice((inner.in_h * inner.in_w * inner.in_c) as usize);
        let (outer, first) = self.edges.around(inner);
        let weights = values.slice((outer.out_c * outer.kernel_h * outer.kernel_w * outer.in_c) as usize);
        let mut weights = weights.slice().to_vec();
        self.edges.clear(&inner, &outer, &mut weights, &[0.0, -0.0]);
        let tables = Tables::new(&mut values, channels);
        let (window, first) = if is_part { (inner, first) } else { (outer, 0) };
        let mut scratch = values.scratch(conv2d_scratch_elems(&window));
        let mut output = values.output(pixels, columns, channels);
        let (weights, pitch) = (&weights[first..], KernelPitch::dense(&outer));
        let epilogue = tables.epilogue(self.finish);
        (kernels.conv2d)(&mut Conv2d {
            window,
            input: input.slice(),
            weights,
            kernel_pitch: pitch,
            packed: &packed(self.packed, pixels, filters(&window, weights, pitch), &epilogue),
            epilogue,
            columns,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        checked(output, pixels, columns, channels)
    }
}

#[derive(Debug)]
pub(crate) struct DenseCase {
    rows: usize,
    in_features: usize,
    out_features: usize,
    finish: Finish,
    gaps: (usize, usize),
    packed: bool,
    seed: u64,
}

impl Case for DenseCase {
    fn all() -> BoxedStrategy<Self> {
        let features = prop_oneof![8 => 1..=200usize, 1 => 201..=1500usize];
        let rows = prop_oneof![4 => 1..=40usize, 1 => Just(1)];
        (rows, features, channels(), finish(), gaps(), any::<bool>(), seed())
            .prop_map(|(rows, in_features, out_features, finish, gaps, packed, seed)| Self {
                rows,
                in_features,
                out_features: out_features as usize,
                finish,
                gaps,
                packed,
                seed,
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let mut values = Values::new(self.seed);
        let columns = columns(self.gaps, self.out_features);
        let input = values.slice(self.rows * self.in_features);
        let weights = values.slice(self.out_features * self.in_features);
        let tables = Tables::new(&mut values, self.out_features);
        let scratch_elems = dense_scratch_elems(self.rows as u32, self.in_features as u32, self.out_features as u32);
        let mut scratch = values.scratch(scratch_elems);
        let mut output = values.output(self.rows, columns, self.out_features);
        let epilogue = tables.epilogue(self.finish);
        let pitch = KernelPitch { filter: self.in_features, row: self.in_features };
        let filters = Filters { weights: weights.slice(), rows: 1, row_elems: self.in_features, pitch };
        (kernels.dense)(&mut Dense {
            rows: self.rows,
            input: input.slice(),
            weights: weights.slice(),
            packed: &packed_dense(self.packed, self.rows, filters, &epilogue),
            epilogue,
            columns,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        checked(output, self.rows, columns, self.out_features)
    }

    fn bound(&self) -> Bound {
        Bound::Sum(self.in_features)
    }
}

#[derive(Debug)]
pub(crate) struct DepthwiseCase {
    window: Window,
    finish: Finish,
    seed: u64,
}

impl Case for DepthwiseCase {
    fn all() -> BoxedStrategy<Self> {
        (window(7, true), finish(), seed()).prop_map(|(window, finish, seed)| Self { window, finish, seed }).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let input = values.slice((window.in_h * window.in_w * window.in_c) as usize);
        let weights = values.slice((window.out_c * window.kernel_h * window.kernel_w) as usize);
        let tables = Tables::new(&mut values, window.out_c as usize);
        let mut scratch = values.scratch(depthwise_conv2d_scratch_elems(&window));
        let mut output = values.slice((window.out_h * window.out_w * window.out_c) as usize);
        (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
            window,
            input: input.slice(),
            weights: weights.slice(),
            epilogue: tables.epilogue(self.finish),
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        output.into_values()
    }

    fn bound(&self) -> Bound {
        Bound::Sum((self.window.kernel_h * self.window.kernel_w) as usize)
    }
}

/// The two kinds of pooling take the same arguments.
#[derive(Clone, Copy, Debug)]
struct Pooling {
    window: Window,
    seed: u64,
}

impl Pooling {
    fn all() -> impl Strategy<Value = Self> {
        (window(4, true), seed()).prop_map(|(window, seed)| Self { window, seed })
    }

    fn run(&self, pool: fn(&mut Pool2d<'_>)) -> Vec<f32> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let input = values.slice((window.in_h * window.in_w * window.in_c) as usize);
        let mut output = values.slice((window.out_h * window.out_w * window.out_c) as usize);
        pool(&mut Pool2d { window, input: input.slice(), output: output.slice_mut() });
        output.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct MaxPoolCase(Pooling);

impl Case for MaxPoolCase {
    fn all() -> BoxedStrategy<Self> {
        Pooling::all().prop_map(Self).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        self.0.run(kernels.max_pool2d)
    }

    fn bound(&self) -> Bound {
        Bound::Exact
    }
}

#[derive(Debug)]
pub(crate) struct AvgPoolCase(Pooling);

impl Case for AvgPoolCase {
    fn all() -> BoxedStrategy<Self> {
        Pooling::all().prop_map(Self).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        self.0.run(kernels.avg_pool2d)
    }

    fn bound(&self) -> Bound {
        Bound::Exact
    }
}
