/* Semihosting, by which an emulator or debugger prints and ends the program, and the SysTick counter. */
#include "../port.h"

#define SYS_WRITE0 0x04
#define SYS_EXIT_EXTENDED 0x20
#define ADP_STOPPED_APPLICATION_EXIT 0x20026u

static int call(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void port_puts(const char *text) {
    call(SYS_WRITE0, text);
}

void port_exit(int status) {
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
    call(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

#define SYST_CSR (*(volatile uint32_t *)0xE000E010u)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014u)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018u)
#define PERIOD 0x1000000u
/* Enabled, with its interrupt, on the clock of the processor. */
#define SYST_RUNS 7u

const char port_counter_unit[] = "ticks";

static volatile uint32_t periods;

void tick(void) {
    periods++;
}

void port_counter_start(void) {
    SYST_CSR = 0;
    SYST_RVR = PERIOD - 1;
    SYST_CVR = 0;
    periods = 0;
    SYST_CSR = SYST_RUNS;
}

uint64_t port_counter(void) {
    /* 0 stands for the start of a period, too: the first tick loads the counter. */
    uint32_t left = SYST_CVR;
    SYST_CSR = 0;
    return (uint64_t)periods * PERIOD + (left == 0 ? 0 : PERIOD - left);
}
