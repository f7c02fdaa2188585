//! ARMv7-M.

use core::arch::naked_asm;

use super::calls;
use crate::kernels::int8::compact::machine::{
    GROUP, Machine, Rectangle, SIDE, set_word, word, words, words_set_groups,
};

/// The processor.
#[derive(Debug)]
pub struct Thumb2;

/// `a * b / 2^31`, halves up, for `b >= 0`: there is no product that saturates.
#[inline(always)]
fn product(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b) + (1 << 30)) >> 31) as i32
}

#[inline(always)]
fn words_four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
    calls::four_pixels::<Thumb2>(four_pixels, rows, weights, sums);
}

#[inline(always)]
fn words_four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]) {
    calls::four_filters::<Thumb2>(four_filters, row, weights, (pitch, k), sums);
}

#[inline(always)]
fn words_four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
    calls::four_channels::<Thumb2>(four_channels, input, taps, rectangle, sums);
}

words!(Thumb2, product);

/// See [`Machine::four_pixels`]. At least one group.
#[unsafe(naked)]
unsafe extern "C" fn four_pixels(rows: *const i32, weights: *const i8, groups: usize, sums: &mut [i32; SIDE]) {
    naked_asm!(
        "push {{r4-r11, lr}}",
        "ldm r3, {{r4-r7}}",
        "1:",
        ".rept 4",
        "ldrsb r12, [r1], #1",
        "ldmia r0!, {{r8-r11}}",
        "mla r4, r8, r12, r4",
        "mla r5, r9, r12, r5",
        "mla r6, r10, r12, r6",
        "mla r7, r11, r12, r7",
        ".endr",
        "subs r2, r2, #1",
        "bne 1b",
        "stm r3, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
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
        "push {{r4-r11, lr}}",
        "ldr r12, [sp, #36]",
        "ldm r12, {{r4-r7}}",
        "add r8, r1, r2",
        "add r9, r8, r2",
        "add r2, r9, r2",
        "1:",
        ".rept 4",
        "ldr r10, [r0], #4",
        "ldrsb r11, [r1], #1",
        "ldrsb r12, [r8], #1",
        "mla r4, r10, r11, r4",
        "ldrsb r11, [r9], #1",
        "mla r5, r10, r12, r5",
        "ldrsb r12, [r2], #1",
        "mla r6, r10, r11, r6",
        "mla r7, r10, r12, r7",
        ".endr",
        "subs r3, r3, #1",
        "bne 1b",
        "ldr r12, [sp, #36]",
        "stm r12, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
    )
}

/// See [`Machine::four_channels`].
#[unsafe(naked)]
unsafe extern "C" fn four_channels(input: *const i8, taps: *const i32, rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
    naked_asm!(
        "push {{r3-r11, lr}}",
        "ldm r3, {{r4-r7}}",
        "ldr lr, [r2, #{rows}]",
        // r0 and r1 return to the start of each row.
        "1:",
        "push {{r0, r1, lr}}",
        "ldr lr, [r2, #{columns}]",
        "2:",
        "ldmia r1!, {{r8-r11}}",
        "ldrsb r3, [r0]",
        "ldrsb r12, [r0, #1]",
        "mla r4, r8, r3, r4",
        "ldrsb r3, [r0, #2]",
        "mla r5, r9, r12, r5",
        "ldrsb r12, [r0, #3]",
        "mla r6, r10, r3, r6",
        "ldr r3, [r2, #{channels}]",
        "mla r7, r11, r12, r7",
        "add r0, r0, r3",
        "subs lr, lr, #1",
        "bne 2b",
        "pop {{r0, r1, lr}}",
        "ldr r3, [r2, #{input_row}]",
        "add r0, r0, r3",
        "ldr r3, [r2, #{kernel_row}]",
        "add r1, r1, r3, lsl #4",
        "subs lr, lr, #1",
        "bne 1b",
        "pop {{r3}}",
        "stm r3, {{r4-r7}}",
        "pop {{r4-r11, pc}}",
        channels = const core::mem::offset_of!(Rectangle, channels),
        columns = const core::mem::offset_of!(Rectangle, columns),
        rows = const core::mem::offset_of!(Rectangle, rows),
        input_row = const core::mem::offset_of!(Rectangle, input_row),
        kernel_row = const core::mem::offset_of!(Rectangle, kernel_row),
    )
}
