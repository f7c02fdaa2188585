//! ARMv7E-M, and ARMv8-M with the DSP extension. The assembler for the latter knows these instructions by the name of the former
//! only, unless the compiler is told of a processor.

use core::arch::{asm, naked_asm};

use super::calls;
use crate::kernels::int8::compact::machine::{GROUP, Machine, Quick, Rectangle, SIDE, half, place_of, set_pairs_tap};

/// The processor.
#[derive(Debug)]
pub struct Dsp;

impl Machine for Dsp {
    const GROUP_WORDS: usize = GROUP * SIDE / 2;

    #[inline(always)]
    fn set(rows: &mut [i32], k: usize, pixel: usize, value: i32) {
        set_half(rows, place_of(k, pixel, SIDE), value);
    }

    #[inline(always)]
    fn get(rows: &[i32], k: usize, pixel: usize) -> i32 {
        half(rows, place_of(k, pixel, SIDE))
    }

    fn set_groups(rows: &mut [i32], k: usize, pixel: usize, codes: &[i8], zero_point: i32) {
        let zero_points = (zero_point & 0xffff) | zero_point << 16;
        let rows = rows.get_mut(k / GROUP * Self::GROUP_WORDS + 2 * pixel..).unwrap_or_default();
        for (words, &codes) in rows.chunks_mut(Self::GROUP_WORDS).zip(codes.as_chunks::<GROUP>().0) {
            let word = i32::from_le_bytes(codes.map(|code| code as u8));
            if let Some(words) = words.first_chunk_mut() {
                *words = [extend(word), extend_rotated(word)].map(|pair| subtract(pair, zero_points));
            }
        }
    }

    #[inline(always)]
    fn set_single(row: &mut [i32], k: usize, value: i32) {
        set_half(row, place_of(k, 0, 1), value);
    }

    #[inline(always)]
    fn get_single(row: &[i32], k: usize) -> i32 {
        half(row, place_of(k, 0, 1))
    }

    #[inline(always)]
    fn four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
        calls::four_pixels::<Self>(four_pixels, rows, weights, sums);
    }

    #[inline(always)]
    fn four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]) {
        calls::four_filters::<Self>(four_filters, row, weights, (pitch, k), sums);
    }

    #[inline(always)]
    fn set_tap(taps: &mut [i32], tap: usize, weights: [i8; SIDE]) {
        set_pairs_tap(taps, tap, weights);
    }

    #[inline(always)]
    fn four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
        calls::four_channels::<Self>(four_channels, input, taps, rectangle, sums);
    }

    #[inline(always)]
    fn doubling_high_product(a: i32, b: i32) -> i32 {
        // With `b >= 0` there is no product that saturates.
        ((i64::from(a) * i64::from(b) + (1 << 30)) >> 31) as i32
    }

    #[inline(always)]
    fn small_doubling_high_product(a: i32, b: i32) -> i32 {
        Self::doubling_high_product(a, b)
    }

    #[inline(always)]
    fn codes(quick: &Quick, sums: &[i32], output: &mut [i8], pitch: usize) {
        let Some(last) = sums.len().checked_sub(1) else { return };
        if last * pitch < output.len() {
            // SAFETY: there is at least one sum, and the output has a place for each.
            unsafe { codes(sums.as_ptr(), quick, output.as_mut_ptr(), pitch, sums.len()) }
        }
    }
}

/// See [`Machine::codes`]. At least one sum.
#[unsafe(naked)]
unsafe extern "C" fn codes(sums: *const i32, quick: &Quick, output: *mut i8, pitch: usize, count: usize) {
    naked_asm!(
        ".arch armv7e-m",
        "push {{r4-r11, lr}}",
        "ldr lr, [sp, #36]",
        // Bias, multiplier, shift, half, zero point, least and largest code.
        "ldm r1, {{r4-r10}}",
        ".macro netkit_value",
        "ldr r11, [r0], #4",
        "add r11, r11, r4",
        "lsl r11, r11, #1",
        "smmulr r11, r11, r5",
        "add r11, r11, r11, asr #31",
        "add r11, r11, r7",
        "asr r11, r11, r6",
        "add r11, r11, r8",
        ".endm",
        // Where the codes are clamped by saturation alone, 255 apart.
        "sub r12, r10, r9",
        "cmp r12, #255",
        "bne 1f",
        "cmp lr, #4",
        "bne 3f",
        ".rept 4",
        "netkit_value",
        "ssat r11, #8, r11",
        "strb r11, [r2]",
        "add r2, r2, r3",
        ".endr",
        "pop {{r4-r11, pc}}",
        "3:",
        "netkit_value",
        "ssat r11, #8, r11",
        "strb r11, [r2]",
        "add r2, r2, r3",
        "subs lr, lr, #1",
        "bne 3b",
        "pop {{r4-r11, pc}}",
        "1:",
        "netkit_value",
        "cmp r11, r9",
        "it lt",
        "movlt r11, r9",
        "cmp r11, r10",
        "it gt",
        "movgt r11, r10",
        "strb r11, [r2]",
        "add r2, r2, r3",
        "subs lr, lr, #1",
        "bne 1b",
        "pop {{r4-r11, pc}}",
        ".purgem netkit_value",
    )
}

/// Sets a half of a word, of which the lower one comes first in memory.
#[inline(always)]
fn set_half(words: &mut [i32], (word, shift): (usize, u32), value: i32) {
    let halves: &mut [i16] = bytemuck::cast_slice_mut(words);
    if let Some(half) = halves.get_mut(2 * word + (shift / 16) as usize) {
        *half = value as i16;
    }
}

/// Bytes 0 and 2 as 16 bits with their sign.
#[inline(always)]
fn extend(word: i32) -> i32 {
    let pair;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(".arch armv7e-m", "sxtb16 {0}, {1}", out(reg) pair, in(reg) word, options(pure, nomem, nostack, preserves_flags))
    };
    pair
}

/// Bytes 1 and 3 likewise.
#[inline(always)]
fn extend_rotated(word: i32) -> i32 {
    let pair;
    // SAFETY: arithmetic on registers.
    unsafe {
        asm!(".arch armv7e-m", "sxtb16 {0}, {1}, ror #8", out(reg) pair, in(reg) word, options(pure, nomem, nostack, preserves_flags));
    }
    pair
}

/// The differences of two pairs.
#[inline(always)]
fn subtract(a: i32, b: i32) -> i32 {
    let pair;
    // SAFETY: arithmetic on registers; the flags of parallel additions are not used by compilers.
    unsafe {
        asm!(".arch armv7e-m", "ssub16 {0}, {1}, {2}", out(reg) pair, in(reg) a, in(reg) b, options(pure, nomem, nostack))
    };
    pair
}

/// See [`Machine::four_pixels`]. At least one group.
#[unsafe(naked)]
unsafe extern "C" fn four_pixels(rows: *const i32, weights: *const i8, groups: usize, sums: &mut [i32; SIDE]) {
    naked_asm!(
        ".arch armv7e-m",
        ".macro netkit_group_of_four_pixels",
        "ldr r12, [r1], #4",
        "sxtb16 r8, r12",
        "ldrd r10, r11, [r0], #8",
        "sxtb16 r9, r12, ror #8",
        "smlad r4, r10, r8, r4",
        "smlad r4, r11, r9, r4",
        "ldrd r10, r11, [r0], #8",
        "smlad r5, r10, r8, r5",
        "smlad r5, r11, r9, r5",
        "ldrd r10, r11, [r0], #8",
        "smlad r6, r10, r8, r6",
        "smlad r6, r11, r9, r6",
        "ldrd r10, r11, [r0], #8",
        "smlad r7, r10, r8, r7",
        "smlad r7, r11, r9, r7",
        ".endm",
        "push {{r4-r11, lr}}",
        "ldm r3, {{r4-r7}}",
        "lsrs r2, r2, #1",
        "bcc 1f",
        "netkit_group_of_four_pixels",
        "cbz r2, 2f",
        "1:",
        "netkit_group_of_four_pixels",
        "netkit_group_of_four_pixels",
        "subs r2, r2, #1",
        "bne 1b",
        "2:",
        "stm r3, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
        ".purgem netkit_group_of_four_pixels",
    )
}

/// See [`Machine::four_filters`]. At least one group.
#[unsafe(naked)]
unsafe extern "C" fn four_filters(
    row: *const i32,
    weights: *const i8,
    pitch: usize,
    groups: usize,
    sums: &mut [i32; SIDE],
) {
    naked_asm!(
        ".arch armv7e-m",
        ".macro netkit_filter weights, sum",
        "ldr r12, [\\weights], #4",
        "sxtb16 lr, r12",
        "sxtb16 r12, r12, ror #8",
        "smlad \\sum, r10, lr, \\sum",
        "smlad \\sum, r11, r12, \\sum",
        ".endm",
        "push {{r4-r11, lr}}",
        "ldr r12, [sp, #36]",
        "ldm r12, {{r4-r7}}",
        "add r8, r1, r2",
        "add r9, r8, r2",
        "add r2, r9, r2",
        ".macro netkit_group_of_four_filters",
        "ldrd r10, r11, [r0], #8",
        "netkit_filter r1, r4",
        "netkit_filter r8, r5",
        "netkit_filter r9, r6",
        "netkit_filter r2, r7",
        ".endm",
        "lsrs r3, r3, #1",
        "bcc 1f",
        "netkit_group_of_four_filters",
        "cmp r3, #0",
        "beq 2f",
        "1:",
        "netkit_group_of_four_filters",
        "netkit_group_of_four_filters",
        "subs r3, r3, #1",
        "bne 1b",
        "2:",
        "ldr r12, [sp, #36]",
        "stm r12, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
        ".purgem netkit_filter",
        ".purgem netkit_group_of_four_filters",
    )
}

/// See [`Machine::four_channels`].
#[unsafe(naked)]
unsafe extern "C" fn four_channels(input: *const i8, taps: *const i32, rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
    naked_asm!(
        ".arch armv7e-m",
        // The input of a tap is in r12; its weights follow.
        ".macro netkit_tap",
        "ldrd r8, r9, [r1], #8",
        "sxtb16 r10, r12",
        "sxtb16 r11, r12, ror #8",
        "smlabb r4, r10, r8, r4",
        "smlatt r6, r10, r8, r6",
        "smlabb r5, r11, r9, r5",
        "smlatt r7, r11, r9, r7",
        ".endm",
        "push {{r3-r11, lr}}",
        "ldm r3, {{r4-r7}}",
        "ldr r3, [r2, #{channels}]",
        "ldr lr, [r2, #{columns}]",
        "cmp lr, #3",
        "bne 4f",
        // Three columns, whose weights follow each other if the rectangle is as wide as the kernel.
        "ldr r12, [r2, #{kernel_row}]",
        "cmp r12, #3",
        "bne 4f",
        "ldr lr, [r2, #{rows}]",
        "1:",
        "ldr r12, [r0]",
        "netkit_tap",
        "ldr r12, [r0, r3]",
        "netkit_tap",
        "ldr r12, [r0, r3, lsl #1]",
        "netkit_tap",
        "ldr r12, [r2, #{input_row}]",
        "add r0, r0, r12",
        "subs lr, lr, #1",
        "bne 1b",
        "b 9f",
        // Any rectangle: r0 and r1 return to the start of each row.
        "4:",
        "ldr lr, [r2, #{rows}]",
        "5:",
        "push {{r0, r1, lr}}",
        "ldr lr, [r2, #{columns}]",
        "6:",
        "ldr r12, [r0]",
        "netkit_tap",
        "add r0, r0, r3",
        "subs lr, lr, #1",
        "bne 6b",
        "pop {{r0, r1, lr}}",
        "ldr r12, [r2, #{input_row}]",
        "add r0, r0, r12",
        "ldr r12, [r2, #{kernel_row}]",
        "add r1, r1, r12, lsl #3",
        "subs lr, lr, #1",
        "bne 5b",
        "9:",
        "pop {{r3}}",
        "stm r3, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
        ".purgem netkit_tap",
        channels = const core::mem::offset_of!(Rectangle, channels),
        columns = const core::mem::offset_of!(Rectangle, columns),
        rows = const core::mem::offset_of!(Rectangle, rows),
        input_row = const core::mem::offset_of!(Rectangle, input_row),
        kernel_row = const core::mem::offset_of!(Rectangle, kernel_row),
    )
}
