//! Depthwise convolution with products that are added up: some kernel rows of a vector of channels at a time.
//!
//! The input under a strip of windows is staged so: a group of rows of a column alternate, larger by 128, with the zero
//! point in the padding. Where the kernel has fewer rows than are staged, the same lines serve the windows of several output
//! rows, the phases, with weights as many rows lower. What sums begin with has the bias, and what makes up for the 128 and
//! the zero point.

use crate::tensor::Window;

/// Most vectors of channels of a block: their codes of a pixel fill one vector.
pub(super) const VECTORS: usize = 4;
/// Windows of a strip.
pub(super) const STRIP: usize = 8;
/// Windows of a short one.
pub(super) const HALF: usize = STRIP / 2;

/// How a geometry is cut into pieces.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Groups of rows under a window.
    pub(super) groups: usize,
    /// Output rows that the same groups serve.
    pub(super) phases: usize,
    /// Windows of a strip.
    pub(super) strip: usize,
    /// Input columns under them.
    pub(super) width: usize,
    /// Most vectors of a block: 1, 2 or 4.
    pub(super) vectors: usize,
}

impl Cut {
    /// Nothing where the memory is too small for one vector of channels.
    pub(super) fn new(window: &Window, group_rows: usize, room: usize) -> Option<Self> {
        let (kernel_h, kernel_w) = (window.kernel_h as usize, window.kernel_w as usize);
        let groups = kernel_h.div_ceil(group_rows);
        let spare = groups * group_rows - kernel_h;
        let phases = (spare.checked_div(window.stride as usize)? + 1).min(window.out_h as usize);
        let strip = if window.out_w as usize <= HALF { HALF } else { STRIP };
        let width = window.step(strip - 1).checked_add(kernel_w)?;
        let staged = groups.checked_mul(width)?;
        let weights = groups.checked_mul(kernel_w)?.checked_mul(phases)?;
        let fitting = room.checked_div(staged.max(weights))?;
        let vectors = [VECTORS, 2, 1].into_iter().find(|&vectors| vectors <= fitting)?;
        Some(Self { groups, phases, strip, width, vectors })
    }

    /// Vectors of weights, or of staged columns, of a block, where the channels fill so many vectors.
    pub(super) fn room(&self, window: &Window, vectors: usize) -> usize {
        let vectors = self.vectors.min(vectors.next_power_of_two());
        vectors * self.weights_per_vector(window).max(self.groups * self.width)
    }

    pub(super) fn weights_per_vector(&self, window: &Window) -> usize {
        self.phases * self.groups * window.kernel_w as usize
    }
}

/// Columns of a group of rows next to each other.
pub(super) struct Columns<const ROWS: usize> {
    /// The first pixel of each row, and elements from one to the next.
    pub(super) rows: [*const i8; ROWS],
    pub(super) steps: [usize; ROWS],
    /// Number of columns.
    pub(super) count: usize,
    /// Channels of a pixel.
    pub(super) channels: usize,
}

/// `depthwise_conv2d` of one instruction set: how it is enabled, and its vectors. Who compiles it has in scope: `LANES`
/// channels of a vector, `ROWS` of a group, `ROOM`, `MIN_CHANNELS`; `zero`, `padding`, `add_products`, `larger`,
/// `stage_columns`, `channels_of_block`, `Factors` and `Clamp`; and how a block lowers weights and finishes pixels.
macro_rules! depthwise {
    ($features:literal, $vector:ty) => {
        /// Memory of vectors.
        struct Memory<'a> {
            /// `[vector][phase][group][kernel column]`
            weights: &'a mut [$vector],
            /// `[vector][group][column]`
            staged: &'a mut [$vector],
            /// Of a strip, `[window][vector]`, and of one below.
            sums: &'a mut [[$vector; STRIP * VECTORS]; 2],
        }

        pub(super) fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
            // SAFETY: only the kernels of this level lead here, and they run where the processor was seen to have the
            // features.
            if !unsafe { run(args) } {
                portable::depthwise_conv2d::run(args, &LOOPS);
            }
        }

        /// Computes everything; false, with nothing computed, where the kernel is too large or requantising has another
        /// form.
        #[target_feature(enable = $features)]
        fn run(args: &mut DepthwiseConv2d<'_>) -> bool {
            let (window, requantize) = (args.window, args.requantize);
            let channels = window.in_c as usize;
            let elems = |h: u32, w: u32| h as usize * w as usize * channels;
            let outputs = elems(window.out_h, window.out_w) / if args.pooled { 4 } else { 1 };
            let Some(cut) = Cut::new(&window, ROWS, ROOM) else { return false };
            if args.input.len() < elems(window.in_h, window.in_w) || args.output.len() < outputs {
                return false;
            }
            if channels < MIN_CHANNELS {
                return false;
            }
            for first in (0..channels).step_by(LANES) {
                if Factors::of(&requantize, first.min(channels - MIN_CHANNELS)).is_none() {
                    return false;
                }
            }
            // Filling all of the memory takes as long as a small layer.
            match cut.room(&window, channels.div_ceil(LANES)) {
                room if room <= ROOM / 4 => all_blocks::<{ ROOM / 4 }>(args, cut),
                room if room <= ROOM / 2 => all_blocks::<{ ROOM / 2 }>(args, cut),
                _ => all_blocks::<ROOM>(args, cut),
            }
            true
        }

        /// All channels, in memory of so many vectors; input and output were found to be as long as the window says.
        #[inline(never)]
        #[target_feature(enable = $features)]
        fn all_blocks<const N: usize>(args: &mut DepthwiseConv2d<'_>, cut: Cut) {
            let (channels, zero) = (args.window.in_c as usize, zero());
            let (weights, staged) = (&mut [zero; N], &mut [zero; N]);
            let mut memory = Memory { weights, staged, sums: &mut [[zero; STRIP * VECTORS]; 2] };
            let mut done = 0;
            while done < channels {
                let block = Block::new(args, cut, done, &mut memory);
                // SAFETY: input and output are as long as the window says.
                unsafe { block.run(args, &mut memory) };
                done = block.first + block.count;
            }
        }

        /// Some channels of the whole map.
        struct Block {
            window: Window,
            cut: Cut,
            /// First channel, and number of channels.
            first: usize,
            count: usize,
            /// Vectors of a pixel: 1, 2 or 4, of which the last may have no channels.
            vectors: usize,
            /// What the sums of each vector begin with.
            offsets: [$vector; VECTORS],
            /// Of the vectors, again and again.
            factors: [Factors; VECTORS],
            clamp: Clamp,
            is_plain: bool,
            zero_point: i8,
        }

        impl Block {
            /// The channels from `first` on, or some before, with their weights in memory.
            #[target_feature(enable = $features)]
            fn new(args: &DepthwiseConv2d<'_>, cut: Cut, first: usize, memory: &mut Memory<'_>) -> Self {
                let (window, requantize) = (args.window, args.requantize);
                let (first, count) = channels_of_block(first, window.in_c as usize, cut.vectors);
                let mut block = Self {
                    window,
                    cut,
                    first,
                    count,
                    vectors: count.div_ceil(LANES).next_power_of_two(),
                    offsets: [zero(); VECTORS],
                    factors: [Factors::zeroed(); VECTORS],
                    clamp: Clamp::new(&requantize),
                    is_plain: requantize.is_plain(),
                    zero_point: requantize.input_zero_point as i8,
                };
                let line_count = lines(&window).unwrap_or(0);
                let per_vector = cut.weights_per_vector(&window);
                for (v, weights) in memory.weights.chunks_mut(per_vector).enumerate().take(count.div_ceil(LANES)) {
                    let channel = first + v * LANES;
                    let packed =
                        packed_lines(args.packed).and_then(|all| all.chunks_exact(line_count).nth(channel / WIDTH));
                    block.offsets[v] = match packed.filter(|_| channel % LANES == 0) {
                        Some(packed) => block.lower(packed, channel % WIDTH, weights),
                        None => block.lower_in_place(args, channel, line_count, weights),
                    };
                    let factors = Factors::of(&requantize, channel).unwrap_or(block.factors[v]);
                    for to in block.factors.iter_mut().skip(v).step_by(block.vectors) {
                        *to = factors;
                    }
                }
                block
            }

            /// The same as `lower` for weights that are not packed.
            #[inline(never)]
            #[target_feature(enable = $features)]
            fn lower_in_place(
                &self,
                args: &DepthwiseConv2d<'_>,
                channel: usize,
                line_count: usize,
                weights: &mut [$vector],
            ) -> $vector {
                let mut lines: [Line; ROOM + 1] = [[0; _]; ROOM + 1];
                let lines = &mut lines[..line_count];
                pack_channels(&self.window, args.weights, &args.requantize, channel, lines);
                self.lower(lines, 0, weights)
            }

            /// # Safety
            ///
            /// Input and output are as long as the window says.
            #[target_feature(enable = $features)]
            unsafe fn run(&self, args: &mut DepthwiseConv2d<'_>, memory: &mut Memory<'_>) {
                let (window, cut) = (&self.window, self.cut);
                let (out_h, out_w, channels) = (window.out_h as usize, window.out_w as usize, window.in_c as usize);
                for x in (0..out_w).step_by(cut.strip) {
                    let count = cut.strip.min(out_w - x);
                    for y in (0..out_h).step_by(cut.phases) {
                        for group in 0..cut.groups {
                            let row = window.step(y) + group * ROWS;
                            // SAFETY: the caller's duty.
                            unsafe { self.stage(args.input, row, window.step(x), count, group, memory.staged) };
                        }
                        for phase in 0..cut.phases.min(out_h - y) {
                            let is_lower = args.pooled && phase % 2 == 1;
                            self.sums(memory, phase, count, is_lower);
                            let (mut y, mut x, mut out_w, mut count) = (y + phase, x, out_w, count);
                            if args.pooled {
                                if !is_lower {
                                    continue;
                                }
                                self.pool(memory.sums, count / 2);
                                (y, x, out_w, count) = (y / 2, x / 2, out_w / 2, count / 2);
                            }
                            let at = (y * out_w + x) * channels + self.first;
                            let output = args.output.get_mut(at..).unwrap_or_default();
                            // SAFETY: the pixels lie in the output.
                            unsafe {
                                if self.is_plain {
                                    self.finish::<true>(&memory.sums[0], count, output);
                                } else {
                                    self.finish::<false>(&memory.sums[0], count, output);
                                }
                            }
                        }
                    }
                }
            }

            /// Stages a group of rows under `windows` windows; the padded input begins with row 0 and column 0.
            ///
            /// # Safety
            ///
            /// The input is as long as the window says.
            #[target_feature(enable = $features)]
            unsafe fn stage(
                &self,
                input: &[i8],
                row: usize,
                column: usize,
                windows: usize,
                group: usize,
                staged: &mut [$vector],
            ) {
                let (window, cut) = (&self.window, self.cut);
                let (in_w, channels, pad) = (window.in_w as usize, window.in_c as usize, window.pad_left as usize);
                let width = window.step(windows - 1) + window.kernel_w as usize;
                // Columns inside the input.
                let begin = pad.saturating_sub(column).min(width);
                let end = (in_w + pad).saturating_sub(column).clamp(begin, width);
                // A row outside the input is zero points again and again.
                let outside = [self.zero_point; LANES * VECTORS];
                let (mut rows, mut steps) = ([outside.as_ptr(); ROWS], [0; ROWS]);
                for i in 0..ROWS {
                    let row = (row + i).checked_sub(window.pad_top as usize).filter(|&row| row < window.in_h as usize);
                    if let Some(row) = row.filter(|_| begin < end) {
                        let start = (row * in_w + column + begin - pad) * channels + self.first;
                        (rows[i], steps[i]) = (input.as_ptr().wrapping_add(start), channels);
                    }
                }
                let per_vector = cut.groups * cut.width;
                let staged = &mut staged[group * cut.width..];
                let padding = padding(self.zero_point);
                for line in staged.chunks_mut(per_vector).take(self.vectors) {
                    line[..begin].fill(padding);
                    line[end..width].fill(padding);
                }
                let columns = Columns { rows, steps, count: end - begin, channels: self.count };
                // SAFETY: the columns lie inside the input, or are zero points.
                unsafe {
                    match self.vectors {
                        1 => stage_columns::<1>(&columns, &mut staged[begin..], per_vector),
                        2 => stage_columns::<2>(&columns, &mut staged[begin..], per_vector),
                        _ => stage_columns::<VECTORS>(&columns, &mut staged[begin..], per_vector),
                    }
                }
            }

            /// The sums of some windows of a phase.
            #[target_feature(enable = $features)]
            fn sums(&self, memory: &mut Memory<'_>, phase: usize, count: usize, is_lower: bool) {
                let (kernel_w, stride) = (self.window.kernel_w as usize, self.window.stride as usize);
                let per_phase = self.cut.groups * kernel_w;
                let sums = &mut memory.sums[usize::from(is_lower)];
                for v in 0..self.count.div_ceil(LANES) {
                    let taps = Taps {
                        groups: self.cut.groups,
                        staged: &memory.staged[v * self.cut.groups * self.cut.width..],
                        width: self.cut.width,
                        weights: &memory.weights[(v * self.cut.phases + phase) * per_phase..][..per_phase],
                        kernel_w,
                        start: self.offsets[v],
                    };
                    let sums = &mut sums[v..];
                    match (stride, count) {
                        (1, ..=HALF) => taps.group::<HALF, 1>(0, sums, self.vectors),
                        (1, _) => taps.group::<STRIP, 1>(0, sums, self.vectors),
                        (2, ..=HALF) => taps.group::<HALF, 2>(0, sums, self.vectors),
                        (2, _) => taps.group::<STRIP, 2>(0, sums, self.vectors),
                        _ => {
                            for window in 0..count {
                                taps.group::<1, 1>(window * stride, &mut sums[window * self.vectors..], self.vectors);
                            }
                        }
                    }
                }
            }

            /// The largest sums of blocks of four windows, in place of the first.
            #[target_feature(enable = $features)]
            fn pool(&self, [upper, lower]: &mut [[$vector; STRIP * VECTORS]; 2], count: usize) {
                let pitch = self.vectors;
                for at in 0..count {
                    for v in 0..pitch {
                        let (left, right) = (2 * at * pitch + v, (2 * at + 1) * pitch + v);
                        let largest = larger(upper[left], upper[right]);
                        upper[at * pitch + v] = larger(largest, larger(lower[left], lower[right]));
                    }
                }
            }
        }

        /// What the windows of a phase meet, for one vector of channels.
        struct Taps<'a> {
            groups: usize,
            /// `[group][column]`
            staged: &'a [$vector],
            /// Columns of a group.
            width: usize,
            /// `[group][kernel column]`
            weights: &'a [$vector],
            kernel_w: usize,
            /// What sums begin with.
            start: $vector,
        }

        impl Taps<'_> {
            /// The sums of `G` windows `STEP` columns apart, the first one at a column, `pitch` vectors apart.
            #[inline(never)]
            #[target_feature(enable = $features)]
            fn group<const G: usize, const STEP: usize>(&self, column: usize, sums: &mut [$vector], pitch: usize) {
                let groups = self.groups;
                assert!((groups - 1) * self.width + column + (G - 1) * STEP + self.kernel_w <= self.staged.len());
                assert!(groups * self.kernel_w <= self.weights.len() && (G - 1) * pitch < sums.len());
                let mut totals = [self.start; G];
                let mut weights = self.weights.as_ptr();
                for group in 0..groups {
                    let mut staged = self.staged.as_ptr().wrapping_add(group * self.width + column);
                    for _ in 0..self.kernel_w {
                        // SAFETY: all of these were found to be inside. With checks, this takes twice as long.
                        unsafe {
                            for (g, total) in totals.iter_mut().enumerate() {
                                *total = add_products(*total, *staged.add(g * STEP), *weights);
                            }
                        }
                        (staged, weights) = (staged.wrapping_add(1), weights.wrapping_add(1));
                    }
                }
                for (g, total) in totals.into_iter().enumerate() {
                    // SAFETY: the last of them is inside.
                    unsafe { *sums.as_mut_ptr().add(g * pitch) = total };
                }
            }
        }
    };
}

pub(super) use depthwise;
