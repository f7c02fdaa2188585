//! Functions behind operations.

/// Function behind an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activation {
    /// The value itself.
    None,
    /// `max(x, 0)`.
    Relu,
    /// `min(max(x, 0), 6)`.
    Relu6,
    /// `x` above 0, else `slope * x`.
    Leaky(f64),
    /// Logistic function.
    Sigmoid,
    /// Hyperbolic tangent.
    Tanh,
    /// Softmax over the whole row or map.
    Softmax,
    /// Softmax over the channels of each pixel of a map.
    PixelSoftmax,
}

impl Activation {
    /// Whether larger inputs never give smaller outputs, element by element.
    pub fn is_monotone(self) -> bool {
        match self {
            Self::Leaky(slope) => slope >= 0.0,
            Self::Softmax | Self::PixelSoftmax => false,
            _ => true,
        }
    }

    /// Whether results are never negative.
    pub fn is_nonnegative(self) -> bool {
        matches!(self, Self::Relu | Self::Relu6 | Self::Sigmoid | Self::Softmax | Self::PixelSoftmax)
    }
}
