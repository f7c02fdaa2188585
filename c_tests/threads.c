/* Threads with arenas of their own share nothing, not even the last error. */
#include "check.h"

#include <pthread.h>

enum { ROUNDS = 2000 };

typedef struct job {
    const char *path;
    uint32_t inputs, outputs;
    float first, step, answer; /* input values, and each output */
    nk_status_t wrong_status; /* of the call that must fail */
    int wrong; /* rounds that went wrong */
    unsigned char memory[64 * 1024];
} job;

/* EXPECT is for one thread, so the threads count and the main thread judges. */
static void *load_run_fail(void *argument) {
    job *mine = (job *)argument;
    float input[16], output[4];
    for (uint32_t i = 0; i < mine->inputs; i++) {
        input[i] = mine->first + mine->step * (float)i;
    }
    for (int round = 0; round < ROUNDS; round++) {
        nk_arena_t arena;
        nk_model_t model;
        nk_error_info_t info;
        uint32_t count = 0;
        bool right = true;
        nk_arena_init(&arena, mine->memory, sizeof mine->memory);
        right = nk_load(mine->path, &arena, &model) == NK_OK;
        right = right && nk_forward(&model, &arena, input, mine->inputs, output, mine->outputs, &count) == NK_OK;
        for (uint32_t i = 0; i < mine->outputs; i++) {
            right = right && is_close(output[i], mine->answer);
        }
        right = right && nk_last_error()[0] == '\0';
        nk_status_t failed = mine->wrong_status == NK_ERR_MODEL_OPEN
                                 ? nk_load("models/no_such_model.nk", &arena, &model)
                                 : nk_forward(&model, &arena, input, mine->inputs, output, 0, &count);
        memset(&info, 0, sizeof info);
        info.struct_size = (uint32_t)sizeof info;
        right = right && failed == mine->wrong_status && nk_last_error()[0] != '\0';
        right = right && nk_last_error_info(&info) == NK_OK && info.status == failed;
        mine->wrong += !right;
        nk_arena_reset(&arena);
    }
    return NULL;
}

static void two_models_in_parallel(void) {
    static job jobs[2] = {
        {.path = "models/test_mlp.nk", .inputs = 2, .outputs = 2, .first = 1, .step = 1, .answer = 3},
        {.path = "models/cnn_4x4_single.nk", .inputs = 16, .outputs = 4, .first = 1, .step = 0, .answer = 4},
    };
    pthread_t threads[2];
    jobs[0].wrong_status = NK_ERR_MODEL_OPEN;
    jobs[1].wrong_status = NK_ERR_BUFFER_TOO_SMALL;
    for (int i = 0; i < 2; i++) {
        if (!EXPECT(pthread_create(&threads[i], NULL, load_run_fail, &jobs[i]) == 0)) {
            return;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_THAT(jobs[i].wrong == 0, "%d of %d rounds with %s", jobs[i].wrong, ROUNDS, jobs[i].path);
    }
}

static void *see_no_error(void *result) {
    bool *seen = (bool *)result;
    nk_arch_info_t arch;
    *seen = nk_last_error()[0] != '\0';
    (void)nk_parse_architecture("models/test_mlp.nk", &arch); /* clears this thread's error only */
    return NULL;
}

static void last_error_belongs_to_its_thread(void) {
    nk_arch_info_t arch;
    char before[NK_MAX_MESSAGE_LEN];
    bool seen = true;
    pthread_t thread;
    EXPECT_STATUS(nk_parse_architecture("models/no_such_model.nk", &arch), NK_ERR_MODEL_OPEN);
    nk_last_error_copy(before, sizeof before);
    if (EXPECT(pthread_create(&thread, NULL, see_no_error, &seen) == 0)) {
        pthread_join(thread, NULL);
        EXPECT(!seen);
        EXPECT(before[0] != '\0' && strcmp(before, nk_last_error()) == 0);
    }
}

/* Threads that come and go leave nothing behind and find nothing. */
static void many_short_threads(void) {
    for (int i = 0; i < 500; i++) {
        bool seen = true;
        pthread_t thread;
        if (!EXPECT(pthread_create(&thread, NULL, see_no_error, &seen) == 0)) {
            return;
        }
        pthread_join(thread, NULL);
        EXPECT(!seen);
    }
}

int main(void) {
    RUN(two_models_in_parallel);
    RUN(last_error_belongs_to_its_thread);
    RUN(many_short_threads);
    return report();
}
