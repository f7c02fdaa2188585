//! A TensorFlow Lite model as it stands in its file; constants are read where they lie.

use flatbuffers::Vector;

use crate::tensor::ElementType;

/// A model of one graph.
#[derive(Clone, Debug)]
pub struct Model<'f> {
    /// What the program that wrote the file says about it.
    pub description: &'f str,
    /// Tensors; operators refer to them by index.
    pub tensors: Vec<Tensor<'f>>,
    /// Operators in execution order.
    pub operators: Vec<Operator<'f>>,
    /// The tensor that is fed.
    pub input: usize,
    /// The tensor that is asked for.
    pub output: usize,
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Tensor<'f> {
    /// Name.
    pub name: &'f str,
    /// Type of the elements; `None` for one that no convertible operator has.
    pub kind: Option<ElementType>,
    /// Extents.
    pub shape: Vec<usize>,
    /// Scales and zero points.
    pub quant: Option<Quantization<'f>>,
    /// Elements of a constant, in little-endian bytes.
    pub data: Option<&'f [u8]>,
}

/// Scales and zero points of a tensor: `real = scale * (code - zero point)`.
#[derive(Clone, Copy, Debug)]
pub struct Quantization<'f> {
    /// One, or one for each index of dimension `axis`.
    pub scales: Vector<'f, f32>,
    /// As many, or none at all.
    pub zero_points: Option<Vector<'f, i64>>,
    /// The dimension that has several scales.
    pub axis: i32,
}

/// Scale and zero point of a whole tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Real value of one step.
    pub scale: f32,
    /// The code of 0.
    pub zero_point: i32,
}

/// An operator.
#[derive(Clone, Debug)]
pub struct Operator<'f> {
    /// Name of its operation, such as `CONV_2D`.
    pub name: &'f str,
    /// What it computes.
    pub operation: Operation,
    /// Tensors that it reads; `None` for an optional one that is left out.
    pub inputs: Vec<Option<usize>>,
    /// Tensors that it writes.
    pub outputs: Vec<usize>,
}

/// Operations with their options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// CONV_2D.
    Conv2d(Sliding),
    /// DEPTHWISE_CONV_2D.
    DepthwiseConv2d(Sliding),
    /// FULLY_CONNECTED, whose input keeps its first dimensions or is flattened.
    FullyConnected(FusedActivation),
    /// AVERAGE_POOL_2D.
    AveragePool2d(Sliding),
    /// MAX_POOL_2D.
    MaxPool2d(Sliding),
    /// MEAN.
    Mean,
    /// RESHAPE, SQUEEZE, EXPAND_DIMS: the same elements in the same order.
    Reshape,
    /// SOFTMAX, with the factor of its input.
    Softmax(f32),
    /// LOGISTIC.
    Logistic,
    /// TANH.
    Tanh,
    /// RELU or RELU6.
    Relu(FusedActivation),
    /// LEAKY_RELU, with its slope below 0.
    LeakyRelu(f32),
    /// PAD.
    Pad,
    /// ADD.
    Add(FusedActivation),
    /// QUANTIZE.
    Quantize,
    /// DEQUANTIZE.
    Dequantize,
    /// One that is not known, or whose options are missing.
    Unknown,
}

/// A window that moves over a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sliding {
    /// Rows and columns of the kernel; those of a convolution are told by its weights.
    pub kernel: (usize, usize),
    /// Steps.
    pub stride: (usize, usize),
    /// Distances of neighbouring taps.
    pub dilation: (usize, usize),
    /// Whether the map is padded.
    pub padding: Padding,
    /// Function of the result.
    pub activation: FusedActivation,
}

/// Padding of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// As much as gives `ceil(size / stride)` results, the larger half behind the map.
    Same,
    /// None.
    Valid,
    /// A number that is not defined.
    Unknown,
}

/// Function behind an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FusedActivation {
    /// None.
    None,
    /// `max(x, 0)`.
    Relu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// Another one.
    Unknown,
}

impl Tensor<'_> {
    /// Number of elements.
    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Scale and zero point, if the whole tensor has the same.
    pub fn params(&self) -> Option<Params> {
        let quant = self.quant.as_ref().filter(|quant| quant.scales.len() == 1)?;
        Some(Params { scale: quant.scales.get(0), zero_point: quant.zero_point(0)? })
    }

    /// Elements of an int8 constant.
    pub fn int8(&self) -> Option<Vec<i8>> {
        let data = self.data.filter(|_| self.kind == Some(ElementType::I8))?;
        Some(data.iter().map(|&byte| byte as i8).collect())
    }

    /// Elements of an int32 constant.
    pub fn int32(&self) -> Option<Vec<i32>> {
        let data = self.data.filter(|_| self.kind == Some(ElementType::I32))?;
        Some(data.as_chunks::<4>().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect())
    }

    /// Elements of a constant as real numbers: those of float32, or the codes of int8 and int32 with their scales.
    pub fn real(&self) -> Option<Vec<f64>> {
        let data = self.data?;
        let codes: Vec<i32> = match self.kind? {
            ElementType::F32 => {
                let element = |&bytes: &[u8; 4]| f64::from(f32::from_le_bytes(bytes));
                return Some(data.as_chunks::<4>().0.iter().map(element).collect());
            }
            ElementType::F16 => {
                let element = |&bytes: &[u8; 2]| crate::onnx::half::f16_to_f64(u16::from_le_bytes(bytes));
                return Some(data.as_chunks::<2>().0.iter().map(element).collect());
            }
            ElementType::I8 => self.int8()?.into_iter().map(i32::from).collect(),
            ElementType::I32 => self.int32()?,
            _ => return None,
        };
        let quant = self.quant.as_ref()?;
        let inner: usize = self.shape.iter().skip(quant.axis as usize + 1).product();
        let scale_of = |index: usize| match quant.scales.len() {
            1 => 0,
            count => index / inner.max(1) % count,
        };
        let real = |(index, code): (usize, i32)| {
            let at = scale_of(index);
            Some(f64::from(quant.scales.get(at)) * f64::from(code - quant.zero_point(at)?))
        };
        codes.into_iter().enumerate().map(real).collect()
    }
}

impl Quantization<'_> {
    /// Zero point of an index; 0 where the file has none, `None` where it is no code of int32.
    pub fn zero_point(&self, index: usize) -> Option<i32> {
        match &self.zero_points {
            Some(points) if index < points.len() => i32::try_from(points.get(index)).ok(),
            Some(points) if points.len() == 1 => i32::try_from(points.get(0)).ok(),
            _ => Some(0),
        }
    }
}

impl Operator<'_> {
    /// The tensor at a position, if there is one.
    pub fn input(&self, position: usize) -> Option<usize> {
        self.inputs.get(position).copied().flatten()
    }
}
