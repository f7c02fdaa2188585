//! Windows that slide over the spatial axes of an image: where they start and what they cover.

use crate::tensor::checked_elements;

use super::MAX_ELEMENTS;
use super::attributes::Attributes;
use super::call::{Fault, invalid};

/// How windows slide along one spatial axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) input: usize,
    pub(super) kernel: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    pub(super) pad_begin: usize,
    pub(super) pad_end: usize,
    pub(super) output: usize,
}

impl Axis {
    /// Index in the input of tap `tap` of window `window`; `None` in the padding.
    pub(super) fn source(&self, window: usize, tap: usize) -> Option<usize> {
        let at = (window * self.stride + tap * self.dilation).checked_sub(self.pad_begin)?;
        (at < self.input).then_some(at)
    }

    /// Whether a tap lies in the input or its padding, but not beyond it, where windows of a rounded-up output may
    /// reach.
    pub(super) fn is_padded_source(&self, window: usize, tap: usize) -> bool {
        window * self.stride + tap * self.dilation < self.input + self.pad_begin + self.pad_end
    }
}

/// Extents of windows as attributes give them.
pub(super) struct WindowAttributes<'a> {
    pub(super) kernel: Option<&'a [i64]>,
    strides: Option<&'a [i64]>,
    dilations: Option<&'a [i64]>,
    pads: Option<&'a [i64]>,
    auto_pad: &'static str,
    pub(super) rounds_up: bool,
}

impl<'a> WindowAttributes<'a> {
    pub(super) fn read(attributes: &Attributes<'a>, has_dilations: bool) -> Result<Self, Fault> {
        Ok(Self {
            kernel: attributes.ints("kernel_shape")?,
            strides: attributes.ints("strides")?,
            dilations: if has_dilations { attributes.ints("dilations")? } else { None },
            pads: attributes.ints("pads")?,
            auto_pad: attributes.choice("auto_pad", "NOTSET", &["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])?,
            rounds_up: false,
        })
    }

    /// The axes for an input of some spatial extents and a kernel.
    pub(super) fn axes(&self, input: &[usize], kernel: &[usize]) -> Result<Vec<Axis>, Fault> {
        let rank = input.len();
        if kernel.len() != rank {
            return invalid(format!("a kernel {kernel:?} on {rank} spatial axes"));
        }
        if checked_elements(kernel).is_none_or(|taps| taps > MAX_ELEMENTS) {
            return invalid(format!("a kernel {kernel:?}"));
        }
        let strides = extents("strides", self.strides, rank, 1)?;
        let dilations = extents("dilations", self.dilations, rank, 1)?;
        let pads = match self.pads {
            None => vec![0; 2 * rank],
            Some(_) if self.auto_pad != "NOTSET" && self.pads.is_some_and(|pads| pads.iter().any(|pad| *pad != 0)) => {
                return invalid(format!("both pads and auto_pad={} are given", self.auto_pad));
            }
            Some(pads) => extents("pads", Some(pads), 2 * rank, 0)?,
        };
        (0..rank)
            .map(|axis| {
                let axis = Axis {
                    input: input[axis],
                    kernel: kernel[axis],
                    stride: strides[axis],
                    dilation: dilations[axis],
                    pad_begin: pads[axis],
                    pad_end: pads[axis + rank],
                    output: 0,
                };
                self.with_output(axis)
            })
            .collect()
    }

    fn with_output(&self, mut axis: Axis) -> Result<Axis, Fault> {
        let span = (axis.kernel - 1) * axis.dilation + 1;
        if self.auto_pad.starts_with("SAME") {
            axis.output = axis.input.div_ceil(axis.stride);
            let covered = axis.output.saturating_sub(1) * axis.stride + span;
            let total = covered.saturating_sub(axis.input);
            let smaller = total / 2;
            let larger = total - smaller;
            (axis.pad_begin, axis.pad_end) =
                if self.auto_pad == "SAME_UPPER" { (smaller, larger) } else { (larger, smaller) };
            return Ok(axis);
        }
        let padded = axis.input + axis.pad_begin + axis.pad_end;
        let Some(room) = padded.checked_sub(span) else {
            return invalid(format!("a window that spans {span} on an axis of {padded} with padding"));
        };
        axis.output = room / axis.stride + 1;
        if self.rounds_up && room % axis.stride != 0 {
            // A further window has to begin in the input or before it.
            axis.output += usize::from(axis.output * axis.stride < axis.input + axis.pad_begin);
        }
        Ok(axis)
    }
}

/// A list of `count` extents of at least `least`; without a list, that many times `least`.
fn extents(name: &str, list: Option<&[i64]>, count: usize, least: usize) -> Result<Vec<usize>, Fault> {
    let Some(list) = list else { return Ok(vec![least; count]) };
    let extent = |&value: &i64| usize::try_from(value).ok().filter(|value| (least..1 << 31).contains(value));
    match list.iter().map(extent).collect::<Option<Vec<_>>>() {
        Some(extents) if extents.len() == count => Ok(extents),
        _ => invalid(format!("attribute {name}={list:?}, expected {count} numbers of at least {least}")),
    }
}

/// Extents of the kernel that an attribute gives.
pub(super) fn kernel_extents(list: &[i64]) -> Result<Vec<usize>, Fault> {
    extents("kernel_shape", Some(list), list.len(), 1)
}

/// Number of windows.
pub(super) fn window_count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.output).product()
}

/// Number of taps of a window.
pub(super) fn tap_count(axes: &[Axis]) -> usize {
    axes.iter().map(|axis| axis.kernel).product()
}

/// Stands for a tap in the padding.
pub(super) const PADDING: usize = usize::MAX;

/// For each tap of a window its flat index in a plane of the input, or [`PADDING`]. Windows and taps are counted in
/// row-major order.
pub(super) fn sources(axes: &[Axis], mut window: usize, into: &mut Vec<usize>) {
    into.clear();
    into.push(0);
    let mut windows = vec![0; axes.len()];
    for (place, axis) in windows.iter_mut().zip(axes).rev() {
        *place = window % axis.output;
        window /= axis.output;
    }
    for (&place, axis) in windows.iter().zip(axes) {
        let outer = std::mem::take(into);
        for row in outer {
            for tap in 0..axis.kernel {
                into.push(match axis.source(place, tap) {
                    Some(at) if row != PADDING => row * axis.input + at,
                    _ => PADDING,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(input: usize, kernel: usize, stride: usize, dilation: usize, auto_pad: &'static str) -> Axis {
        let attributes =
            WindowAttributes { kernel: None, strides: None, dilations: None, pads: None, auto_pad, rounds_up: false };
        let axis = Axis { input, kernel, stride, dilation, pad_begin: 0, pad_end: 0, output: 0 };
        attributes.with_output(axis).unwrap()
    }

    #[test]
    fn same_padding_regards_the_dilation() {
        let upper = axis(22, 3, 1, 2, "SAME_UPPER");
        assert_eq!((upper.pad_begin, upper.pad_end, upper.output), (2, 2, 22));
        let upper = axis(27, 4, 2, 3, "SAME_UPPER");
        assert_eq!((upper.pad_begin, upper.pad_end, upper.output), (4, 5, 14));
        let lower = axis(27, 4, 2, 3, "SAME_LOWER");
        assert_eq!((lower.pad_begin, lower.pad_end, lower.output), (5, 4, 14));
        let none = axis(12, 1, 4, 1, "SAME_UPPER");
        assert_eq!((none.pad_begin, none.pad_end, none.output), (0, 0, 3));
    }

    #[test]
    fn taps_of_a_window_are_places_or_padding() {
        let one = |pad_begin| Axis { input: 3, kernel: 2, stride: 1, dilation: 2, pad_begin, pad_end: 1, output: 3 };
        let mut places = Vec::new();
        sources(&[one(1), one(0)], 0, &mut places);
        assert_eq!(places, [PADDING, PADDING, 3, 5]);
        sources(&[one(1), one(0)], 5, &mut places);
        assert_eq!(places, [2, PADDING, 8, PADDING]);
    }
}
