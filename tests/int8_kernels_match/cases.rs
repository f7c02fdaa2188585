//! The arguments of each kernel.

use netkit::kernels::int8::args::{
    Term, conv2d_can_pool, conv2d_scratch_elems, dense_scratch_elems, depthwise_conv2d_can_pool,
    depthwise_conv2d_scratch_elems,
};
use netkit::kernels::int8::compact::{
    self,
    machine::{Halves, Pairs, Words},
};
use netkit::kernels::int8::requantize::{add_terms, softmax_params};
use netkit::kernels::int8::{
    Add, Conv2d, Dense, DepthwiseConv2d, Kernels, Pool2d, Requantize, Softmax, depthwise_packed_bytes, pack,
    pack_depthwise, packed_bytes,
};
use netkit::kernels::{Filters, KernelPitch, Level};
use netkit::tensor::Window;
use proptest::prelude::*;

use crate::Case;
use crate::args::{Finish, Tables, Values, channels, deep_window, finish, seed, window, zero_point};
use crate::grown::{Edges, edges};

fn in_elems(window: &Window) -> usize {
    (window.in_h * window.in_w * window.in_c) as usize
}

fn out_elems(window: &Window) -> usize {
    (window.out_h * window.out_w * window.out_c) as usize
}

/// Elements of scratch: those of the levels, or of a machine whose kernels are compact, which may also have less for rows.
fn scratch_elems(kernels: &Kernels, of_levels: u32, of_machines: [u32; 3], least: u32, seed: u64) -> u32 {
    let is_same = |machine: &Kernels| std::ptr::fn_addr_eq(machine.conv2d, kernels.conv2d);
    match compact::IN_RUST.iter().position(|(_, machine)| is_same(machine)) {
        Some(machine) if seed.is_multiple_of(3) => of_machines[machine].min(least),
        Some(machine) => of_machines[machine],
        None => of_levels,
    }
}

/// Rows of two groups of any machine, and what aligns them; all where these are no rows but a table of codes.
fn few_rows(elems: u32) -> u32 {
    if elems == 1024 { elems } else { 2 * 32 + 1 }
}

/// Scratch of a convolution.
fn conv2d_scratch(kernels: &Kernels, window: &Window, pooled: bool, seed: u64) -> u32 {
    use compact::conv2d::scratch_elems_of as of;
    let machines = [of::<Words>(window, pooled), of::<Halves>(window, pooled), of::<Pairs>(window, pooled)];
    scratch_elems(kernels, conv2d_scratch_elems(window, pooled), machines, few_rows(machines[0]), seed)
}

/// Scratch of a dense layer.
fn dense_scratch(kernels: &Kernels, (rows, inputs, outputs): (u32, u32, u32), seed: u64) -> u32 {
    use compact::dense::scratch_elems_of as of;
    let machines =
        [of::<Words>(rows, inputs, outputs), of::<Halves>(rows, inputs, outputs), of::<Pairs>(rows, inputs, outputs)];
    scratch_elems(kernels, dense_scratch_elems(rows, inputs, outputs), machines, few_rows(machines[0]), seed)
}

/// Scratch of a depthwise convolution, all of which is needed.
fn depthwise_conv2d_scratch(kernels: &Kernels, window: &Window) -> u32 {
    use compact::depthwise_conv2d::scratch_elems_of as of;
    let machines = [of::<Words>(window), of::<Halves>(window), of::<Pairs>(window)];
    scratch_elems(kernels, depthwise_conv2d_scratch_elems(window), machines, u32::MAX, 0)
}

/// The window with an output that 2 x 2 blocks cover, if pooling is wanted and possible, and whether it is.
fn pooling(window: Window, wanted: bool, can_pool: fn(&Window) -> bool) -> (Window, bool) {
    let even = Window { out_h: window.out_h / 2 * 2, out_w: window.out_w / 2 * 2, ..window };
    let pooled = wanted && even.out_h > 0 && even.out_w > 0 && can_pool(&even);
    if pooled { (even, true) } else { (window, false) }
}

/// Elements of the output, after pooling.
fn pooled_elems(window: &Window, pooled: bool) -> usize {
    out_elems(window) / if pooled { 4 } else { 1 }
}

#[derive(Debug)]
pub(crate) struct ConvCase {
    window: Window,
    pooled: bool,
    finish: Finish,
    packed: bool,
    seed: u64,
}

/// The weights as a network has them that had room for packed ones, or none.
fn packed(kernels: &Kernels, pixels: usize, filters: Filters<'_, i8>, requantize: &Requantize<'_>) -> Vec<i8> {
    let bytes = packed_bytes(pixels, requantize.bias.len(), filters.rows, filters.row_elems);
    let mut packed = vec![0x55; bytes];
    pack(kernels.level, &filters, requantize, &mut packed);
    packed
}

/// The filters that a window moves over its input.
fn filters<'w>(window: &Window, weights: &'w [i8], pitch: KernelPitch) -> Filters<'w, i8> {
    Filters { weights, rows: window.kernel_h as usize, row_elems: (window.kernel_w * window.in_c) as usize, pitch }
}

impl Case for ConvCase {
    fn all() -> BoxedStrategy<Self> {
        let window = prop_oneof![7 => window(5, false), 1 => deep_window()];
        (window, any::<bool>(), finish(100), any::<bool>(), seed())
            .prop_map(|(window, pooled, finish, packed, seed)| {
                let (window, pooled) = pooling(window, pooled, conv2d_can_pool);
                Self { window, pooled, finish, packed, seed }
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let input = values.codes(in_elems(&window));
        let weights = values.codes((window.out_c * window.kernel_h * window.kernel_w * window.in_c) as usize);
        let tables = Tables::new(&mut values, window.out_c as usize, &self.finish);
        let mut scratch = values.scratch(conv2d_scratch(kernels, &window, self.pooled, self.seed));
        let mut output = values.codes(pooled_elems(&window, self.pooled));
        let requantize = tables.requantize(&self.finish);
        let pixels = if self.packed { out_elems(&window) / window.out_c as usize } else { 0 };
        (kernels.conv2d)(&mut Conv2d {
            window,
            input: input.slice(),
            weights: weights.slice(),
            kernel_pitch: KernelPitch::dense(&window),
            packed: &packed(
                kernels,
                pixels,
                filters(&window, weights.slice(), KernelPitch::dense(&window)),
                &requantize,
            ),
            requantize,
            pooled: self.pooled,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        output.into_values()
    }
}

/// A kernel with zeros around it: the reference computes all of it, the others the part inside.
#[derive(Debug)]
pub(crate) struct GrownConvCase {
    inner: Window,
    edges: Edges,
    pooled: bool,
    finish: Finish,
    packed: bool,
    seed: u64,
}

impl Case for GrownConvCase {
    fn all() -> BoxedStrategy<Self> {
        (window(4, false), edges(), any::<bool>(), finish(100), any::<bool>(), seed())
            .prop_map(|(inner, edges, pooled, finish, packed, seed)| {
                let (inner, pooled) = pooling(inner, pooled, conv2d_can_pool);
                Self { inner, edges, pooled, finish, packed, seed }
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let part = self.run_part(kernels, true);
        if kernels.level == Level::Reference {
            assert_eq!(part, self.run_part(kernels, false));
        }
        part
    }
}

impl GrownConvCase {
    fn run_part(&self, kernels: &Kernels, is_part: bool) -> Vec<i8> {
        let (inner, mut values) = (self.inner, Values::new(self.seed));
        let input = values.codes(in_elems(&inner));
        let (outer, first) = self.edges.around(inner);
        let weights = values.codes((outer.out_c * outer.kernel_h * outer.kernel_w * outer.in_c) as usize);
        let mut weights = weights.slice().to_vec();
        self.edges.clear(&inner, &outer, &mut weights, &[0]);
        let tables = Tables::new(&mut values, inner.out_c as usize, &self.finish);
        let (window, first) = if is_part { (inner, first) } else { (outer, 0) };
        let mut scratch = values.scratch(conv2d_scratch(kernels, &window, self.pooled, self.seed));
        let mut output = values.codes(pooled_elems(&inner, self.pooled));
        let (pitch, requantize) = (KernelPitch::dense(&outer), tables.requantize(&self.finish));
        let pixels = if self.packed { out_elems(&window) / window.out_c as usize } else { 0 };
        (kernels.conv2d)(&mut Conv2d {
            window,
            input: input.slice(),
            weights: &weights[first..],
            kernel_pitch: pitch,
            packed: &packed(kernels, pixels, filters(&window, &weights[first..], pitch), &requantize),
            requantize,
            pooled: self.pooled,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        output.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct DenseCase {
    rows: usize,
    in_features: usize,
    out_features: usize,
    finish: Finish,
    packed: bool,
    seed: u64,
}

impl Case for DenseCase {
    fn all() -> BoxedStrategy<Self> {
        let in_features = prop_oneof![6 => 1..=200usize, 1 => 201..=2500usize];
        let rows = prop_oneof![Just(1usize), 1..=40usize];
        let weight_zero_point = prop_oneof![Just(0), zero_point()];
        let out_features = prop_oneof![4 => channels(), 1 => 64..=200u32];
        (rows, in_features, out_features, finish(100), weight_zero_point, any::<bool>(), seed())
            .prop_map(|(rows, in_features, out_features, finish, weight_zero_point, packed, seed)| Self {
                rows,
                in_features,
                out_features: out_features as usize,
                finish: Finish { weight_zero_point, ..finish },
                packed,
                seed,
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let mut values = Values::new(self.seed);
        let input = values.codes(self.rows * self.in_features);
        let weights = values.codes(self.out_features * self.in_features);
        let tables = Tables::new(&mut values, self.out_features, &self.finish);
        let shape = (self.rows as u32, self.in_features as u32, self.out_features as u32);
        let elems = dense_scratch(kernels, shape, self.seed);
        let mut scratch = values.scratch(elems);
        let mut output = values.codes(self.rows * self.out_features);
        let requantize = tables.requantize(&self.finish);
        let rows = if self.packed { self.rows } else { 0 };
        let pitch = KernelPitch { filter: self.in_features, row: self.in_features };
        let filters = Filters { weights: weights.slice(), rows: 1, row_elems: self.in_features, pitch };
        (kernels.dense)(&mut Dense {
            rows: self.rows,
            input: input.slice(),
            weights: weights.slice(),
            packed: &packed(kernels, rows, filters, &requantize),
            requantize,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        output.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct DepthwiseCase {
    window: Window,
    pooled: bool,
    packed: bool,
    finish: Finish,
    seed: u64,
}

impl Case for DepthwiseCase {
    fn all() -> BoxedStrategy<Self> {
        // Channels for several blocks of 64, now and then.
        let more_channels = prop_oneof![4 => Just(0), 1 => Just(61), 1 => Just(120)];
        (window(7, true), more_channels, any::<bool>(), any::<bool>(), finish(9), seed())
            .prop_map(|(window, more, pooled, packed, finish, seed)| {
                let window = Window { in_c: window.in_c + more, out_c: window.out_c + more, ..window };
                let (window, pooled) = pooling(window, pooled, depthwise_conv2d_can_pool);
                Self { window, pooled, packed, finish, seed }
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let input = values.codes(in_elems(&window));
        let weights = values.codes((window.out_c * window.kernel_h * window.kernel_w) as usize);
        let tables = Tables::new(&mut values, window.out_c as usize, &self.finish);
        let mut scratch = values.scratch(depthwise_conv2d_scratch(kernels, &window));
        let mut output = values.codes(pooled_elems(&window, self.pooled));
        let requantize = tables.requantize(&self.finish);
        let mut packed = vec![0; if self.packed { depthwise_packed_bytes(&window) } else { 0 }];
        pack_depthwise(&window, weights.slice(), &requantize, &mut packed);
        (kernels.depthwise_conv2d)(&mut DepthwiseConv2d {
            window,
            input: input.slice(),
            weights: weights.slice(),
            packed: &packed,
            requantize,
            pooled: self.pooled,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        output.into_values()
    }
}

/// The two kinds of pooling take the same arguments.
#[derive(Clone, Copy, Debug)]
struct Pooling {
    window: Window,
    zero_point: i32,
    seed: u64,
}

impl Pooling {
    fn all() -> impl Strategy<Value = Self> {
        (prop_oneof![9 => window(4, true).boxed(), 1 => window(11, true).boxed()], zero_point(), seed())
            .prop_map(|(window, zero_point, seed)| Self { window, zero_point, seed })
    }

    fn run(&self, pool: fn(&mut Pool2d<'_>)) -> Vec<i8> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let input = values.codes(in_elems(&window));
        let mut output = values.codes(out_elems(&window));
        pool(&mut Pool2d { window, input: input.slice(), zero_point: self.zero_point, output: output.slice_mut() });
        output.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct MaxPoolCase(Pooling);

impl Case for MaxPoolCase {
    fn all() -> BoxedStrategy<Self> {
        Pooling::all().prop_map(Self).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        self.0.run(kernels.max_pool2d)
    }
}

#[derive(Debug)]
pub(crate) struct AvgPoolCase(Pooling);

impl Case for AvgPoolCase {
    fn all() -> BoxedStrategy<Self> {
        Pooling::all().prop_map(Self).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        self.0.run(kernels.avg_pool2d)
    }
}

#[derive(Debug)]
pub(crate) struct AddCase {
    len: usize,
    terms: (Term, Term, Term),
    clamp: (i8, i8),
    seed: u64,
}

impl Case for AddCase {
    fn all() -> BoxedStrategy<Self> {
        let scale = || prop_oneof![Just(1.0f32), (-20.0..8.0f32).prop_map(f32::exp2)];
        let scales = (scale(), zero_point(), scale(), zero_point(), scale(), zero_point());
        let term = || {
            let multiplier = prop_oneof![Just(0), Just(i32::MAX), 1 << 30..=i32::MAX];
            (multiplier, -31..=30i8, zero_point()).prop_map(|(multiplier, shift, zero_point)| Term {
                multiplier,
                shift,
                zero_point,
            })
        };
        let terms = prop_oneof![
            4 => scales.prop_map(|(a, za, b, zb, out, zo)| add_terms(a, za, b, zb, out, zo)),
            1 => (term(), term(), term()),
        ];
        (0..=300usize, terms, any::<(i8, i8)>(), seed())
            .prop_map(|(len, terms, (a, b), seed)| Self { len, terms, clamp: (a.min(b), a.max(b)), seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let mut values = Values::new(self.seed);
        let (mut data, other) = (values.codes(self.len), values.codes(self.len));
        let (own, other_term, output) = self.terms;
        (kernels.add)(&mut Add {
            data: data.slice_mut(),
            other: other.slice(),
            own,
            other_term,
            output,
            min: self.clamp.0,
            max: self.clamp.1,
        });
        data.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct SoftmaxCase {
    rows: usize,
    row_elems: usize,
    scale: f32,
    seed: u64,
}

impl Case for SoftmaxCase {
    fn all() -> BoxedStrategy<Self> {
        let row_elems = prop_oneof![9 => 1..=70usize, 1 => 4000..=9000usize];
        (0..=3usize, row_elems, (-40.0..6.0f32).prop_map(f32::exp2), seed())
            .prop_map(|(rows, row_elems, scale, seed)| Self { rows, row_elems, scale, seed })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let mut data = Values::new(self.seed).codes(self.rows * self.row_elems);
        let (multiplier, shift, diff_min) = softmax_params(self.scale);
        let row_elems = self.row_elems;
        (kernels.softmax)(&mut Softmax { data: data.slice_mut(), row_elems, multiplier, shift, diff_min });
        data.into_values()
    }
}

#[derive(Debug)]
pub(crate) struct LookupCase {
    len: usize,
    seed: u64,
}

impl Case for LookupCase {
    fn all() -> BoxedStrategy<Self> {
        (0..=300usize, seed()).prop_map(|(len, seed)| Self { len, seed }).boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<i8> {
        let mut values = Values::new(self.seed);
        let mut data = values.codes(self.len);
        let table: [i8; 256] = std::array::from_fn(|_| values.next() as i8);
        (kernels.lookup)(data.slice_mut(), &table);
        data.into_values()
    }
}
