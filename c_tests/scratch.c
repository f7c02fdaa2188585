/* Runs on bytes, runs in scratch memory of the caller, one model on two threads, models that are copied. */
#include "check.h"

#include <pthread.h>

static unsigned char memory[256 * 1024];

/* The same answer from all ways to run, whatever the scratch memory holds; the arena does not change. */
static void same_answers(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    unsigned char *room = (unsigned char *)must_alloc(plan.arena_bytes), *before;
    nk_arena_t arena;
    nk_model_t model;
    memset(room, 0xFF, plan.arena_bytes);
    nk_arena_init(&arena, room, plan.arena_bytes);
    if (!EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
        free(room);
        return;
    }
    size_t in = nk_model_input_bytes(&model), out = nk_model_output_bytes(&model), written = 0;
    EXPECT(nk_model_scratch_bytes(&model) == plan.scratch_bytes);
    void *input = must_alloc(in), *wanted = must_alloc(out), *output = must_alloc(out), *block;
    fill_model_input(&model, input, 11);
    EXPECT_OK(run_model(&model, &arena, input, wanted));
    memset(output, 0x55, out);
    EXPECT_OK(nk_run(&model, input, in, output, out, &written));
    EXPECT(written == out && memcmp(wanted, output, out) == 0);
    before = (unsigned char *)must_alloc(plan.arena_bytes);
    memcpy(before, room, plan.arena_bytes);
    for (int garbage = 0; garbage < 256; garbage += 0x55) {
        void *scratch = scratch_for(&model, &block, (unsigned char)garbage);
        written = 0;
        memset(output, 0x55, out);
        EXPECT_OK(nk_model_run_scratch(&model, scratch, plan.scratch_bytes, input, in, output, out, &written));
        EXPECT(written == out && memcmp(wanted, output, out) == 0);
        free(block);
    }
    EXPECT(memcmp(before, room, plan.arena_bytes) == 0);
    free(before);
    free(output);
    free(wanted);
    free(input);
    free(room);
}

/* ---- one model, two threads ---- */

enum { INPUTS = 8, ROUNDS = 300 };

typedef struct job {
    const nk_model_t *model;
    unsigned char *inputs, *answers; /* INPUTS of each */
    int first; /* input to begin with */
    int wrong;
} job;

static void *run_again_and_again(void *argument) {
    job *mine = (job *)argument;
    size_t in = nk_model_input_bytes(mine->model), out = nk_model_output_bytes(mine->model), written;
    void *block, *scratch = scratch_for(mine->model, &block, 0xA5), *output = must_alloc(out);
    for (int round = 0; round < ROUNDS; round++) {
        size_t which = (size_t)(mine->first + round) % INPUTS;
        nk_status_t status = nk_model_run_scratch(mine->model, scratch, nk_model_scratch_bytes(mine->model),
                                                  mine->inputs + which * in, in, output, out, &written);
        mine->wrong += status != NK_OK || written != out || memcmp(output, mine->answers + which * out, out) != 0;
        nk_layer_info_t info;
        memset(&info, 0, sizeof info);
        info.struct_size = (uint32_t)sizeof info;
        mine->wrong += nk_model_layer_info(mine->model, 0, &info) != NK_OK || info.index != 0;
    }
    free(output);
    free(block);
    return NULL;
}

static void on_two_threads(const char *path) {
    nk_arena_t arena;
    nk_model_t model;
    pthread_t threads[2];
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(path, &arena, &model))) {
        return;
    }
    size_t in = nk_model_input_bytes(&model), out = nk_model_output_bytes(&model);
    unsigned char *inputs = (unsigned char *)must_alloc(INPUTS * in), *answers = (unsigned char *)must_alloc(INPUTS * out);
    job jobs[2];
    for (size_t i = 0; i < INPUTS; i++) {
        fill_model_input(&model, inputs + i * in, (uint32_t)i + 1);
        EXPECT_OK(nk_run(&model, inputs + i * in, in, answers + i * out, out, NULL));
    }
    for (int i = 0; i < 2; i++) {
        jobs[i] = (job){&model, inputs, answers, 3 * i, 0};
        if (!EXPECT(pthread_create(&threads[i], NULL, run_again_and_again, &jobs[i]) == 0)) {
            exit(2);
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_THAT(jobs[i].wrong == 0, "%d wrong answers with %s", jobs[i].wrong, path);
    }
    free(answers);
    free(inputs);
    nk_arena_reset(&arena);
}

static void one_float_model_on_two_threads(void) {
    on_two_threads("models/digits_cnn.nk");
    on_two_threads("models/backbone_mixed.nk");
}

static void one_int8_model_on_two_threads(void) {
    on_two_threads("models/digits_cnn_int8.nk");
    on_two_threads("models/digits_mlp_int8.nk");
}

/* ---- what is refused ---- */

static void runs_that_are_refused(void) {
    static _Alignas(64) unsigned char scratch[8 * 1024];
    nk_arena_t arena;
    nk_model_t model, none;
    float input[3] = {0}, output[2];
    size_t written = 77;
    memset(&none, 0xA5, sizeof none);
    memset(output, 0x11, sizeof output);
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    EXPECT_STATUS(nk_run(NULL, input, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_run(&model, NULL, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_run(&model, input, 8, NULL, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_run(&none, input, 8, output, 8, &written), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_ERROR(nk_run(&model, input, 7, output, 8, &written), NK_ERR_INVALID_ARGUMENT,
                 "input_bytes is 7, expected 8");
    EXPECT_ERROR(nk_run(&model, input, 12, output, 8, &written), NK_ERR_INVALID_ARGUMENT,
                 "input_bytes is 12, expected 8");
    EXPECT_ERROR(nk_run(&model, input, 8, output, 7, &written), NK_ERR_BUFFER_TOO_SMALL,
                 "output_bytes is 7, expected at least 8");
    EXPECT_ERROR(nk_run(&model, input, 8, (char *)output + 1, 8, &written), NK_ERR_INVALID_ARGUMENT, "aligned to 4");
    EXPECT_ERROR(nk_run(&model, input, 8, input + 1, 8, &written), NK_ERR_INVALID_ARGUMENT, "input and output overlap");
    EXPECT_ERROR(nk_run(&model, input, 8, memory + 64, 8, &written), NK_ERR_INVALID_ARGUMENT, "memory of the model");
    EXPECT_ERROR(nk_run(&model, memory + 64, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT, "memory of the model");

    size_t need = nk_model_scratch_bytes(&model);
    EXPECT(nk_model_scratch_bytes(NULL) == 0 && nk_model_scratch_bytes(&none) == 0);
    EXPECT(nk_model_scratch_align(NULL) == 1 && nk_model_scratch_align(&none) == 1);
    EXPECT(need > 0 && need <= sizeof scratch && 64 % nk_model_scratch_align(&model) == 0);
    EXPECT_STATUS(nk_model_run_scratch(NULL, scratch, need, input, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_run_scratch(&model, NULL, need, input, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_run_scratch(&model, scratch, need, NULL, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_run_scratch(&model, scratch, need, input, 8, NULL, 8, &written), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_run_scratch(&none, scratch, need, input, 8, output, 8, &written), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch, need - 1, input, 8, output, 8, &written),
                  NK_ERR_BUFFER_TOO_SMALL, "scratch_bytes");
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch + 4, need, input, 8, output, 8, &written),
                  NK_ERR_INVALID_ARGUMENT, "scratch");
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch, need, input, 4, output, 8, &written), NK_ERR_INVALID_ARGUMENT,
                 "input_bytes is 4");
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch, need, input, 8, output, 4, &written), NK_ERR_BUFFER_TOO_SMALL,
                 "output_bytes is 4");
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch, need, scratch, 8, output, 8, &written),
                  NK_ERR_INVALID_ARGUMENT, "scratch");
    EXPECT_ERROR(nk_model_run_scratch(&model, scratch, need, input, 8, scratch, 8, &written),
                  NK_ERR_INVALID_ARGUMENT, "scratch");
    unsigned char *inside = memory + 64 - (uintptr_t)memory % 64;
    EXPECT_ERROR(nk_model_run_scratch(&model, inside, need, input, 8, output, 8, &written), NK_ERR_INVALID_ARGUMENT,
                 "scratch");
    EXPECT(written == 77 && all_bytes(output, sizeof output, 0x11));
    EXPECT_OK(nk_model_run_scratch(&model, scratch, need, input, 8, output, 8, NULL));
    nk_arena_reset(&arena);
    EXPECT(nk_model_scratch_bytes(&model) == 0);
    EXPECT_STATUS(nk_model_run_scratch(&model, scratch, need, input, 8, output, 8, &written), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_STATUS(nk_run(&model, input, 8, output, 8, &written), NK_ERR_MODEL_NOT_LOADED);
}

/* A model that computes straight from input to output needs no scratch memory. */
static void a_model_without_scratch(void) {
    nk_arena_t arena;
    nk_model_t model;
    float input[16], output[4];
    size_t written = 0;
    for (int i = 0; i < 16; i++) {
        input[i] = 1;
    }
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load("models/cnn_4x4_single.nk", &arena, &model));
    EXPECT(nk_model_scratch_bytes(&model) == 0);
    EXPECT_OK(nk_model_run_scratch(&model, NULL, 0, input, sizeof input, output, sizeof output, &written));
    EXPECT(written == sizeof output && is_close(output[0], 4) && is_close(output[3], 4));
    nk_arena_reset(&arena);
}

/* ---- copies of models ---- */

static void a_copied_model_needs_its_bytes_no_more(void) {
    const float input[2] = {1, 2};
    for (size_t shift = 0; shift < 8; shift++) {
        model_file file = need_model("models/test_mlp.nk");
        unsigned char *moved = (unsigned char *)must_alloc(file.size + shift);
        nk_memory_plan_t plan = plan_of(&file);
        nk_arena_t arena;
        nk_model_t model;
        float output[2] = {0, 0};
        memcpy(moved + shift, file.bytes, file.size);
        nk_arena_init(&arena, memory + shift, file.size + 15 + plan.arena_bytes);
        EXPECT_OK(nk_load_memory_copy(moved + shift, file.size, &arena, &model));
        memset(moved, 0xFF, file.size + shift);
        free(moved);
        EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL));
        EXPECT(is_close(output[0], 3) && is_close(output[1], 3));
        free(file.bytes);
    }
}

static void copies_that_are_refused(void) {
    model_file file = need_model("models/test_mlp.nk");
    nk_memory_plan_t plan = plan_of(&file);
    const float input[2] = {1, 2};
    float output[2];
    nk_arena_t arena, small;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_OK(nk_load_memory_copy(file.bytes, file.size, &arena, &model));
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_load_memory_copy(NULL, file.size, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_load_memory_copy(file.bytes, 0, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_load_memory_copy(file.bytes, file.size, NULL, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_load_memory_copy(file.bytes, file.size, &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_load_memory_copy(file.bytes, 60, &arena, &model), NK_ERR_MODEL_READ);
    static const unsigned char text[64] = "no model at all, but longer than the header of one";
    EXPECT_STATUS(nk_load_memory_copy(text, 64, &arena,
                                      &model),
                  NK_ERR_MODEL_PARSE);
    EXPECT(nk_arena_used(&arena) == used);
    EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL)); /* still the first one */
    for (size_t size = 0; size < 2; size++) {
        /* Too small for the copy, and too small for the model behind it. */
        nk_arena_init(&small, memory + 128 * 1024, size == 0 ? file.size - 1 : file.size + plan.arena_bytes / 2);
        EXPECT_STATUS(nk_load_memory_copy(file.bytes, file.size, &small, &model), NK_ERR_ARENA_OVERFLOW);
        EXPECT(nk_arena_used(&small) == 0 && nk_model_input_count(&model) == 0);
    }
    free(file.bytes);
}

int main(int argc, char **argv) {
    RUN(one_float_model_on_two_threads);
    RUN(one_int8_model_on_two_threads);
    RUN(runs_that_are_refused);
    RUN(a_model_without_scratch);
    RUN(a_copied_model_needs_its_bytes_no_more);
    RUN(copies_that_are_refused);
    for_each_model(argc, argv, "same_answers", same_answers);
    return report();
}
