
#ifdef NETKIT_AOT_MAIN
#include <stdio.h>

/* Runs the network on an input of nothing but the number 0 and prints the output@also@. */
int main(void) {
    static @element@ input[@SYMBOL@_AOT_INPUT_ELEMENTS], output[@SYMBOL@_AOT_OUTPUT_ELEMENTS];
@declarations@    int failures = 0;
    size_t i;

    for (i = 0; i < @SYMBOL@_AOT_INPUT_ELEMENTS; i++) {
        input[i] = @zero@;
    }
@run@    for (i = 0; i < @SYMBOL@_AOT_OUTPUT_ELEMENTS; i++) {
        printf("@format@\n", (@shown@)output[i]);
    }
@selftest@    return failures == 0 ? 0 : 1;
}
#endif
