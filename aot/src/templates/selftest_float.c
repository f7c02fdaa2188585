
/* ---- test cases ---- */

@arrays@
/* Whether a value is within the tolerance of the test cases and four units in the last place. NaN is not. */
static int nk_is_near(float value, float expected) {
    const float ulp = ldexpf(FLT_EPSILON, expected == 0.0f ? FLT_MIN_EXP - 1 : ilogbf(expected));
    return fabsf(value - expected) <= @tolerance@ + 4.0f * ulp;
}

int @symbol@_selftest(@parameters@) {
    static float output[@SYMBOL@_AOT_OUTPUT_ELEMENTS];
@declarations@    int failures = 0, i;

    for (i = 0; i < @count@; i++) {
        const float *expected = nk_case_outputs + i * @SYMBOL@_AOT_OUTPUT_ELEMENTS;
        int is_right = 1, at;
        @call@nk_case_inputs + i * @SYMBOL@_AOT_INPUT_ELEMENTS@call_end@;
        for (at = 0; at < @SYMBOL@_AOT_OUTPUT_ELEMENTS; at++) {
            is_right = is_right && nk_is_near(output[at], expected[at]);
        }
        failures += !is_right;
    }
    return failures;
}
