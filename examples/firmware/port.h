/* What the program needs of the board. A product replaces this by its own: see cortex_m/ and riscv/. */
#ifndef PORT_H
#define PORT_H

#include <stdint.h>

/* Text to the debugger. */
void port_puts(const char *text);

/* Ends the program; an emulator ends with this status. */
void port_exit(int status);

/* Starts the counter, and reads it. What it counts is the port's: instructions or ticks of the processor's clock. */
void port_counter_start(void);
uint64_t port_counter(void);

/* What port_counter() counts. */
extern const char port_counter_unit[];

#endif /* PORT_H */
