/* Semihosting, by which an emulator or debugger prints and ends the program, and the counter of instructions. */
#include "../port.h"

#define SYS_WRITE0 0x04
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

/* Of start.S. */
int semihosting_call(int operation, const void *argument);

void port_puts(const char *text) {
    semihosting_call(SYS_WRITE0, text);
}

void port_exit(int status) {
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
    semihosting_call(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

const char port_counter_unit[] = "instructions";

static uint64_t started;

static uint64_t instructions(void) {
    uint32_t high, low, again;
    do {
        __asm__ volatile(".option push\n\t"
                         ".option arch, +zicsr\n\t"
                         "csrr %0, minstreth\n\t"
                         "csrr %1, minstret\n\t"
                         "csrr %2, minstreth\n\t"
                         ".option pop"
                         : "=&r"(high), "=&r"(low), "=&r"(again));
    } while (high != again);
    return (uint64_t)high << 32 | low;
}

void port_counter_start(void) {
    started = instructions();
}

uint64_t port_counter(void) {
    return instructions() - started;
}
