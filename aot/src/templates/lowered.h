/* @file@ as C, made by `netkit aot` @version@. @summary@ */
#ifndef @SYMBOL@_AOT_H
#define @SYMBOL@_AOT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1: the network is C that needs nothing else; 0: it is data for the library. */
#define @SYMBOL@_AOT_LOWERED 1

@interface@
/* Bytes that a run works in, input and output not counted. */
#define @SYMBOL@_AOT_SCRATCH_BYTES @ram@

@scratch@/* Computes the output for an input of @SYMBOL@_AOT_INPUT_ELEMENTS values, which do not overlap. One run at a
 * time@threads@. */
void @run@(@scratch_parameter@const @element@ *input, @element@ *output);
@selftest_declaration@
#ifdef __cplusplus
}
#endif

#endif /* @SYMBOL@_AOT_H */
