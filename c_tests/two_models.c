/* Several models, arenas and copies of handles at once. */
#include "check.h"

static unsigned char memory[256 * 1024], other_memory[256 * 1024];
static const float mlp_input[2] = {1.0f, 2.0f};
static float cnn_input[16];

static bool mlp_answers(const nk_model_t *model, nk_arena_t *arena) {
    float output[2] = {0.0f, 0.0f};
    uint32_t count = 0;
    return EXPECT_OK(nk_forward(model, arena, mlp_input, 2, output, 2, &count)) &&
           EXPECT(count == 2 && is_close(output[0], 3.0f) && is_close(output[1], 3.0f));
}

static bool cnn_answers(const nk_model_t *model, nk_arena_t *arena) {
    float output[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    uint32_t count = 0;
    return EXPECT_OK(nk_forward(model, arena, cnn_input, 16, output, 4, &count)) &&
           EXPECT(count == 4 && is_close(output[0], 4.0f) && is_close(output[1], 4.0f) && is_close(output[2], 4.0f) &&
                  is_close(output[3], 4.0f));
}

static void from_files_in_one_arena(void) {
    nk_arena_t arena;
    nk_model_t mlp, cnn;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &mlp));
    EXPECT_OK(nk_load("models/cnn_4x4_single.nk", &arena, &cnn));
    for (int i = 0; i < 3; i++) {
        mlp_answers(&mlp, &arena);
        cnn_answers(&cnn, &arena);
    }
    nk_arena_reset(&arena);
}

static void from_memory_in_one_arena(void) {
    model_file mlp_file = need_model("models/test_mlp.nk"), cnn_file = need_model("models/cnn_4x4_single.nk");
    nk_arena_t arena;
    nk_model_t mlp, cnn, mlp_from_file;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load_memory(cnn_file.bytes, cnn_file.size, &arena, &cnn));
    EXPECT_OK(nk_load_memory(mlp_file.bytes, mlp_file.size, &arena, &mlp));
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &mlp_from_file));
    cnn_answers(&cnn, &arena);
    mlp_answers(&mlp, &arena);
    mlp_answers(&mlp_from_file, &arena);
    cnn_answers(&cnn, &arena);
    free(mlp_file.bytes);
    free(cnn_file.bytes);
}

/* Loading never writes to the blob, so one blob serves any number of models. */
static void same_blob_twice(void) {
    model_file file = need_model("models/cnn_4x4_single.nk");
    unsigned char *before = (unsigned char *)must_alloc(file.size);
    nk_arena_t arena;
    nk_model_t first, second;
    memcpy(before, file.bytes, file.size);
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load_memory(file.bytes, file.size, &arena, &first));
    cnn_answers(&first, &arena);
    EXPECT_OK(nk_load_memory(file.bytes, file.size, &arena, &second));
    cnn_answers(&second, &arena);
    cnn_answers(&first, &arena);
    EXPECT(memcmp(before, file.bytes, file.size) == 0);
    free(before);
    free(file.bytes);
}

/* The arena argument of a run need not be the one that the model was loaded into. */
static void run_with_another_arena(void) {
    nk_arena_t arena, other, empty;
    nk_model_t mlp, cnn;
    nk_arena_init(&arena, memory, sizeof memory);
    nk_arena_init(&other, other_memory, sizeof other_memory);
    nk_arena_init(&empty, NULL, 0);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &mlp));
    EXPECT_OK(nk_load("models/cnn_4x4_single.nk", &other, &cnn));
    mlp_answers(&mlp, &other);
    cnn_answers(&cnn, &arena);
    mlp_answers(&mlp, &empty);
    cnn_answers(&cnn, &empty);
}

/* A handle is plain data: the copy and the original are the same model. */
static void handle_copied_by_value(void) {
    nk_arena_t arena, arena_copy;
    nk_model_t model, copy;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    copy = model;
    arena_copy = arena;
    memset(&model, 0xFF, sizeof model);
    memset(&arena, 0xFF, sizeof arena);
    EXPECT(nk_model_kind(&copy) == NK_NETWORK_MLP && nk_model_input_count(&copy) == 2);
    mlp_answers(&copy, &arena_copy);
}

static void unload(void) {
    nk_arena_t arena;
    nk_model_t model;
    float output[2] = {-7.0f, -7.0f};
    uint32_t count = 0;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    nk_unload(&model);
    EXPECT(nk_model_kind(&model) == NK_NETWORK_UNKNOWN && nk_model_input_count(&model) == 0);
    EXPECT_STATUS(nk_forward(&model, &arena, mlp_input, 2, output, 2, &count), NK_ERR_MODEL_NOT_LOADED);
    EXPECT(output[0] == -7.0f && output[1] == -7.0f);
    nk_unload(&model);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
    mlp_answers(&model, &arena);
}

/* Loading again after a reset uses the same bytes as the first time, however often. */
static void reset_and_load_again(void) {
    nk_arena_t arena;
    nk_model_t model;
    size_t used = 0;
    nk_arena_init(&arena, memory, sizeof memory);
    for (int i = 0; i < 1000; i++) {
        nk_arena_reset(&arena);
        if (!EXPECT_OK(nk_load(i % 2 == 0 ? "models/test_mlp.nk" : "models/cnn_4x4_single.nk", &arena, &model))) {
            return;
        }
        if (i % 2 == 0) {
            EXPECT(used == 0 || used == nk_arena_used(&arena));
            used = nk_arena_used(&arena);
            mlp_answers(&model, &arena);
        } else {
            cnn_answers(&model, &arena);
        }
    }
    nk_arena_reset(&arena);
    EXPECT(nk_arena_used(&arena) == 0 && nk_arena_capacity(&arena) == sizeof memory);
}

static void heap_arena(void) {
    nk_arena_t arena;
    nk_model_t model;
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(nk_arena_init_heap(&arena, 64 * 1024));
        EXPECT(nk_arena_capacity(&arena) == 64 * 1024 && nk_arena_used(&arena) == 0);
        EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model));
        mlp_answers(&model, &arena);
        nk_arena_destroy_heap(&arena);
        EXPECT(nk_arena_capacity(&arena) == 0 && nk_arena_used(&arena) == 0);
    }
}

/* What does not fit leaves the arena as it was, and the model that is there goes on working. */
static void failed_load_rolls_back(void) {
    model_file file = need_model("models/cnn_4x4_single.nk");
    nk_memory_plan_t plan = plan_of(&file);
    nk_arena_t arena;
    nk_model_t mlp, cnn;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &mlp));
    size_t room = nk_arena_remaining(&arena);
    if (EXPECT(room > plan.arena_bytes)) {
        EXPECT(nk_arena_alloc(&arena, room - plan.arena_bytes / 2, 1) != NULL);
    }
    size_t used = nk_arena_used(&arena);
    for (int i = 0; i < 3; i++) {
        EXPECT_STATUS(nk_load_memory(file.bytes, file.size, &arena, &cnn), NK_ERR_ARENA_OVERFLOW);
        EXPECT(nk_arena_used(&arena) == used);
        EXPECT_STATUS(nk_load(file.path, &arena, &cnn), NK_ERR_ARENA_OVERFLOW);
        EXPECT(nk_arena_used(&arena) == used);
    }
    mlp_answers(&mlp, &arena);
    free(file.bytes);
}

/* Float and int8 models side by side, from files and from memory: each keeps giving what it gave alone. */
static void float_and_int8_in_one_arena(void) {
    enum { MODELS = 4, MOST_BYTES = 1024 };
    static const char *const paths[MODELS] = {"models/digits_mlp_int8.nk", "models/test_mlp.nk",
                                              "models/digits_cnn_int8.nk", "models/cnn_4x4_single.nk"};
    static _Alignas(16) unsigned char inputs[MODELS][MOST_BYTES], wanted[MODELS][MOST_BYTES], found[MOST_BYTES];
    nk_arena_t arena;
    nk_model_t models[MODELS];
    model_file file = need_model(paths[0]);
    nk_arena_init(&arena, memory, sizeof memory);
    for (int i = 0; i < MODELS; i++) {
        nk_status_t loaded = i == 0 ? nk_load_memory(file.bytes, file.size, &arena, &models[i])
                                    : nk_load(paths[i], &arena, &models[i]);
        if (!EXPECT_OK(loaded) || !EXPECT(nk_model_input_bytes(&models[i]) <= MOST_BYTES) ||
            !EXPECT(nk_model_output_bytes(&models[i]) <= MOST_BYTES)) {
            return;
        }
        fill_model_input(&models[i], inputs[i], (uint32_t)i);
        EXPECT_OK(run_model(&models[i], &arena, inputs[i], wanted[i]));
    }
    for (int round = 0; round < 20; round++) {
        int i = round * 7 % MODELS;
        EXPECT_OK(run_model(&models[i], &arena, inputs[i], found));
        EXPECT_THAT(memcmp(found, wanted[i], nk_model_output_bytes(&models[i])) == 0, "%s", paths[i]);
    }
    nk_arena_reset(&arena);
    free(file.bytes);
}

static void inspect_tells_the_plan_of_int8(void) {
    model_file file = need_model("models/digits_cnn_int8.nk");
    nk_memory_plan_t plan = plan_of(&file);
    nk_arena_t arena;
    nk_inspect_info_t info;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_inspect_model_memory(file.bytes, file.size, &arena, &info));
    EXPECT(info.arch.version == 4 && info.arch.kind == NK_NETWORK_CNN && info.arch.input_elements == 256);
    EXPECT(info.arena_bytes_after_load == plan.arena_bytes && info.arena_bytes_after_forward == plan.arena_bytes);
    EXPECT(info.flash_payload_bytes == plan.flash_bytes && info.weight_floats == plan.flash_bytes / 4);
    free(file.bytes);
}

/* Own allocations and models share an arena. */
static void arena_accounting(void) {
    nk_arena_t arena;
    nk_arena_init(&arena, memory, 256);
    EXPECT(nk_arena_capacity(&arena) == 256 && nk_arena_used(&arena) == 0 && nk_arena_remaining(&arena) == 256);
    void *first = nk_arena_alloc(&arena, 28, 4);
    void *second = nk_arena_alloc(&arena, 32, 8);
    EXPECT(first == memory && second != NULL && (uintptr_t)second % 8 == 0);
    EXPECT(nk_arena_used(&arena) >= 60 && nk_arena_used(&arena) + nk_arena_remaining(&arena) == 256);
    EXPECT(nk_arena_alloc(&arena, 256, 1) == NULL);
    nk_arena_reset(&arena);
    EXPECT(nk_arena_used(&arena) == 0 && nk_arena_alloc(&arena, 256, 1) == memory);
    EXPECT(nk_arena_remaining(&arena) == 0);
}

static void inspect_adds_up(void) {
    nk_arena_t arena;
    nk_inspect_info_t info;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_inspect_model("models/test_mlp.nk", &arena, &info));
    EXPECT(info.arch.input_elements == 2 && info.weight_floats == 12);
    EXPECT(info.arena_bytes_after_load > 0 && info.arena_bytes_after_forward >= info.arena_bytes_after_load);
    EXPECT(info.flash_payload_bytes == info.arch.weights_bytes + info.arch.biases_bytes);
    EXPECT(info.arena_remaining <= sizeof memory - info.arena_bytes_after_forward);

    model_file file = need_model("models/cnn_4x4_single.nk");
    nk_arena_reset(&arena);
    EXPECT_OK(nk_inspect_model_memory(file.bytes, file.size, &arena, &info));
    EXPECT(info.arch.kind == NK_NETWORK_CNN && info.arch.input_elements == 16 && info.arch.output_elements == 4);
    free(file.bytes);
}

int main(void) {
    for (int i = 0; i < 16; i++) {
        cnn_input[i] = 1.0f;
    }
    RUN(from_files_in_one_arena);
    RUN(from_memory_in_one_arena);
    RUN(same_blob_twice);
    RUN(run_with_another_arena);
    RUN(handle_copied_by_value);
    RUN(unload);
    RUN(reset_and_load_again);
    RUN(heap_arena);
    RUN(failed_load_rolls_back);
    RUN(float_and_int8_in_one_arena);
    RUN(inspect_tells_the_plan_of_int8);
    RUN(arena_accounting);
    RUN(inspect_adds_up);
    return report();
}
