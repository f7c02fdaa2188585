/* How deep the stack grows: the free part of it is painted, and what is no longer painted afterwards was used. */
#ifndef STACK_H
#define STACK_H

#include <stdbool.h>
#include <stddef.h>

void stack_paint(void);

/* Bytes that were used since stack_paint(), counted from its caller. */
size_t stack_used(void);

/* Whether nothing of the stack was left: then it was probably too small. */
bool stack_was_full(void);

#endif /* STACK_H */
