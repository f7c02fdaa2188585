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
    size_t value_bytes, inputs, outputs;
    unsigned char *input;
    unsigned char *wanted;
} prepared;

static bool prepare(const model_file *file, prepared *made) {
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
    made->value_bytes = is_int8_model(file) ? 1 : sizeof(float);
    made->inputs = nk_model_input_count(&made->model);
    made->outputs = nk_model_output_count(&made->model);
    made->input = (unsigned char *)must_alloc(made->inputs * made->value_bytes);
    made->wanted = (unsigned char *)must_alloc(made->outputs * made->value_bytes);
    fill_model_input(&made->model, made->input, 1);
    EXPECT_OK(run_model(&made->model, &made->arena, made->input, made->wanted));
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
    if (!prepare(file, &made)) {
        return;
    }
    size_t used = nk_arena_used(&made.arena), output_bytes = made.outputs * made.value_bytes;
    unsigned char *other = (unsigned char *)must_alloc(made.inputs * made.value_bytes);
    unsigned char *output = (unsigned char *)must_alloc(output_bytes);
    fill_model_input(&made.model, other, 2);
    for (size_t i = 0; i < made.inputs && !is_int8_model(file); i++) {
        ((float *)(void *)other)[i] *= 1e6f;
    }
    for (int i = 0; i < 5; i++) {
        EXPECT_OK(run_model(&made.model, &made.arena, other, output));
        EXPECT_OK(run_model(&made.model, &made.arena, made.input, output));
        EXPECT(memcmp(made.wanted, output, output_bytes) == 0);
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
    if (!prepare(file, &made)) {
        return;
    }
    nk_arena_t full;
    size_t value = made.value_bytes, inputs = made.inputs, outputs = made.outputs, used = nk_arena_used(&made.arena);
    nk_arena_init(&full, NULL, 0);
    unsigned char *buffer = (unsigned char *)must_alloc((inputs + 2 * outputs) * value);
    const size_t places[] = {0, 1, inputs / 2, inputs > outputs ? inputs - outputs : 0, inputs - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        unsigned char *output = buffer + places[i] * value;
        memcpy(buffer, made.input, inputs * value);
        EXPECT_OK(run_model(&made.model, &made.arena, buffer, output));
        EXPECT_THAT(memcmp(output, made.wanted, outputs * value) == 0, "output %zu values into the input", places[i]);

        size_t shift = places[i] % (outputs + 1);
        memcpy(buffer + shift * value, made.input, inputs * value);
        EXPECT_OK(run_model(&made.model, &made.arena, buffer + shift * value, buffer));
        EXPECT_THAT(memcmp(buffer, made.wanted, outputs * value) == 0, "input %zu values into the output", shift);
    }
    memcpy(buffer, made.input, inputs * value);
    EXPECT_STATUS(run_model(&made.model, &full, buffer, buffer), NK_ERR_ARENA_OVERFLOW);
    EXPECT(memcmp(buffer, made.input, inputs * value) == 0);
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
