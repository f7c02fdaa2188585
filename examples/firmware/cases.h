/* The test cases that a .nk file carries behind its weights. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in the section of test cases. */
struct cases {
    const unsigned char *at;
    const unsigned char *end;
    uint32_t left;
    float tolerance;
    bool int8_inputs;
};

struct test_case {
    /* Not ended by 0. */
    const char *name;
    size_t name_length;
    /* The class of the largest output, or -1. */
    int32_t label;
    /* Values in the order of the file, of any alignment. */
    const unsigned char *input;
    uint32_t input_count;
    size_t input_bytes;
    /* float32, of any alignment. */
    const unsigned char *expected;
    uint32_t expected_count;
};

/* Finds the test cases of a file; false when it has none. */
bool cases_find(const unsigned char *file, size_t size, struct cases *cases);

/* The next one; false when there is no other. */
bool cases_next(struct cases *cases, struct test_case *test_case);

/* A float32 of a file. */
float cases_float(const unsigned char *bytes);

#endif /* CASES_H */
