#include "cases.h"

/* Flags in the header of a file. */
#define FLAG_TESTS 0x0001
#define FLAG_INT8_TESTS 0x0004
#define HEADER_BYTES 48
#define FLAGS_OFFSET 10

static uint32_t read_u32(const unsigned char *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

float cases_float(const unsigned char *bytes) {
    union {
        uint32_t bits;
        float value;
    } number = {read_u32(bytes)};
    return number.value;
}

/* Moves on by so many bytes, if they are there. */
static const unsigned char *take(struct cases *cases, size_t bytes) {
    const unsigned char *start = cases->at;
    if (bytes > (size_t)(cases->end - start)) {
        return NULL;
    }
    cases->at += bytes;
    return start;
}

/* A count and so many values. */
static bool take_values(struct cases *cases, size_t value_bytes, uint32_t *count, const unsigned char **values) {
    const unsigned char *bytes = take(cases, 4);
    if (bytes == NULL) {
        return false;
    }
    *count = read_u32(bytes);
    *values = take(cases, value_bytes * *count);
    return *values != NULL;
}

bool cases_next(struct cases *cases, struct test_case *test_case) {
    const unsigned char *bytes;
    size_t input_value_bytes = cases->int8_inputs ? 1 : 4;
    if (cases->left == 0 || (bytes = take(cases, 1)) == NULL) {
        return false;
    }
    /* Length byte, name and padding are a multiple of 4. */
    size_t length = *bytes;
    bytes = take(cases, (length + 1 + 3) / 4 * 4 - 1);
    const unsigned char *label = take(cases, 4);
    if (bytes == NULL || label == NULL) {
        return false;
    }
    test_case->name = (const char *)bytes;
    test_case->name_length = length;
    test_case->label = (int32_t)read_u32(label);
    cases->left--;
    bool complete = take_values(cases, input_value_bytes, &test_case->input_count, &test_case->input) &&
                    take_values(cases, 4, &test_case->expected_count, &test_case->expected);
    test_case->input_bytes = input_value_bytes * test_case->input_count;
    return complete;
}

/* Whether the section begins here: then its cases end where the file ends. */
static bool begins_at(const unsigned char *at, struct cases *cases) {
    struct test_case test_case;
    if (read_u32(at) != read_u32((const unsigned char *)"TCAS")) {
        return false;
    }
    cases->left = read_u32(at + 4);
    cases->tolerance = cases_float(at + 8);
    cases->at = at + 12;
    struct cases all = *cases;
    while (cases_next(&all, &test_case)) {
    }
    return all.left == 0 && all.at == all.end;
}

bool cases_find(const unsigned char *file, size_t size, struct cases *cases) {
    if (size < HEADER_BYTES || (file[FLAGS_OFFSET] & FLAG_TESTS) == 0) {
        return false;
    }
    cases->int8_inputs = (file[FLAGS_OFFSET] & FLAG_INT8_TESTS) != 0;
    cases->end = file + size;
    for (const unsigned char *at = file + HEADER_BYTES; at + 12 <= cases->end; at++) {
        if (begins_at(at, cases)) {
            return true;
        }
    }
    return false;
}
