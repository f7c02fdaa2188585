#include "stack.h"

#include <stdint.h>

/* Of the linker script. */
extern uint32_t stack_bottom[];

#define PAINT 0xC5C5C5C5u

/* What the functions here may use themselves. */
#define OWN_WORDS 32

static uint32_t *painted_end;

/* A frame of its own, so that its address lies below the caller's. */
__attribute__((noinline)) void stack_paint(void) {
    uint32_t *end = (uint32_t *)__builtin_frame_address(0) - OWN_WORDS;
    for (volatile uint32_t *at = stack_bottom; at < end; at++) {
        *at = PAINT;
    }
    painted_end = end;
}

bool stack_was_full(void) {
    return *(const volatile uint32_t *)stack_bottom != PAINT;
}

size_t stack_used(void) {
    const volatile uint32_t *at = stack_bottom;
    while (at < painted_end && *at == PAINT) {
        at++;
    }
    return sizeof *at * (size_t)(painted_end - at + OWN_WORDS);
}
