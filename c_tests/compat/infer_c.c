/* The smallest program with netkit: MODEL and values from the command line, output to stdout. The arena has the default
 * capacity, on the heap where the target has one. */
#include "netkit.h"

#include <stdio.h>
#include <stdlib.h>

#if !defined(NETKIT_ARENA_HEAP)
static unsigned char arena_memory[NK_ARENA_DEFAULT_CAPACITY];
#endif

static int fail(const char* what, nk_status_t status) {
    fprintf(stderr, "%s failed: %s (%s)\n", what, nk_status_string(status), nk_last_error());
    return 1;
}

static void print_values(const char* label, const float* values, uint32_t count) {
    printf("%s (%u):", label, (unsigned)count);
    for (uint32_t i = 0; i < count; i++) {
        printf("%s %.4f", i > 0 ? "," : "", (double)values[i]);
    }
    printf("\n");
}

static nk_status_t init_arena(nk_arena_t* arena) {
#if defined(NETKIT_ARENA_HEAP)
    return nk_arena_init_heap(arena, NK_ARENA_DEFAULT_CAPACITY);
#else
    nk_arena_init(arena, arena_memory, sizeof arena_memory);
    return NK_OK;
#endif
}

static void end_arena(nk_arena_t* arena) {
#if defined(NETKIT_ARENA_HEAP)
    nk_arena_destroy_heap(arena);
#else
    nk_arena_reset(arena);
#endif
}

int main(int argc, char** argv) {
    float input[NK_MAX_CASE_FLOATS];
    float output[NK_MAX_CASE_FLOATS];
    uint32_t input_count = 0;
    uint32_t output_count = 0;
    const char* path = nullptr;
    nk_arch_info_t info;
    nk_arena_t arena;
    nk_model_t model;
    nk_status_t status;
    if (argc < 4) {
        fprintf(stderr, "usage: %s MODEL VALUE VALUE...\n", argv[0]);
        return 1;
    }
    path = argv[1];
    for (int i = 2; i < argc && input_count < NK_MAX_CASE_FLOATS; i++) {
        input[input_count++] = strtof(argv[i], nullptr);
    }
    status = nk_parse_architecture(path, &info);
    if (status != NK_OK) {
        return fail("parse", status);
    }
    if (info.input_elements != input_count) {
        fprintf(stderr, "expected %u input values, got %u\n", (unsigned)info.input_elements, (unsigned)input_count);
        return 1;
    }
    status = init_arena(&arena);
    if (status != NK_OK) {
        return fail("arena", status);
    }
    status = nk_model_load(path, &arena, &model);
    if (status != NK_OK) {
        end_arena(&arena);
        return fail("load", status);
    }
    status = nk_model_run(&model, &arena, input, input_count, output, NK_MAX_CASE_FLOATS, &output_count);
    end_arena(&arena);
    if (status != NK_OK) {
        return fail("run", status);
    }
    printf("Model: %s\n", path);
    print_values("Input", input, input_count);
    print_values("Output", output, output_count);
    return 0;
}
