//! ARMv6-M, and ARMv8-M baseline.

use core::arch::naked_asm;

use super::calls;
use crate::kernels::int8::compact::machine::{
    GROUP, Machine, Rectangle, SIDE, halves_product, set_word, word, words, words_set_groups,
};

/// The processor.
#[derive(Debug)]
pub struct Thumb1;

#[inline(always)]
fn words_four_pixels(rows: &[i32], weights: &[i8], sums: &mut [i32; SIDE]) {
    calls::four_pixels::<Thumb1>(four_pixels, rows, weights, sums);
}

#[inline(always)]
fn words_four_filters(row: &[i32], weights: &[i8], pitch: usize, k: usize, sums: &mut [i32; SIDE]) {
    let groups = (k / GROUP).min(row.len() / Thumb1::SINGLE_WORDS);
    for (sum, weights) in sums.iter_mut().zip(weights.chunks(pitch.max(1))) {
        if groups > 0 && groups * GROUP <= weights.len() {
            // SAFETY: row and weights have so many groups.
            *sum = unsafe { one_filter(row.as_ptr(), weights.as_ptr(), groups, *sum) };
        }
    }
}

#[inline(always)]
fn words_four_channels(input: &[i8], taps: &[i32], rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
    if !rectangle.is_inside(input, taps, Thumb1::TAP_WORDS) {
        return;
    }
    for row in 0..rectangle.rows {
        let input = input.get(row * rectangle.input_row..).unwrap_or_default();
        let taps = taps.get(row * rectangle.kernel_row * Thumb1::TAP_WORDS..).unwrap_or_default();
        // SAFETY: the rectangle lies inside input and taps, and has at least one column.
        unsafe { row_of_taps(input.as_ptr(), taps.as_ptr(), rectangle, sums) }
    }
}

words!(Thumb1, halves_product);

/// See [`Machine::four_pixels`]. At least one group. The sums are in the upper registers, which can be added to.
#[unsafe(naked)]
unsafe extern "C" fn four_pixels(rows: *const i32, weights: *const i8, groups: usize, sums: &mut [i32; SIDE]) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r3-r7}}",
        "ldmia r3!, {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        // The end of the weights.
        "lsls r2, r2, #2",
        "adds r2, r2, r1",
        "mov r12, r2",
        "movs r2, #0",
        "1:",
        ".rept 4",
        "ldrsb r3, [r1, r2]",
        "ldmia r0!, {{r4-r7}}",
        "adds r1, r1, #1",
        "muls r4, r3, r4",
        "add r8, r8, r4",
        "muls r5, r3, r5",
        "add r9, r9, r5",
        "muls r6, r3, r6",
        "add r10, r10, r6",
        "muls r7, r3, r7",
        "add r11, r11, r7",
        ".endr",
        "cmp r1, r12",
        "bne 1b",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "pop {{r3}}",
        "stmia r3!, {{r4-r7}}",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
    )
}

/// The sum of the products of a row with the weights of one filter. At least one group.
#[unsafe(naked)]
unsafe extern "C" fn one_filter(row: *const i32, weights: *const i8, groups: usize, sum: i32) -> i32 {
    naked_asm!(
        "push {{r4-r7, lr}}",
        // The end of the weights.
        "lsls r2, r2, #2",
        "adds r2, r2, r1",
        "mov r12, r2",
        "1:",
        "ldmia r0!, {{r4-r7}}",
        "movs r2, #0",
        "ldrsb r2, [r1, r2]",
        "muls r4, r2, r4",
        "adds r3, r3, r4",
        "movs r2, #1",
        "ldrsb r2, [r1, r2]",
        "muls r5, r2, r5",
        "adds r3, r3, r5",
        "movs r2, #2",
        "ldrsb r2, [r1, r2]",
        "muls r6, r2, r6",
        "adds r3, r3, r6",
        "movs r2, #3",
        "ldrsb r2, [r1, r2]",
        "muls r7, r2, r7",
        "adds r3, r3, r7",
        "adds r1, r1, #4",
        "cmp r1, r12",
        "bne 1b",
        "mov r0, r3",
        "pop {{r4-r7, pc}}",
    )
}

/// One row of [`Machine::four_channels`].
#[unsafe(naked)]
unsafe extern "C" fn row_of_taps(input: *const i8, taps: *const i32, rectangle: &Rectangle, sums: &mut [i32; SIDE]) {
    naked_asm!(
        "push {{r4-r7, lr}}",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "push {{r3-r7}}",
        "ldmia r3!, {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "ldr r3, [r2, #{channels}]",
        "mov r12, r3",
        // The end of the taps.
        "ldr r3, [r2, #{columns}]",
        "lsls r3, r3, #4",
        "adds r3, r3, r1",
        "mov lr, r3",
        "1:",
        "ldmia r1!, {{r4-r7}}",
        "movs r2, #0",
        "ldrsb r3, [r0, r2]",
        "muls r4, r3, r4",
        "add r8, r8, r4",
        "movs r2, #1",
        "ldrsb r3, [r0, r2]",
        "muls r5, r3, r5",
        "add r9, r9, r5",
        "movs r2, #2",
        "ldrsb r3, [r0, r2]",
        "muls r6, r3, r6",
        "add r10, r10, r6",
        "movs r2, #3",
        "ldrsb r3, [r0, r2]",
        "muls r7, r3, r7",
        "add r11, r11, r7",
        "add r0, r0, r12",
        "cmp r1, lr",
        "bne 1b",
        "mov r4, r8",
        "mov r5, r9",
        "mov r6, r10",
        "mov r7, r11",
        "pop {{r3}}",
        "stmia r3!, {{r4-r7}}",
        "pop {{r4-r7}}",
        "mov r8, r4",
        "mov r9, r5",
        "mov r10, r6",
        "mov r11, r7",
        "pop {{r4-r7, pc}}",
        channels = const core::mem::offset_of!(Rectangle, channels),
        columns = const core::mem::offset_of!(Rectangle, columns),
    )
}
