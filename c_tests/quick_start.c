/* The first thing a user does: two models, loaded from their files and run; the answers can be worked out by hand. */
#include "check.h"

static unsigned char memory[256 * 1024];

static void test_mlp_answers(void) {
    nk_arena_t arena;
    nk_model_t model;
    const float input[2] = {1.0f, 2.0f};
    float output[2] = {0.0f, 0.0f};
    uint32_t count = 0;

    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    EXPECT(nk_model_kind(&model) == NK_NETWORK_MLP);
    EXPECT(!nk_model_is_quantized(&model));
    EXPECT(nk_model_input_count(&model) == 2 && nk_model_output_count(&model) == 2);
    EXPECT_OK(nk_forward(&model, &arena, input, 2, output, 2, &count));
    EXPECT(count == 2);
    EXPECT(is_close(output[0], 3.0f) && is_close(output[1], 3.0f));
}

static void cnn_4x4_single_answers(void) {
    nk_arena_t arena;
    nk_model_t model;
    float input[16], output[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t count = 0;

    for (int i = 0; i < 16; i++) {
        input[i] = 1.0f;
    }
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/cnn_4x4_single.nk", &arena, &model))) {
        return;
    }
    EXPECT(nk_model_kind(&model) == NK_NETWORK_CNN);
    EXPECT_OK(nk_forward(&model, &arena, input, 16, output, 4, &count));
    EXPECT(count == 4);
    for (int i = 0; i < 4; i++) {
        EXPECT_THAT(is_close(output[i], 4.0f), "output %d is %g", i, (double)output[i]);
    }
}

/* The short names and the long ones are the same functions. */
static void long_names_answer_too(void) {
    model_file file = need_model("models/test_mlp.nk");
    nk_arena_t arena;
    nk_model_t model;
    nk_arch_info_t arch;
    const float input[2] = {1.0f, 2.0f};
    float output[2];
    uint32_t count = 0, rank = 0, shape[NK_MAX_TENSOR_RANK];

    EXPECT_OK(nk_parse_architecture("models/test_mlp.nk", &arch));
    EXPECT(arch.version == 3 && arch.kind == NK_NETWORK_MLP && arch.num_layers == 2);
    EXPECT(arch.input_elements == 2 && arch.output_elements == 2 && arch.expected_weight_floats == 12);

    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_model_load("models/test_mlp.nk", &arena, &model));
    EXPECT_OK(nk_model_run(&model, &arena, input, 2, output, 2, &count));
    EXPECT(is_close(output[0], 3.0f) && is_close(output[1], 3.0f));

    EXPECT_OK(nk_model_load_memory(file.bytes, file.size, &arena, &model));
    EXPECT_OK(nk_model_run(&model, &arena, input, 2, output, 2, &count));
    EXPECT(is_close(output[0], 3.0f) && is_close(output[1], 3.0f));
    EXPECT_OK(nk_model_get_arch(&model, &arch));
    EXPECT(arch.weights_bytes == 32 && arch.biases_bytes == 16);
    EXPECT_OK(nk_model_input_shape(&model, &rank, shape));
    EXPECT(rank == 2 && shape[0] == 1 && shape[1] == 2);
    EXPECT_OK(nk_model_output_shape(&model, &rank, shape));
    EXPECT(rank == 2 && shape[0] == 1 && shape[1] == 2);
    free(file.bytes);
}

/* Wrong counts are refused, and a refused call writes nothing. */
static void wrong_counts_are_refused(void) {
    nk_arena_t arena;
    nk_model_t model;
    const float input[3] = {1.0f, 2.0f, 3.0f};
    float output[2] = {-7.0f, -7.0f};
    uint32_t count = 77;

    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    nk_status_t (*const runs[3])(const nk_model_t *, nk_arena_t *, const float *, uint32_t, float *, uint32_t,
                                 uint32_t *) = {nk_forward, nk_model_run, nk_model_run_auto};
    const nk_status_t bad = NK_ERR_INVALID_ARGUMENT;
    size_t used = nk_arena_used(&arena);
    for (int i = 0; i < 3; i++) {
        EXPECT_ERROR(runs[i](&model, &arena, input, 3, output, 2, &count), bad, "input_count is 3, expected 2");
        EXPECT_ERROR(runs[i](&model, &arena, input, 1, output, 2, &count), bad, "input_count is 1, expected 2");
        EXPECT_ERROR(runs[i](&model, &arena, input, 0, output, 2, &count), bad, "input_count is 0, expected 2");
        EXPECT_ERROR(runs[i](&model, &arena, input, 2, output, 1, &count), NK_ERR_BUFFER_TOO_SMALL,
                     "output_capacity is 1, expected at least 2");
        EXPECT_ERROR(runs[i](&model, &arena, input, 2, output, 0, &count), NK_ERR_BUFFER_TOO_SMALL, "output_capacity");
    }
    EXPECT(output[0] == -7.0f && output[1] == -7.0f && count == 77 && nk_arena_used(&arena) == used);
}

/* Floats at odd addresses, and buffers inside the memory of the model. */
static void wrong_buffers_are_refused(void) {
    static _Alignas(16) unsigned char odd[32];
    model_file file = need_model("models/test_mlp.nk");
    nk_status_t (*const runs[3])(const nk_model_t *, nk_arena_t *, const float *, uint32_t, float *, uint32_t,
                                 uint32_t *) = {nk_forward, nk_model_run, nk_model_run_auto};
    const nk_status_t bad = NK_ERR_INVALID_ARGUMENT;
    nk_arena_t arena;
    nk_model_t model;
    float input[2] = {1.0f, 2.0f}, output[2] = {-7.0f, -7.0f};
    uint32_t count = 77;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load_memory(file.bytes, file.size, &arena, &model))) {
        return;
    }
    unsigned char *before = (unsigned char *)must_alloc(file.size);
    memcpy(before, file.bytes, file.size);
    float *in_arena = (float *)(void *)(memory + round_up(nk_arena_used(&arena) / 2, 4));
    float *in_model = (float *)(void *)(file.bytes + 176 - (uintptr_t)file.bytes % 4);
    for (int i = 0; i < 3; i++) {
        for (int shift = 1; shift < 4; shift++) {
            float *at = (float *)(void *)(odd + shift);
            EXPECT_ERROR(runs[i](&model, &arena, at, 2, output, 2, &count), bad, "aligned to 4");
            EXPECT_ERROR(runs[i](&model, &arena, input, 2, at, 2, &count), bad, "aligned to 4");
        }
        EXPECT_ERROR(runs[i](&model, &arena, in_arena, 2, output, 2, &count), bad, "memory of the model");
        EXPECT_ERROR(runs[i](&model, &arena, input, 2, in_arena, 2, &count), bad, "memory of the model");
        EXPECT_ERROR(runs[i](&model, &arena, input, 2, in_model, 2, &count), bad, "memory of the model");
    }
    EXPECT(output[0] == -7.0f && output[1] == -7.0f && count == 77 && all_bytes(odd, sizeof odd, 0));
    EXPECT(memcmp(before, file.bytes, file.size) == 0);
    /* The model's own bytes may be read as an input. */
    EXPECT_OK(nk_forward(&model, &arena, in_model, 2, output, 2, &count));
    free(before);
    free(file.bytes);
}

/* A path that is not there is tried once more with "../" in front, and a folder is not a model. */
static void paths(void) {
    nk_arch_info_t arch;
    EXPECT_STATUS(nk_parse_architecture("models/no_such_model.nk", &arch), NK_ERR_MODEL_OPEN);
    EXPECT(nk_last_error()[0] != '\0');
    EXPECT_STATUS(nk_parse_architecture("", &arch), NK_ERR_MODEL_OPEN);
    EXPECT_STATUS(nk_parse_architecture("models", &arch), NK_ERR_MODEL_OPEN);
    EXPECT_OK(nk_parse_architecture("models/test_mlp.nk", &arch));
    EXPECT(nk_last_error()[0] == '\0');
    EXPECT(nk_recommended_arena_bytes("models/no_such_model.nk") == 0);
    EXPECT(nk_recommended_arena_bytes("models/test_mlp.nk") > 0);
}

static void argmax(void) {
    const float values[4] = {-1.0f, 0.5f, 2.0f, 1.5f};
    const float equal[3] = {1.0f, 1.0f, 0.0f};
    EXPECT(nk_argmax_f32(values, 4) == 2);
    EXPECT(nk_argmax_f32(equal, 3) == 0);
    EXPECT(nk_argmax_f32(values, 0) == 0);
}

int main(void) {
    RUN(test_mlp_answers);
    RUN(cnn_4x4_single_answers);
    RUN(long_names_answer_too);
    RUN(wrong_counts_are_refused);
    RUN(wrong_buffers_are_refused);
    RUN(paths);
    RUN(argmax);
    return report();
}
