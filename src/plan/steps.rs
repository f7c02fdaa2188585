//! The primitive steps that every layer kind is lowered to.

use bytemuck::{Pod, Zeroable};

use crate::kernels::{Activation, Filters, KernelPitch};
use crate::tensor::Window;

/// What a step computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Copies the input to the output.
    Copy = 0,
    /// Rows times weights: dense layers and unpadded 1x1 convolutions with stride 1.
    Dense = 1,
    /// 2-D convolution.
    Conv2d = 2,
    /// Depthwise 2-D convolution.
    DepthwiseConv2d = 3,
    /// Maximum pooling.
    MaxPool2d = 4,
    /// Average pooling.
    AvgPool2d = 5,
    /// Scale and shift per channel, in place.
    BatchNorm2d = 6,
    /// Layer normalisation per pixel, in place.
    LayerNorm2d = 7,
    /// Global response normalisation, in place.
    Grn = 8,
    /// Softmax of each row, in place.
    Softmax = 9,
    /// Adds the input to the output.
    Add = 10,
    /// Adds the input, upsampled by 2, to the output.
    AddUpsampled2x = 11,
    /// Replaces each int8 element by its entry in a table, in place: activations that a clamp cannot express.
    Lookup = 12,
}

impl Op {
    /// All operations in the order of their codes.
    pub const ALL: [Self; 13] = [
        Self::Copy,
        Self::Dense,
        Self::Conv2d,
        Self::DepthwiseConv2d,
        Self::MaxPool2d,
        Self::AvgPool2d,
        Self::BatchNorm2d,
        Self::LayerNorm2d,
        Self::Grn,
        Self::Softmax,
        Self::Add,
        Self::AddUpsampled2x,
        Self::Lookup,
    ];

    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Dense => "dense",
            Self::Conv2d => "conv2d",
            Self::DepthwiseConv2d => "depthwise_conv2d",
            Self::MaxPool2d => "max_pool2d",
            Self::AvgPool2d => "avg_pool2d",
            Self::BatchNorm2d => "batch_norm2d",
            Self::LayerNorm2d => "layernorm2d",
            Self::Grn => "grn",
            Self::Softmax => "softmax",
            Self::Add => "add",
            Self::AddUpsampled2x => "add_upsampled2x",
            Self::Lookup => "lookup",
        }
    }
}

/// Memory that a tensor can live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Place {
    /// The caller's input buffer, read only.
    Input = 0,
    /// The caller's output buffer.
    Output = 1,
    /// The activations in the arena.
    Arena = 2,
}

/// A range of elements in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Operand {
    place: u32,
    /// First element.
    pub first: u32,
    /// Number of elements.
    pub elems: u32,
}

impl Operand {
    /// A range of elements.
    pub const fn new(place: Place, first: u32, elems: u32) -> Self {
        Self { place: place as u32, first, elems }
    }

    /// The place; a value that no plan contains reads as the arena, whose bounds are checked.
    pub const fn place(&self) -> Place {
        match self.place {
            0 => Place::Input,
            1 => Place::Output,
            _ => Place::Arena,
        }
    }

    /// The elements as a range.
    pub const fn range(&self) -> core::ops::Range<usize> {
        self.first as usize..self.first as usize + self.elems as usize
    }
}

/// The operation uses batch norm in its epilogue.
pub const FLAG_NORM: u8 = 1;
/// The operation adds the present content of its output.
pub const FLAG_ACCUMULATE: u8 = 2;

/// The output is pooled: the largest of every 2 x 2 block, so it has half the height and width of the window's.
pub const FLAG_POOLED: u8 = 4;

/// int8 parameters of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct StepQuant {
    /// Offset of the step's integer tables, in bytes from the start of the network's tables; their content depends on the
    /// operation, see [`crate::plan::tables`].
    pub table: u32,
    /// Zero point of the input.
    pub input_zero_point: i8,
    /// Zero point of the weights.
    pub weight_zero_point: i8,
    /// Zero point of the output.
    pub output_zero_point: i8,
    /// Least output.
    pub min: i8,
    /// Largest output.
    pub max: i8,
    reserved: [u8; 3],
}

/// One step of a plan, in the arena: plain data without pointers.
///
/// Offsets of weights, biases and batch norms count elements: float32 from the start of the payload, or in int8 models int8
/// from the start of the weights and int32 from the start of the biases.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    op: u8,
    activation: u8,
    /// `FLAG_*` bits.
    pub flags: u8,
    /// Layer this step belongs to.
    pub layer: u8,
    /// Slope of leaky_relu, or epsilon of a normalisation.
    pub alpha: f32,
    /// Geometry; steps without a window use `in_h` rows of `in_c` to `out_c` channels.
    pub window: Window,
    /// What is read; equal to `output` for steps in place.
    pub input: Operand,
    /// What is written.
    pub output: Operand,
    /// Scratch memory, always in the arena; 0 elements when there is none.
    pub scratch: Operand,
    /// Weights, gamma or scale; of a convolution the first tap that the window has.
    pub weights: u32,
    /// Rows and columns that the kernel of a convolution has in the file. The window has fewer where the others are zero.
    pub kernel_size: u32,
    /// Bias, beta or shift.
    pub bias: u32,
    /// Scale of the fused batch norm.
    pub norm_scale: u32,
    /// Shift of the fused batch norm.
    pub norm_shift: u32,
    /// Elements from one output pixel to the next.
    pub pitch: u32,
    /// Element of the first output channel inside a pixel.
    pub column: u32,
    /// Where the step's weights lie among the packed ones, in lines of [`PACKED_LINE`] bytes; 0 when they are not packed.
    pub packed: u32,
    /// Parameters of an int8 step.
    pub quant: StepQuant,
}

/// Alignment of packed weights in bytes: a line of the cache.
pub const PACKED_LINE: usize = 64;

impl Step {
    /// A step without weights.
    pub fn new(op: Op, window: Window, input: Operand, output: Operand) -> Self {
        Self { op: op as u8, window, input, output, pitch: window.out_c, ..Self::default() }
    }

    /// The operation; `None` for a code that no plan contains.
    pub fn op(&self) -> Option<Op> {
        Op::ALL.get(usize::from(self.op)).copied()
    }

    /// True when the output is written over the input.
    pub fn is_in_place(&self) -> bool {
        self.input == self.output
    }

    /// Sets the activation of the epilogue.
    pub fn with_activation(mut self, activation: Activation) -> Self {
        (self.activation, self.alpha) = match activation {
            Activation::None => (0, 0.0),
            Activation::Relu => (1, 0.0),
            Activation::Sigmoid => (2, 0.0),
            Activation::Tanh => (3, 0.0),
            Activation::LeakyRelu(alpha) => (4, alpha),
            Activation::Relu6 => (5, 0.0),
            Activation::Silu => (6, 0.0),
            Activation::Gelu => (7, 0.0),
        };
        self
    }

    /// Activation of the epilogue.
    pub fn activation(&self) -> Activation {
        match self.activation {
            1 => Activation::Relu,
            2 => Activation::Sigmoid,
            3 => Activation::Tanh,
            4 => Activation::LeakyRelu(self.alpha),
            5 => Activation::Relu6,
            6 => Activation::Silu,
            7 => Activation::Gelu,
            _ => Activation::None,
        }
    }

    /// Weights that one output channel meets; 0 for a step without.
    pub fn weights_per_channel(&self) -> usize {
        let w = &self.window;
        let area = w.kernel_h as usize * w.kernel_w as usize;
        match self.op() {
            Some(Op::Dense) => w.in_c as usize,
            Some(Op::Conv2d) => area * w.in_c as usize,
            Some(Op::DepthwiseConv2d) => area,
            _ => 0,
        }
    }

    /// Pixels or rows that meet each weight.
    pub fn pixels(&self) -> usize {
        self.window.out_h as usize * self.window.out_w as usize
    }

    /// How the weights lie.
    pub fn kernel_pitch(&self) -> KernelPitch {
        let (rows, row) = match self.op() {
            Some(Op::Conv2d) => (self.kernel_size as usize, self.kernel_size as usize * self.window.in_c as usize),
            _ => (1, self.weights_per_channel()),
        };
        KernelPitch { filter: rows * row, row }
    }

    /// Rows of the filter of an output channel, and elements of each.
    pub fn filter_extents(&self) -> (usize, usize) {
        match self.op() {
            Some(Op::Conv2d) => {
                (self.window.kernel_h as usize, self.window.kernel_w as usize * self.window.in_c as usize)
            }
            _ => (1, self.weights_per_channel()),
        }
    }

    /// The weights of all output channels; `None` where those of the model are too few.
    pub fn filters<'w, T>(&self, weights: &'w [T]) -> Option<Filters<'w, T>> {
        let (rows, row_elems) = self.filter_extents();
        let filters = Filters { weights, rows, row_elems, pitch: self.kernel_pitch() };
        let others = (self.window.out_c as usize).checked_sub(1)?.checked_mul(filters.pitch.filter)?;
        let start = self.weights as usize;
        let end = start.checked_add(others)?.checked_add(filters.span())?;
        Some(Filters { weights: weights.get(start..end)?, ..filters })
    }

    /// Multiply-accumulate operations, for reports.
    pub fn macs(&self) -> u64 {
        let w = &self.window;
        u64::from(w.out_h) * u64::from(w.out_w) * u64::from(w.out_c) * self.weights_per_channel() as u64
    }
}
