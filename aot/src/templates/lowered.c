/* @file@ as C, made by `netkit aot` @version@. Compiles as C99 with any compiler whose char has 8 bits, whose
 * integers are in two's complement and whose right shift keeps the sign; byte order, signedness of char and
 * alignment do not matter. No heap, no recursion, no arrays of variable length. */
#include "@header@"

#include <limits.h>
#include <stddef.h>
@headers@
/* A negative length stops the compiler where one of these does not hold. */
typedef char nk_char_has_8_bits[CHAR_BIT == 8 ? 1 : -1];
typedef char nk_two_s_complement[(-1 & 3) == 3 ? 1 : -1];
typedef char nk_shift_keeps_the_sign[(-1 >> 1) == -1 ? 1 : -1];
/* ---- kernels ---- */

@kernels@/* ---- weights and parameters ---- */

@constants@/* ---- the network ---- */

@arena@void @run@(@scratch_parameter@const @element@ *input, @element@ *output) {
@prologue@@calls@}
@selftest@@main@
