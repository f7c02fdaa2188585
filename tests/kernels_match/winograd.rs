//! Convolutions for which packed weights and spare scratch mean Winograd's method.

use netkit::kernels::{
    Conv2d, KernelPitch, Kernels, Level, conv2d_scratch_elems, is_winograd, pack_winograd, packed_winograd_elems,
    spare_scratch_elems,
};
use netkit::tensor::{Padding, Shape, Window};
use proptest::prelude::*;

use crate::args::{Finish, Tables, Values, checked, columns, finish, gaps, seed};
use crate::windows::filters;
use crate::{Bound, Case};

/// The window, the elements between the rows of a kernel and behind it, how much of the spare scratch there is.
#[derive(Debug)]
pub(crate) struct WinogradCase {
    window: Window,
    kernel_gaps: (usize, usize),
    share: f32,
    finish: Finish,
    gaps: (usize, usize),
    seed: u64,
}

impl Case for WinogradCase {
    fn all() -> BoxedStrategy<Self> {
        let channels = || (1..=3u32).prop_map(|blocks| 16 * blocks);
        let pads = (0..=3u32, 0..=3u32, 0..=3u32, 0..=3u32);
        let pads = prop_oneof![
            Just(Padding::same(1)),
            pads.prop_map(|(top, left, bottom, right)| Padding { top, left, bottom, right })
        ];
        let window = (8..=22u32, 8..=22u32, channels(), channels(), pads).prop_filter_map(
            "too few tiles",
            |(h, w, in_c, out_c, pads)| {
                let window = Window::new(Shape::map(h, w, in_c), (3, 3), 1, pads, out_c).ok()?;
                spare_scratch_elems(&window).map(|_| window)
            },
        );
        (window, (0..=2usize, 0..=2usize), 0.0..=1.0f32, finish(), gaps(), seed())
            .prop_map(|(window, kernel_gaps, share, finish, gaps, seed)| Self {
                window,
                kernel_gaps,
                share,
                finish,
                gaps,
                seed,
            })
            .boxed()
    }

    fn run(&self, kernels: &Kernels) -> Vec<f32> {
        let (window, mut values) = (self.window, Values::new(self.seed));
        let (pixels, channels) = ((window.out_h * window.out_w) as usize, window.out_c as usize);
        let columns = columns(self.gaps, channels);
        let input = values.slice((window.in_h * window.in_w * window.in_c) as usize);
        let row = 3 * window.in_c as usize + self.kernel_gaps.0;
        let pitch = KernelPitch { filter: 3 * row + self.kernel_gaps.1, row };
        let weights = values.slice(channels * pitch.filter);
        let tables = Tables::new(&mut values, channels);
        let (least, most) = spare_scratch_elems(&window).expect("the method suits");
        let spare = least + ((most - least) as f32 * self.share) as usize;
        assert!(is_winograd(&window, spare) && !is_winograd(&window, least - 1));
        // The reference sums directly, with the scratch that direct sums need.
        let is_reference = kernels.level == Level::Reference;
        let mut scratch = values.scratch(if is_reference { conv2d_scratch_elems(&window) } else { spare as u32 });
        let mut output = values.output(pixels, columns, channels);
        let epilogue = tables.epilogue(self.finish);
        let mut packed = vec![f32::NAN; packed_winograd_elems(&window)];
        pack_winograd(&filters(&window, weights.slice(), pitch), &epilogue, &mut packed);
        (kernels.conv2d)(&mut Conv2d {
            window,
            input: input.slice(),
            weights: weights.slice(),
            kernel_pitch: pitch,
            packed: &packed,
            epilogue,
            columns,
            scratch: scratch.slice_mut(),
            output: output.slice_mut(),
        });
        checked(output, pixels, columns, channels)
    }

    fn bound(&self) -> Bound {
        Bound::Sum(9 * self.window.in_c as usize)
    }
}
