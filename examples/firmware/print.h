/* Text without a C library. */
#ifndef PRINT_H
#define PRINT_H

#include <stdint.h>

void print(const char *text);
void print_unsigned(uint64_t value);

/* With three decimals. */
void print_float(float value);

#endif /* PRINT_H */
