/* The hundred-thousandth run uses the memory of the first and gives its answer; input and output may overlap. */
#include "check.h"

enum { RUNS = 100000 };

static unsigned char memory[256 * 1024];

static void hundred_thousand_runs(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    size_t used = nk_arena_used(&arena);
    for (int i = 0; i < RUNS; i++) {
        const float input[2] = {(float)(i % 7), 2.0f};
        float output[2] = {0.0f, 0.0f};
        uint32_t count = 0;
        if (!EXPECT_OK(nk_forward(&model, &arena, input, 2, output, 2, &count)) || count != 2 ||
            !EXPECT_THAT(i % 7 != 1 || (is_close(output[0], 3.0f) && is_close(output[1], 3.0f)), "run %d", i)) {
            return;
        }
    }
    EXPECT(nk_arena_used(&arena) == used);
}

/* A loaded model with an input and the output it has for it, in an arena that has room for one more input. */
typedef struct prepared {
    nk_arena_t arena;
    nk_model_t model;
    uint32_t inputs, outputs;
    float *input;
    float *wanted;
} prepared;

static bool prepare(const model_file *file, prepared *made) {
    uint32_t count = 0;
    nk_arch_info_t arch;
    nk_memory_plan_t plan = plan_of(file);
    if (!EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &arch)) ||
        !EXPECT_OK(nk_arena_init_heap(&made->arena, plan.arena_bytes + (arch.input_elements + 1) * sizeof(float)))) {
        return false;
    }
    if (!EXPECT_OK(nk_load_memory(file->bytes, file->size, &made->arena, &made->model))) {
        nk_arena_destroy_heap(&made->arena);
        return false;
    }
    made->inputs = nk_model_input_count(&made->model);
    made->outputs = nk_model_output_count(&made->model);
    made->input = (float *)must_alloc(made->inputs * sizeof(float));
    made->wanted = (float *)must_alloc(made->outputs * sizeof(float));
    fill_input(made->input, made->inputs, 1);
    EXPECT_OK(nk_forward(&made->model, &made->arena, made->input, made->inputs, made->wanted, made->outputs, &count));
    return true;
}

static void dispose(prepared *made) {
    nk_arena_destroy_heap(&made->arena);
    free(made->input);
    free(made->wanted);
}

/* Results do not depend on what ran before, and running takes nothing from the arena. */
static void runs_are_independent(const model_file *file) {
    prepared made;
    uint32_t count = 0;
    if (is_int8_model(file) || !prepare(file, &made)) {
        return;
    }
    size_t used = nk_arena_used(&made.arena);
    float *other = (float *)must_alloc(made.inputs * sizeof *other);
    float *output = (float *)must_alloc(made.outputs * sizeof *output);
    fill_input(other, made.inputs, 2);
    for (uint32_t i = 0; i < made.inputs; i++) {
        other[i] *= 1e6f;
    }
    for (int i = 0; i < 5; i++) {
        EXPECT_OK(nk_forward(&made.model, &made.arena, other, made.inputs, output, made.outputs, &count));
        EXPECT_OK(nk_forward(&made.model, &made.arena, made.input, made.inputs, output, made.outputs, &count));
        EXPECT(count == made.outputs && memcmp(made.wanted, output, made.outputs * sizeof *output) == 0);
    }
    EXPECT(nk_arena_used(&made.arena) == used);
    free(other);
    free(output);
    dispose(&made);
}

/* The output begins somewhere in the input, then the input somewhere in the output. The arena has to have room for a
 * copy of the input, and gets it back. */
static void overlapping_buffers(const model_file *file) {
    prepared made;
    uint32_t count = 0;
    if (is_int8_model(file) || !prepare(file, &made)) {
        return;
    }
    nk_arena_t full;
    size_t inputs = made.inputs, output_bytes = made.outputs * sizeof(float), used = nk_arena_used(&made.arena);
    nk_arena_init(&full, NULL, 0);
    float *buffer = (float *)must_alloc((inputs + 2 * (size_t)made.outputs) * sizeof *buffer);
    const size_t places[] = {0, 1, inputs / 2, inputs > made.outputs ? inputs - made.outputs : 0, inputs - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        float *output = buffer + places[i];
        memcpy(buffer, made.input, inputs * sizeof *buffer);
        EXPECT_OK(nk_forward(&made.model, &made.arena, buffer, made.inputs, output, made.outputs, &count));
        EXPECT_THAT(memcmp(output, made.wanted, output_bytes) == 0, "output %zu floats into the input", places[i]);

        size_t shift = places[i] % ((size_t)made.outputs + 1);
        memcpy(buffer + shift, made.input, inputs * sizeof *buffer);
        EXPECT_OK(nk_forward(&made.model, &made.arena, buffer + shift, made.inputs, buffer, made.outputs, &count));
        EXPECT_THAT(memcmp(buffer, made.wanted, output_bytes) == 0, "input %zu floats into the output", shift);
    }
    memcpy(buffer, made.input, inputs * sizeof *buffer);
    EXPECT_STATUS(nk_forward(&made.model, &full, buffer, made.inputs, buffer, made.outputs, &count),
                  NK_ERR_ARENA_OVERFLOW);
    EXPECT(memcmp(buffer, made.input, inputs * sizeof *buffer) == 0);
    EXPECT(nk_arena_used(&made.arena) == used);
    free(buffer);
    dispose(&made);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(hundred_thousand_runs);
    }
    for_each_model(argc, argv, "runs_are_independent", runs_are_independent);
    for_each_model(argc, argv, "overlapping_buffers", overlapping_buffers);
    return report();
}
