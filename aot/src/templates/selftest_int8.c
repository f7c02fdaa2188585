
/* ---- test cases: the outputs are those of the library ---- */

@arrays@
int @symbol@_selftest(@parameters@) {
    static int8_t output[@SYMBOL@_AOT_OUTPUT_ELEMENTS];
@declarations@    int failures = 0, i;

    for (i = 0; i < @count@; i++) {
        const int8_t *expected = nk_case_outputs + i * @SYMBOL@_AOT_OUTPUT_ELEMENTS;
        int is_right = 1, at;
        @call@nk_case_inputs + i * @SYMBOL@_AOT_INPUT_ELEMENTS@call_end@;
        for (at = 0; at < @SYMBOL@_AOT_OUTPUT_ELEMENTS; at++) {
            is_right = is_right && output[at] == expected[at];
        }
        failures += !is_right;
    }
    return failures;
}
