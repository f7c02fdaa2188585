//! What records can say about a window, and how kernels grow with zeros until they can say it.
//!
//! A record has one stride, a begin pad from 0 to 255 for each axis, and an end pad that is 0 to 15 larger. A dense kernel is square.

use netkit::format::records::{DepthwiseConv2d, Pool2d};
use netkit::tensor::Padding;

use crate::lower::ir::{Extent, Window};

/// Most zero rows that a kernel may grow by.
const MAX_GROWTH: usize = 255;
/// Largest difference between end pad and begin pad.
const MAX_EXTRA: usize = 15;
/// Most padding above and to the left, which a record has a byte for.
const MAX_PAD: usize = u8::MAX as usize;

/// One axis of a window that a record can express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Zero taps put before the kernel.
    pub grown: usize,
    /// Size of the grown kernel.
    pub kernel: usize,
    /// Padding before the map.
    pub pad: u8,
    /// Additional padding behind it.
    pub extra: u8,
}

/// A window with a kernel of `size` taps, whose first or last ones are zeros, with the same results as one of `kernel` taps.
fn fit_axis(size: usize, kernel: usize, before: usize, stride: usize, (input, output): (usize, usize)) -> Option<Fit> {
    let fit = |grown: usize| {
        let pad = before + grown;
        // The end pad must reach the last window and give no further one.
        let reach = ((output - 1) * stride + size) as i64 - (input + pad) as i64;
        let (least, most) = (reach.max(pad as i64), (reach + stride as i64 - 1).min((pad + MAX_EXTRA) as i64));
        let extra = u8::try_from(least - pad as i64).ok().filter(|_| least <= most)?;
        Some(Fit { grown, kernel: size, pad: u8::try_from(pad).ok()?, extra })
    };
    (0..=size.checked_sub(kernel)?.min(MAX_PAD)).filter_map(fit).min_by_key(|fit| (fit.extra, fit.grown))
}

fn fit(sizes: (usize, usize), window: Window, input: Extent, output: Extent) -> Option<[Fit; 2]> {
    Some([
        fit_axis(sizes.0, window.kernel.0, window.before.0, window.stride, (input.h, output.h))?,
        fit_axis(sizes.1, window.kernel.1, window.before.1, window.stride, (input.w, output.w))?,
    ])
}

/// The smallest square kernel.
pub fn square(window: Window, input: Extent, output: Extent) -> Option<[Fit; 2]> {
    let least = window.kernel.0.max(window.kernel.1);
    (least..=least + MAX_GROWTH).find_map(|size| fit((size, size), window, input, output))
}

/// Additional end pads in one byte.
pub fn extra_byte([rows, columns]: [Fit; 2]) -> u8 {
    rows.extra | columns.extra << 4
}

/// The smallest kernel whose record is read back as it is meant: one byte holds either the kernel's width or the additional
/// pads, and the number of weights tells which.
pub fn depthwise(
    record: DepthwiseConv2d,
    window: Window,
    input: Extent,
    output: Extent,
) -> Option<(DepthwiseConv2d, [Fit; 2])> {
    let (rows, columns) = window.kernel;
    let sizes =
        (0..=2 * MAX_EXTRA).flat_map(|growth| (0..=growth).map(move |down| (rows + down, columns + growth - down)));
    sizes.filter_map(|sizes| fit(sizes, window, input, output)).find_map(|fits| {
        let [vertical, horizontal] = fits;
        let padding = Padding {
            top: vertical.pad.into(),
            left: horizontal.pad.into(),
            bottom: u32::from(vertical.pad) + u32::from(vertical.extra),
            right: u32::from(horizontal.pad) + u32::from(horizontal.extra),
        };
        let kernel = (vertical.kernel as u32, horizontal.kernel as u32);
        let bytes = [u8::try_from(horizontal.kernel).ok(), Some(extra_byte(fits))];
        bytes.into_iter().flatten().find_map(|byte| {
            let record = DepthwiseConv2d {
                kernel_h: kernel.0,
                pad_h: vertical.pad,
                pad_w: horizontal.pad,
                kernel_w: byte,
                ..record
            };
            (record.kernel_and_pads(kernel.0 * kernel.1) == Some((kernel, padding))).then_some((record, fits))
        })
    })
}

/// A pool, which cannot grow.
pub fn pool(window: Window, input: Extent, output: Extent) -> Option<Pool2d> {
    let [rows, columns] = fit(window.kernel, window, input, output)?;
    let width = u8::try_from(columns.kernel).ok()?;
    Some(Pool2d {
        pool_size: rows.kernel as u32,
        stride: window.stride as u32,
        pad_h: rows.pad,
        pad_w: columns.pad,
        packed: u16::from(width) | u16::from(extra_byte([rows, columns])) << 8,
    })
}

/// The smallest extent, at least `output`, of a pool that has a record. No window may see padding alone, whose maximum is
/// infinite.
pub fn larger_pool(window: Window, input: Extent, output: Extent) -> Option<Extent> {
    if window.before.0.max(window.before.1) > MAX_PAD {
        return None;
    }
    let most = |size: usize, before: usize| (size + before).div_ceil(window.stride);
    let (h, w) = (most(input.h, window.before.0), most(input.w, window.before.1));
    // No record has more than so many rows or columns behind the map.
    let growth = MAX_PAD + MAX_EXTRA + 1;
    let rows = (output.h..=h).take(growth);
    let extents = rows.flat_map(|h| (output.w..=w).take(growth).map(move |w| Extent { h, w, ..output }));
    extents.filter(|&extent| pool(window, input, extent).is_some()).min_by_key(|extent| extent.h * extent.w)
}

/// Puts kernels of `depth` numbers for each tap into grown ones.
pub fn grow(weights: &[f64], window: Window, [rows, columns]: [Fit; 2], depth: usize) -> Vec<f64> {
    let (from, to) = (window.area() * depth, rows.kernel * columns.kernel * depth);
    let mut grown = vec![0.0; weights.len() / from * to];
    for (source, target) in weights.chunks_exact(from).zip(grown.chunks_exact_mut(to)) {
        for (y, line) in source.chunks_exact(window.kernel.1 * depth).enumerate() {
            let start = ((y + rows.grown) * columns.kernel + columns.grown) * depth;
            target[start..start + line.len()].copy_from_slice(line);
        }
    }
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(h: usize, w: usize) -> Extent {
        Extent { n: 1, h, w, c: 1 }
    }

    #[test]
    fn a_pool_with_absurd_padding_is_not_searched_for() {
        let window = Window { kernel: (1, 1 << 28), before: (0, 1 << 27), ..Window::POINT };
        assert_eq!(larger_pool(window, map(5, 6), map(3, 3)), None);
        let window = Window { kernel: (3, 3), before: (200, 200), ..Window::POINT };
        assert_eq!(larger_pool(window, map(1 << 28, 1 << 28), map(3, 3)), None);
    }

    #[test]
    fn a_symmetric_window_stays() {
        let window = Window { kernel: (3, 3), stride: 1, before: (1, 1) };
        let fits = square(window, map(5, 7), map(5, 7)).unwrap();
        assert_eq!(fits, [Fit { grown: 0, kernel: 3, pad: 1, extra: 0 }; 2]);
    }

    #[test]
    fn padding_at_the_begin_only_grows_the_kernel_at_its_end() {
        let window = Window { kernel: (2, 2), stride: 1, before: (1, 1) };
        let fits = square(window, map(6, 6), map(6, 6)).unwrap();
        assert_eq!(fits, [Fit { grown: 0, kernel: 3, pad: 1, extra: 0 }; 2]);
    }

    #[test]
    fn large_end_padding_grows_the_kernel_at_its_begin() {
        let window = Window { kernel: (3, 3), stride: 1, before: (0, 0) };
        let fits = square(window, map(4, 4), map(19, 19)).unwrap();
        assert_eq!(fits, [Fit { grown: 2, kernel: 5, pad: 2, extra: 15 }; 2]);
    }

    #[test]
    fn a_stride_may_leave_rows_unused() {
        let window = Window { kernel: (3, 3), stride: 2, before: (1, 1) };
        let fits = square(window, map(8, 8), map(4, 4)).unwrap();
        assert_eq!(fits, [Fit { grown: 0, kernel: 3, pad: 1, extra: 0 }; 2]);
    }

    #[test]
    fn a_flat_kernel_grows_around_its_row() {
        let window = Window { kernel: (1, 3), stride: 1, before: (0, 1) };
        let fits = square(window, map(1, 10), map(1, 10)).unwrap();
        assert_eq!(fits[0], Fit { grown: 1, kernel: 3, pad: 1, extra: 0 });
        assert_eq!(grow(&[1.0, 2.0, 3.0], window, fits, 1), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_tall_kernel_grows_around_its_columns() {
        let window = Window { kernel: (10, 4), stride: 2, before: (4, 1) };
        let fits = square(window, map(49, 10), map(25, 5)).unwrap();
        assert_eq!(fits.map(|fit| (fit.grown, fit.kernel, fit.pad, fit.extra)), [(0, 10, 4, 1), (3, 10, 4, 0)]);
    }

    #[test]
    fn a_depthwise_byte_that_would_be_misread_is_avoided() {
        // 3x3 with three more rows of padding below: the byte would be 3, which means the kernel's width.
        let record = DepthwiseConv2d {
            kernel_h: 0,
            stride: 1,
            channels: 1,
            activation: netkit::format::records::ActivationCode::NONE,
            pad_h: 0,
            pad_w: 0,
            kernel_w: 0,
            alpha: 0.0,
        };
        let window = Window { kernel: (3, 3), stride: 1, before: (0, 0) };
        let (record, fits) = depthwise(record, window, map(6, 6), map(7, 4)).unwrap();
        let area = (fits[0].kernel * fits[1].kernel) as u32;
        let (kernel, pads) = record.kernel_and_pads(area).unwrap();
        let rows = 6 + pads.top + pads.bottom - kernel.0 + 1;
        assert_eq!((rows, fits[0].kernel > 3 || fits[1].kernel > 3), (7, true));
    }

    #[test]
    fn a_pool_with_less_padding_at_the_end_has_no_record() {
        let window = Window { kernel: (2, 2), stride: 1, before: (1, 1) };
        assert_eq!(pool(window, map(6, 6), map(6, 6)), None);
    }
}
