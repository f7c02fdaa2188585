/* A command-line program in the manner of existing ones: it includes netkit.h, asks for the arena size, takes it from
 * the heap and prints the answer. Without arguments it tests itself on the worked example. */
#include "netkit.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, nk_status_t status) {
    fprintf(stderr, "%s failed: %s (%s)\n", what, nk_status_string(status), nk_last_error());
    return 1;
}

/* Prints "Output (n): a, b"; 0 on success. */
static int infer(const char *path, const float *input, uint32_t inputs) {
    float output[NK_MAX_CASE_FLOATS];
    uint32_t count = 0, i;
    nk_arch_info_t info;
    nk_arena_t arena;
    nk_model_t model;
    size_t bytes;
    nk_status_t status = nk_parse_architecture(path, &info);
    if (status != NK_OK) {
        return fail("parse", status);
    }
    if (info.input_elements != inputs) {
        fprintf(stderr, "expected %u input values, got %u\n", (unsigned)info.input_elements, (unsigned)inputs);
        return 1;
    }
    bytes = nk_recommended_arena_bytes(path);
    if (bytes == 0) {
        return fail("sizing", NK_ERR_MODEL_PARSE);
    }
    status = nk_arena_init_heap(&arena, bytes);
    if (status != NK_OK) {
        return fail("arena", status);
    }
    status = nk_model_load(path, &arena, &model);
    if (status == NK_OK) {
        status = nk_model_run(&model, &arena, input, inputs, output, NK_MAX_CASE_FLOATS, &count);
    }
    nk_arena_destroy_heap(&arena);
    if (status != NK_OK) {
        return fail("inference", status);
    }
    printf("Output (%u):", (unsigned)count);
    for (i = 0; i < count; i++) {
        printf("%s %.4f", i > 0 ? "," : "", (double)output[i]);
    }
    printf("\n");
    return 0;
}

/* The default capacity of 64 MiB costs address space, not time: it is touched only where it is used. */
static int default_capacity_is_cheap(void) {
    int i;
    for (i = 0; i < 200; i++) {
        nk_arena_t arena;
        nk_status_t status = nk_arena_init_heap(&arena, NK_ARENA_DEFAULT_CAPACITY);
        if (status != NK_OK) {
            return fail("default arena", status);
        }
        nk_arena_destroy_heap(&arena);
    }
    return 0;
}

static int self_test(void) {
    const float input[2] = {1.0f, 2.0f};
    int failures = 0;
    failures += infer("models/test_mlp.nk", input, 2) != 0;
    failures += infer("models/test_mlp.nk", input, 1) == 0;
    failures += infer("models/no_such_model.nk", input, 2) == 0;
    failures += default_capacity_is_cheap();
    printf("%s infer_c\nFailures: %d\n", failures == 0 ? "PASS" : "FAIL", failures);
    return failures == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    static float input[NK_MAX_CASE_FLOATS];
    int i;
    if (argc == 1) {
        return self_test();
    }
    if (argc < 3 || argc - 2 > NK_MAX_CASE_FLOATS) {
        fprintf(stderr, "usage: %s MODEL VALUE...\n", argv[0]);
        return 2;
    }
    for (i = 2; i < argc; i++) {
        input[i - 2] = strtof(argv[i], NULL);
    }
    return infer(argv[1], input, (uint32_t)(argc - 2));
}
