//! Constants and intermediate results: a shape and its elements in row-major order.

use std::fmt;

/// Type of the elements of a tensor, as the source file states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementType {
    /// IEEE 754 half precision; held as f64.
    F16,
    /// bfloat16; held as f64.
    Bf16,
    /// IEEE 754 single precision; held as f64.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// Signed integer of 8 bits.
    I8,
    /// Signed integer of 16 bits.
    I16,
    /// Signed integer of 32 bits.
    I32,
    /// Signed integer of 64 bits.
    I64,
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits.
    U64,
    /// Truth value.
    Bool,
}

impl ElementType {
    /// Whether elements are real numbers.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F16 => "float16",
            Self::Bf16 => "bfloat16",
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::I64 => "int64",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::Bool => "bool",
        })
    }
}

/// Elements: real numbers as f64, all integers and truth values as i64. 64-bit unsigned integers above the range of i64
/// are refused by the readers.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Real numbers.
    Real(Vec<f64>),
    /// Integers and truth values (0 and 1).
    Whole(Vec<i64>),
}

/// A tensor with values. The number of elements is always the product of the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    element_type: ElementType,
    shape: Vec<usize>,
    elements: Elements,
}

impl Tensor {
    /// A tensor of real numbers; `None` when the elements do not fill the shape.
    pub fn real(element_type: ElementType, shape: Vec<usize>, elements: Vec<f64>) -> Option<Self> {
        let fits = element_type.is_float() && checked_elements(&shape) == Some(elements.len());
        fits.then_some(Self { element_type, shape, elements: Elements::Real(elements) })
    }

    /// A tensor of integers or truth values; `None` when the elements do not fill the shape.
    pub fn whole(element_type: ElementType, shape: Vec<usize>, elements: Vec<i64>) -> Option<Self> {
        let fits = !element_type.is_float() && checked_elements(&shape) == Some(elements.len());
        fits.then_some(Self { element_type, shape, elements: Elements::Whole(elements) })
    }

    /// Type of the elements in the source.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// Extents; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match &self.elements {
            Elements::Real(elements) => elements.len(),
            Elements::Whole(elements) => elements.len(),
        }
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements, of whichever kind.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// The elements, if they are real numbers.
    pub fn as_real(&self) -> Option<&[f64]> {
        match &self.elements {
            Elements::Real(elements) => Some(elements),
            Elements::Whole(_) => None,
        }
    }

    /// The elements, if they are integers or truth values.
    pub fn as_whole(&self) -> Option<&[i64]> {
        match &self.elements {
            Elements::Whole(elements) => Some(elements),
            Elements::Real(_) => None,
        }
    }

    /// The only element of a tensor of real numbers.
    pub fn scalar(&self) -> Option<f64> {
        match self.as_real()? {
            [element] => Some(*element),
            _ => None,
        }
    }
}

/// Product of extents; `None` when it overflows.
pub fn checked_elements(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |product, &extent| product.checked_mul(extent))
}
