/* What happens on a Cortex-M before main. */
#include <stdint.h>

#include "../port.h"

/* Of the linker script. */
extern uint32_t data_load[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

int main(void);
void tick(void);
void reset(void);

#define CPACR (*(volatile uint32_t *)0xE000ED88u)
#define CPACR_FPU_FULL_ACCESS (0xFu << 20)

static void fault(void) {
    port_puts("fault\n");
    port_exit(99);
}

void reset(void) {
#ifdef __ARM_FP
    CPACR |= CPACR_FPU_FULL_ACCESS;
    __asm__ volatile("dsb\n\tisb");
#endif
    for (uint32_t *from = data_load, *to = data_start; to < data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = bss_start; to < bss_end;) {
        *to++ = 0;
    }
    port_exit(main());
}

union vector {
    void *stack;
    void (*handler)(void);
};

__attribute__((section(".vectors"), used)) static const union vector vectors[16] = {
    {.stack = stack_top},
    {.handler = reset},
    {.handler = fault},   /* NMI */
    {.handler = fault},   /* hard fault */
    {.handler = fault},   /* memory management */
    {.handler = fault},   /* bus fault */
    {.handler = fault},   /* usage fault */
    [15] = {.handler = tick},
};
