//! The graph between the model and the `.nk` layers: operations that a `.nk` layer can compute, and those that only patterns
//! can resolve. Everything lies in memory as `[n][h][w][c]`; weights are `[filter][row][column][channel]` in f64.

use std::collections::{BTreeMap, BTreeSet};

use netkit::format::quant::QuantParams;

pub use super::activation::Activation;
use super::view::Axis;

/// Index of an operation in [`Ir::ops`], and of its result.
pub type Id = usize;

/// Extents of a tensor in memory. A row of features is a map of one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Rows of a batch.
    pub n: usize,
    /// Height.
    pub h: usize,
    /// Width.
    pub w: usize,
    /// Channels.
    pub c: usize,
}

impl Extent {
    /// Extent along one axis.
    pub fn along(&self, axis: Axis) -> usize {
        match axis {
            Axis::N => self.n,
            Axis::H => self.h,
            Axis::W => self.w,
            Axis::C => self.c,
        }
    }

    /// Elements of one row of the batch.
    pub fn elements(&self) -> usize {
        self.h * self.w * self.c
    }

    /// Distance of neighbours along `axis` in memory made of `axes` only.
    pub fn step(&self, axis: Axis, axes: &[Axis]) -> usize {
        if !axes.contains(&axis) {
            return 0;
        }
        axes.iter().filter(|&&inner| inner > axis).map(|&inner| self.along(inner)).product()
    }

    /// The same memory with the rows of a batch as further rows of a map.
    pub fn with_rows_stacked(self) -> Self {
        Self { n: 1, h: self.n * self.h, ..self }
    }

    /// Whether a row is a single pixel.
    pub fn is_pixel(&self) -> bool {
        self.h == 1 && self.w == 1
    }
}

/// A window that moves over a map. Padding behind the map follows from the extent of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows and columns.
    pub kernel: (usize, usize),
    /// Step on both axes.
    pub stride: usize,
    /// Rows above and columns left of the map.
    pub before: (usize, usize),
}

impl Window {
    /// The window of one pixel.
    pub const POINT: Self = Self { kernel: (1, 1), stride: 1, before: (0, 0) };

    /// Whether no window of a result of extent `output` leaves the map.
    pub fn stays_inside(&self, input: Extent, output: Extent) -> bool {
        let fits = |out: usize, kernel: usize, size: usize| (out - 1) * self.stride + kernel <= size;
        self.before == (0, 0) && fits(output.h, self.kernel.0, input.h) && fits(output.w, self.kernel.1, input.w)
    }

    /// Number of taps.
    pub fn area(&self) -> usize {
        self.kernel.0 * self.kernel.1
    }
}

/// Scales and zero points around weighted sums of an int8 model, whose weights and biases are whole numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Quant {
    /// Of what is read.
    pub input: QuantParams,
    /// Of the weights: one, or one for each filter.
    pub scales: Vec<f32>,
    /// Zero point of the weights.
    pub weight_zero_point: i32,
    /// Of the result before an activation that is a table, behind one that is a clamp.
    pub output: QuantParams,
}

/// Weighted sums over windows and channels. A dense layer is a convolution whose window is the whole map.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// Geometry.
    pub window: Window,
    /// `[filter][row][column][channel]`.
    pub weights: Vec<f64>,
    /// One for each filter.
    pub bias: Vec<f64>,
    /// Function of the result.
    pub activation: Activation,
    /// Whether the model has a matrix product here: it can be a dense layer.
    pub is_dense: bool,
    /// In an int8 model.
    pub quant: Option<Quant>,
}

impl Conv {
    /// Number of input channels.
    pub fn channels(&self) -> usize {
        self.weights.len() / (self.bias.len() * self.window.area())
    }
}

/// Weighted sums over windows, channel by channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Depthwise {
    /// Geometry.
    pub window: Window,
    /// `[channel][row][column]`.
    pub weights: Vec<f64>,
    /// One for each channel.
    pub bias: Vec<f64>,
    /// Function of the result.
    pub activation: Activation,
    /// In an int8 model.
    pub quant: Option<Quant>,
}

/// `activation(x * scale + shift)`, with one scale and shift for each channel, or for each element of a row in memory order.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    /// Factors.
    pub scale: Vec<f64>,
    /// Summands.
    pub shift: Vec<f64>,
    /// Function of the result.
    pub activation: Activation,
}

impl Affine {
    /// With numbers for each channel where neither scale nor shift depends on the pixel, else with numbers for each element
    /// in both.
    pub fn aligned(mut self, channels: usize) -> Self {
        let longest = self.scale.len().max(self.shift.len());
        for values in [&mut self.scale, &mut self.shift] {
            if values.len() < longest {
                *values = values.repeat(longest / values.len());
            }
        }
        let is_per_channel = |values: &[f64]| values.chunks_exact(channels).all(|pixel| *pixel == values[..channels]);
        if is_per_channel(&self.scale) && is_per_channel(&self.shift) {
            self.scale.truncate(channels);
            self.shift.truncate(channels);
        }
        self
    }

    /// Whether this is the function `activation(x)`.
    pub fn is_plain(&self) -> bool {
        self.scale.iter().all(|&scale| scale == 1.0) && self.shift.iter().all(|&shift| shift == 0.0)
    }
}

/// Kinds of pooling; an average counts only what lies inside the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolKind {
    /// Largest element.
    Max,
    /// Mean of the elements.
    Average,
}

/// Scale and shift of a normalisation, with its epsilon.
#[derive(Clone, Debug, PartialEq)]
pub struct Norm {
    /// Factors, one for each channel.
    pub gamma: Vec<f64>,
    /// Summands, one for each channel.
    pub beta: Vec<f64>,
    /// Epsilon.
    pub eps: f64,
}

/// Reductions that patterns contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Mean.
    Mean,
    /// Root of the sum of squares.
    L2,
}

/// Operations.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// The input of the model.
    Input,
    /// What was refused, in the place of a result, so that its readers can be looked at.
    Opaque,
    /// See [`Conv`].
    Conv(Conv),
    /// See [`Depthwise`].
    Depthwise(Depthwise),
    /// See [`Affine`].
    Affine(Affine),
    /// Pooling.
    Pool(PoolKind, Window),
    /// Normalisation over the channels of each pixel.
    LayerNorm(Norm),
    /// Zeros above and left of the map; those behind it follow from the extent.
    Pad(usize, usize),
    /// Rows and columns from a first one on in equal steps; how many follows from the extent.
    Crop {
        /// First row and column.
        before: (usize, usize),
        /// From one to the next.
        step: (usize, usize),
    },
    /// `x` above 0, else `slope * x` with a slope for each channel.
    PRelu(Vec<f64>),
    /// Sum.
    Add,
    /// Larger of two.
    Max,
    /// Product, only inside of patterns.
    Mul,
    /// Quotient, only inside of patterns.
    Div,
    /// Channels of several tensors one after another.
    Concat,
    /// Reduction over some axes, only inside of patterns.
    Reduce(Reduction, Vec<Axis>),
    /// Error function, only inside of patterns.
    Erf,
    /// `x` to a power, only inside of patterns.
    Power(f64),
    /// Gaussian error linear unit, in its tanh form or exact; only inside of a ConvNeXt V2 block.
    Gelu {
        /// The form that computes with tanh.
        tanh: bool,
    },
    /// Global response normalisation, only inside of a ConvNeXt V2 block.
    Grn(Norm),
    /// Two 3x3 convolutions and a shortcut, which is the input where there is no projection; ReLU.
    ResnetBlock(Box<[Conv; 2]>, Option<Box<Conv>>),
    /// Universal inverted bottleneck with its input added.
    Uib(Box<Uib>),
    /// ConvNeXt V2 block.
    ConvNextBlock(Box<ConvNext>),
}

/// Convolutions of a universal inverted bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct Uib {
    /// Before the expansion.
    pub start: Option<Depthwise>,
    /// To more channels.
    pub expand: Conv,
    /// Between expansion and projection.
    pub middle: Option<Depthwise>,
    /// Back to the channels of the input.
    pub project: Conv,
}

/// Parts of a ConvNeXt V2 block.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvNext {
    /// 7x7.
    pub mix: Depthwise,
    /// Over channels.
    pub norm: Norm,
    /// To four times the channels.
    pub expand: Conv,
    /// Global response normalisation.
    pub grn: Norm,
    /// Back to the channels of the input.
    pub project: Conv,
}

/// Where an operation comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Indices of the model's nodes.
    pub nodes: BTreeSet<usize>,
    /// What was done to them.
    pub rewrites: BTreeSet<&'static str>,
}

impl Origin {
    /// Both origins.
    pub fn and(mut self, other: &Self) -> Self {
        self.nodes.extend(&other.nodes);
        self.rewrites.extend(&other.rewrites);
        self
    }

    /// With one more rewrite.
    pub fn by(mut self, rewrite: &'static str) -> Self {
        self.rewrites.insert(rewrite);
        self
    }
}

/// An operation with its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Op {
    /// What is computed.
    pub kind: Kind,
    /// Of what.
    pub inputs: Vec<Id>,
    /// Extent of the result.
    pub extent: Extent,
    /// Where it comes from.
    pub origin: Origin,
}

/// Operations; each is made after its operands, but rewriting may change the order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ir {
    /// All operations, also those that nobody reads any more.
    pub ops: Vec<Op>,
    /// The one that is asked for.
    pub output: Id,
    /// Scales and zero points of the results of an int8 model.
    pub params: BTreeMap<Id, QuantParams>,
}

impl Ir {
    /// Adds an operation.
    pub fn push(&mut self, op: Op) -> Id {
        self.ops.push(op);
        self.ops.len() - 1
    }

    /// The operations that the output depends on, operands first.
    pub fn order(&self) -> Vec<Id> {
        let mut state = vec![false; self.ops.len()];
        let mut order = Vec::new();
        let mut stack = vec![(self.output, 0)];
        state[self.output] = true;
        while let Some((id, next)) = stack.pop() {
            match self.ops[id].inputs.get(next) {
                Some(&input) => {
                    stack.push((id, next + 1));
                    if !std::mem::replace(&mut state[input], true) {
                        stack.push((input, 0));
                    }
                }
                None => order.push(id),
            }
        }
        order
    }

    /// How often each result is read; the output counts as a reader.
    pub fn reads(&self) -> Vec<usize> {
        let mut reads = vec![0; self.ops.len()];
        for id in self.order() {
            for &input in &self.ops[id].inputs {
                reads[input] += 1;
            }
        }
        reads[self.output] += 1;
        reads
    }

    /// Puts another operation in the place of `id`, for all its readers.
    pub fn replace(&mut self, id: Id, kind: Kind, inputs: Vec<Id>, origin: Origin) {
        let extent = self.ops[id].extent;
        self.ops[id] = Op { kind, inputs, extent, origin };
    }

    /// Makes all readers of `id` read `by` instead.
    pub fn bypass(&mut self, id: Id, by: Id) {
        for op in &mut self.ops {
            op.inputs.iter_mut().filter(|input| **input == id).for_each(|input| *input = by);
        }
        if self.output == id {
            self.output = by;
        }
    }

    /// The only operand of `id`.
    pub fn input(&self, id: Id) -> Id {
        self.ops[id].inputs[0]
    }

    /// Extent of the only operand of `id`.
    pub fn input_extent(&self, id: Id) -> Extent {
        self.ops[self.input(id)].extent
    }
}
