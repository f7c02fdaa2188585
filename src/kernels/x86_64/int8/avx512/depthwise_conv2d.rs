//! Depthwise convolution with products of bytes that are added up in fours: four kernel rows of 16 channels at a time.
//!
//! The input under a strip of windows is staged so: four rows of a column alternate, larger by 128, with the zero point in the
//! padding. Where the kernel has fewer rows than are staged, the same lines serve the windows of several output rows, the
//! phases, with weights as many rows lower. What sums begin with has the bias, and what makes up for the 128 and the zero
//! point.

use core::arch::x86_64::{
    __m512i, __mmask64, _mm_cvtsi32_si128, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8, _mm512_max_epi32, _mm512_or_si512, _mm512_permutexvar_epi32, _mm512_set1_epi8,
    _mm512_setzero_si512, _mm512_sll_epi32, _mm512_srl_epi32, _mm512_unpackhi_epi8, _mm512_unpackhi_epi16,
    _mm512_unpacklo_epi8, _mm512_unpacklo_epi16, _mm512_xor_si512,
};

use bytemuck::{Zeroable, cast};

use super::LOOPS;
use super::requantize::{Clamp, Factors, LANES, ORDER};
use crate::kernels::int8::portable::depthwise_packed::{Line, ROWS, lines, pack_channels, packed_lines};
use crate::kernels::int8::{DepthwiseConv2d, portable};
use crate::tensor::Window;

/// Vectors of channels of a block: their codes of a pixel fill one vector.
const VECTORS: usize = 4;
/// Windows of a strip.
const STRIP: usize = 8;
const HALF: usize = STRIP / 2;
/// Vectors that there is room for in each of two memories of 10 KiB.
const ROOM: usize = 160;

/// Memory of vectors.
struct Memory {
    /// `[vector][phase][quad][kernel column]`
    weights: [__m512i; ROOM],
    /// `[vector][quad][column]`
    staged: [__m512i; ROOM],
    /// Of a strip, `[window][vector]`, and of one below.
    sums: [[__m512i; STRIP * VECTORS]; 2],
}

pub(super) fn depthwise_conv2d(args: &mut DepthwiseConv2d<'_>) {
    // SAFETY: only the kernels of this level lead here, and they run where the processor was seen to have the features.
    if !unsafe { run(args) } {
        portable::depthwise_conv2d::run(args, &LOOPS);
    }
}

/// Computes everything; false, with nothing computed, where the kernel is too large or requantising has another form.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
fn run(args: &mut DepthwiseConv2d<'_>) -> bool {
    let (window, requantize) = (args.window, args.requantize);
    let channels = window.in_c as usize;
    let elems = |h: u32, w: u32| h as usize * w as usize * channels;
    let outputs = elems(window.out_h, window.out_w) / if args.pooled { 4 } else { 1 };
    let Some(cut) = Cut::new(&window) else { return false };
    if args.input.len() < elems(window.in_h, window.in_w) || args.output.len() < outputs {
        return false;
    }
    for first in (0..channels).step_by(LANES) {
        if Factors::of(&requantize, first).is_none() {
            return false;
        }
    }
    let zero = _mm512_setzero_si512();
    let mut memory = Memory { weights: [zero; ROOM], staged: [zero; ROOM], sums: [[zero; STRIP * VECTORS]; 2] };
    for first in (0..channels).step_by(cut.vectors * LANES) {
        let block = Block::new(args, cut, first, &mut memory);
        // SAFETY: input and output were found to be as long as the window says.
        unsafe { block.run(args, &mut memory) };
    }
    true
}

/// How a geometry is cut into pieces.
#[derive(Clone, Copy)]
struct Cut {
    /// Fours of rows under a window.
    quads: usize,
    /// Output rows that the same fours serve.
    phases: usize,
    /// Windows of a strip.
    strip: usize,
    /// Input columns under them.
    width: usize,
    /// Most vectors of a block: 1, 2 or 4.
    vectors: usize,
}

impl Cut {
    /// Nothing where the memory is too small for one vector of channels.
    fn new(window: &Window) -> Option<Self> {
        let (kernel_h, kernel_w) = (window.kernel_h as usize, window.kernel_w as usize);
        let quads = kernel_h.div_ceil(ROWS);
        let spare = quads * ROWS - kernel_h;
        let phases = (spare.checked_div(window.stride as usize)? + 1).min(window.out_h as usize);
        let strip = if window.out_w as usize <= HALF { HALF } else { STRIP };
        let width = window.step(strip - 1).checked_add(kernel_w)?;
        let staged = quads.checked_mul(width)?;
        let weights = quads.checked_mul(kernel_w)?.checked_mul(phases)?;
        let fitting = ROOM.checked_div(staged.max(weights))?;
        let vectors = [VECTORS, 2, 1].into_iter().find(|&vectors| vectors <= fitting)?;
        Some(Self { quads, phases, strip, width, vectors })
    }

    fn weights_per_vector(&self, window: &Window) -> usize {
        self.phases * self.quads * window.kernel_w as usize
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
    offsets: [__m512i; VECTORS],
    /// Of the vectors, again and again.
    factors: [Factors; VECTORS],
    clamp: Clamp,
    is_plain: bool,
    zero_point: i8,
}

impl Block {
    /// The channels from `first` on, with their weights in memory.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn new(args: &DepthwiseConv2d<'_>, cut: Cut, first: usize, memory: &mut Memory) -> Self {
        let (window, requantize) = (args.window, args.requantize);
        let count = (window.in_c as usize - first).min(cut.vectors * LANES);
        let mut block = Self {
            window,
            cut,
            first,
            count,
            vectors: count.div_ceil(LANES).next_power_of_two(),
            offsets: [_mm512_setzero_si512(); VECTORS],
            factors: [Factors::zeroed(); VECTORS],
            clamp: Clamp::new(&requantize),
            is_plain: requantize.is_plain(),
            zero_point: requantize.input_zero_point as i8,
        };
        let line_count = lines(&window).unwrap_or(0);
        let per_vector = cut.weights_per_vector(&window);
        for (v, weights) in memory.weights.chunks_mut(per_vector).enumerate().take(count.div_ceil(LANES)) {
            let channel = first + v * LANES;
            let packed = packed_lines(args.packed).and_then(|all| all.chunks_exact(line_count).nth(channel / LANES));
            block.offsets[v] = match packed {
                Some(packed) => block.lower(packed, weights),
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
    #[target_feature(enable = "avx512f")]
    fn lower_in_place(
        &self,
        args: &DepthwiseConv2d<'_>,
        channel: usize,
        line_count: usize,
        weights: &mut [__m512i],
    ) -> __m512i {
        let mut lines: [Line; ROOM + 1] = [[0; _]; ROOM + 1];
        let lines = &mut lines[..line_count];
        pack_channels(&self.window, args.weights, &args.requantize, channel, lines);
        self.lower(lines, weights)
    }

    /// Writes the weights of a vector for every phase, lower by as many rows; returns what its sums begin with.
    #[target_feature(enable = "avx512f")]
    fn lower(&self, lines: &[Line], weights: &mut [__m512i]) -> __m512i {
        let zero = _mm512_setzero_si512();
        let Some((offsets, lines)) = lines.split_first() else { return zero };
        for (phase, weights) in weights.chunks_exact_mut(lines.len()).enumerate() {
            let bits = 8 * (phase * self.window.stride as usize) as i32;
            let (down, up) = (_mm_cvtsi32_si128(bits), _mm_cvtsi32_si128(32 - bits));
            for (at, (weights, line)) in weights.iter_mut().zip(lines).enumerate() {
                let above = match at.checked_sub(self.window.kernel_w as usize) {
                    Some(above) => cast(lines[above]),
                    None => zero,
                };
                *weights = _mm512_or_si512(_mm512_sll_epi32(cast(*line), down), _mm512_srl_epi32(above, up));
            }
        }
        cast(*offsets)
    }

    /// # Safety
    ///
    /// Input and output are as long as the window says.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    unsafe fn run(&self, args: &mut DepthwiseConv2d<'_>, memory: &mut Memory) {
        let (window, cut) = (&self.window, self.cut);
        let (out_h, out_w, channels) = (window.out_h as usize, window.out_w as usize, window.in_c as usize);
        for x in (0..out_w).step_by(cut.strip) {
            let count = cut.strip.min(out_w - x);
            for y in (0..out_h).step_by(cut.phases) {
                for quad in 0..cut.quads {
                    let row = window.step(y) + quad * ROWS;
                    // SAFETY: the caller's duty.
                    unsafe { self.stage(args.input, row, window.step(x), count, quad, &mut memory.staged) };
                }
                for phase in 0..cut.phases.min(out_h - y) {
                    let is_lower = args.pooled && phase % 2 == 1;
                    self.sums(memory, phase, count, is_lower);
                    let (mut y, mut x, mut out_w, mut count) = (y + phase, x, out_w, count);
                    if args.pooled {
                        if !is_lower {
                            continue;
                        }
                        self.pool(&mut memory.sums, count / 2);
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

    /// Stages four rows under `windows` windows; the padded input begins with row 0 and column 0.
    ///
    /// # Safety
    ///
    /// The input is as long as the window says.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn stage(
        &self,
        input: &[i8],
        row: usize,
        column: usize,
        windows: usize,
        quad: usize,
        staged: &mut [__m512i; ROOM],
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
        let per_vector = cut.quads * cut.width;
        let staged = &mut staged[quad * cut.width..];
        let padding = _mm512_set1_epi8(self.zero_point ^ i8::MIN);
        for line in staged.chunks_mut(per_vector).take(self.vectors) {
            line[..begin].fill(padding);
            line[end..width].fill(padding);
        }
        let columns = Columns { rows, steps, count: end - begin, mask: self.mask() };
        // SAFETY: the columns lie inside the input, or are zero points.
        unsafe {
            match self.vectors {
                1 => columns.stage::<1>(&mut staged[begin..], per_vector),
                2 => columns.stage::<2>(&mut staged[begin..], per_vector),
                _ => columns.stage::<VECTORS>(&mut staged[begin..], per_vector),
            }
        }
    }

    /// The channels that there are, as bytes of a vector.
    const fn mask(&self) -> __mmask64 {
        u64::MAX >> (LANES * VECTORS - self.count)
    }

    /// The sums of some windows of a phase.
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn sums(&self, memory: &mut Memory, phase: usize, count: usize, is_lower: bool) {
        let (kernel_w, stride) = (self.window.kernel_w as usize, self.window.stride as usize);
        let per_phase = self.cut.quads * kernel_w;
        let sums = &mut memory.sums[usize::from(is_lower)];
        for v in 0..self.count.div_ceil(LANES) {
            let taps = Taps {
                quads: self.cut.quads,
                staged: &memory.staged[v * self.cut.quads * self.cut.width..],
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
    #[target_feature(enable = "avx512f")]
    fn pool(&self, [upper, lower]: &mut [[__m512i; STRIP * VECTORS]; 2], count: usize) {
        let pitch = self.vectors;
        for at in 0..count {
            for v in 0..pitch {
                let (left, right) = (2 * at * pitch + v, (2 * at + 1) * pitch + v);
                let largest = _mm512_max_epi32(upper[left], upper[right]);
                upper[at * pitch + v] = _mm512_max_epi32(largest, _mm512_max_epi32(lower[left], lower[right]));
            }
        }
    }

    /// Writes the codes of `count` pixels, with which the output begins.
    ///
    /// # Safety
    ///
    /// The pixels lie in the output.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    unsafe fn finish<const IS_PLAIN: bool>(&self, sums: &[__m512i; STRIP * VECTORS], count: usize, output: &mut [i8]) {
        let (channels, width) = (self.window.in_c as usize, LANES * self.vectors);
        let mask = self.mask();
        let at_once = VECTORS / self.vectors;
        for (first, sums) in (0..count).step_by(at_once).zip(sums.as_chunks::<VECTORS>().0) {
            let mut scaled = *sums;
            for (scaled, factors) in scaled.iter_mut().zip(&self.factors) {
                *scaled = factors.scaled::<IS_PLAIN>(*scaled);
            }
            let codes = self.clamp.codes::<IS_PLAIN>(scaled);
            for i in 0..at_once.min(count - first) {
                let pixel = output.as_mut_ptr().wrapping_add((first + i) * channels);
                // SAFETY: channels that the pixel has; what is masked is not touched.
                unsafe { _mm512_mask_storeu_epi8(pixel.wrapping_sub(i * width), mask << (i * width), codes) };
            }
        }
    }
}

/// Columns of four rows next to each other.
struct Columns {
    /// The first pixel of each row, and elements from one to the next.
    rows: [*const i8; ROWS],
    steps: [usize; ROWS],
    count: usize,
    /// Which channels there are.
    mask: __mmask64,
}

impl Columns {
    /// Writes the columns of `V` vectors of channels, `pitch` from one vector to the next.
    ///
    /// # Safety
    ///
    /// The channels of all pixels can be read.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw")]
    unsafe fn stage<const V: usize>(&self, staged: &mut [__m512i], pitch: usize) {
        assert!((V - 1) * pitch + self.count <= staged.len());
        // SAFETY: 16 elements.
        let order = unsafe { _mm512_loadu_si512(ORDER.as_ptr().cast()) };
        let sign = _mm512_set1_epi8(i8::MIN);
        let mut rows = self.rows;
        for column in 0..self.count {
            let mut x = [sign; ROWS];
            for i in 0..ROWS {
                // SAFETY: the channels of a pixel, and no others.
                let codes = unsafe { _mm512_maskz_loadu_epi8(self.mask, rows[i]) };
                // Each quarter gets four channels of every vector, so that what alternates in quarters comes out in order.
                x[i] = _mm512_xor_si512(_mm512_permutexvar_epi32(order, codes), sign);
                rows[i] = rows[i].wrapping_add(self.steps[i]);
            }
            let [a, b, c, d] = x;
            let (ab, cd) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
            let out = staged.as_mut_ptr().wrapping_add(column);
            // SAFETY: the last column of the last vector is inside.
            unsafe {
                *out = _mm512_unpacklo_epi16(ab, cd);
                if V > 1 {
                    *out.add(pitch) = _mm512_unpackhi_epi16(ab, cd);
                }
                if V > 2 {
                    let (ab, cd) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
                    *out.add(2 * pitch) = _mm512_unpacklo_epi16(ab, cd);
                    *out.add(3 * pitch) = _mm512_unpackhi_epi16(ab, cd);
                }
            }
        }
    }
}

/// What the windows of a phase meet, for one vector of channels.
struct Taps<'a> {
    quads: usize,
    /// `[quad][column]`
    staged: &'a [__m512i],
    /// Columns of a quad.
    width: usize,
    /// `[quad][kernel column]`
    weights: &'a [__m512i],
    kernel_w: usize,
    /// What sums begin with.
    start: __m512i,
}

impl Taps<'_> {
    /// The sums of `G` windows `STEP` columns apart, the first one at a column, `pitch` vectors apart.
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn group<const G: usize, const STEP: usize>(&self, column: usize, sums: &mut [__m512i], pitch: usize) {
        let quads = self.quads;
        assert!((quads - 1) * self.width + column + (G - 1) * STEP + self.kernel_w <= self.staged.len());
        assert!(quads * self.kernel_w <= self.weights.len() && (G - 1) * pitch < sums.len());
        let mut totals = [self.start; G];
        let mut weights = self.weights.as_ptr();
        for quad in 0..quads {
            let mut staged = self.staged.as_ptr().wrapping_add(quad * self.width + column);
            for _ in 0..self.kernel_w {
                // SAFETY: all of these were found to be inside. With checks, this takes twice as long.
                unsafe {
                    for (g, total) in totals.iter_mut().enumerate() {
                        *total = _mm512_dpbusd_epi32(*total, *staged.add(g * STEP), *weights);
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
