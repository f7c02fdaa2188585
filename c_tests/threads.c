/* Threads with arenas of their own share nothing, not even the last error. Models of one arena run on several threads
 * with scratch memory of their own, and one after the other without. All answers are those that a thread alone gets. */
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

/* ---- models of both types, answers of a lone thread ---- */

enum { MODELS = 4, INPUTS = 4, MOST_BYTES = 1024, SHARED_ROUNDS = 400 };

/* Float and int8, dense and convolutions. */
static const char *const paths[MODELS] = {"models/digits_mlp.nk", "models/digits_mlp_int8.nk", "models/digits_cnn.nk",
                                          "models/digits_cnn_int8.nk"};
static _Alignas(16) unsigned char inputs[MODELS][INPUTS][MOST_BYTES], answers[MODELS][INPUTS][MOST_BYTES];
static unsigned char arena_memory[MODELS][128 * 1024];

/* Fills inputs and answers of a model. Not all answers are alike, so that mixing them up shows. */
static bool learn(int which, const nk_model_t *model) {
    size_t in = nk_model_input_bytes(model), out = nk_model_output_bytes(model);
    if (!EXPECT(in <= MOST_BYTES && out <= MOST_BYTES)) {
        return false;
    }
    bool differ = false;
    for (int i = 0; i < INPUTS; i++) {
        fill_model_input(model, inputs[which][i], (uint32_t)(10 * which + i));
        EXPECT_OK(nk_run(model, inputs[which][i], in, answers[which][i], out, NULL));
        differ = differ || memcmp(answers[which][i], answers[which][0], out) != 0;
    }
    return EXPECT_THAT(differ, "all answers of %s are alike", paths[which]);
}

static bool gives_its_answer(int which, const nk_model_t *model, void *scratch, int input) {
    _Alignas(16) unsigned char output[MOST_BYTES] = {0};
    size_t in = nk_model_input_bytes(model), out = nk_model_output_bytes(model), written = 0;
    nk_status_t status = scratch == NULL ? nk_run(model, inputs[which][input], in, output, out, &written)
                                         : nk_model_run_scratch(model, scratch, nk_model_scratch_bytes(model),
                                                                inputs[which][input], in, output, out, &written);
    return status == NK_OK && written == out && memcmp(output, answers[which][input], out) == 0;
}

typedef struct worker {
    int first; /* model, or input, to begin with */
    nk_model_t *models; /* shared by all workers */
    pthread_mutex_t *turn;
    int wrong;
} worker;

/* Starts a worker for each model and waits for all. */
static void on_threads(void *(*work)(void *), nk_model_t *models) {
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[MODELS];
    worker workers[MODELS];
    for (int i = 0; i < MODELS; i++) {
        workers[i] = (worker){i, models, &turn, 0};
        if (!EXPECT(pthread_create(&threads[i], NULL, work, &workers[i]) == 0)) {
            exit(2);
        }
    }
    for (int i = 0; i < MODELS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_THAT(workers[i].wrong == 0, "worker %d: %d wrong answers", i, workers[i].wrong);
    }
}

static void *load_and_run(void *argument) {
    worker *mine = (worker *)argument;
    int which = mine->first;
    for (int round = 0; round < SHARED_ROUNDS / 4; round++) {
        nk_arena_t arena;
        nk_model_t model;
        nk_arena_init(&arena, arena_memory[which], sizeof arena_memory[which]);
        mine->wrong += nk_load(paths[which], &arena, &model) != NK_OK;
        for (int input = 0; input < INPUTS; input++) {
            mine->wrong += !gives_its_answer(which, &model, NULL, input);
        }
        nk_arena_reset(&arena);
    }
    return NULL;
}

static void models_in_arenas_of_their_own(void) {
    for (int which = 0; which < MODELS; which++) {
        nk_arena_t arena;
        nk_model_t model;
        nk_arena_init(&arena, arena_memory[which], sizeof arena_memory[which]);
        if (!EXPECT_OK(nk_load(paths[which], &arena, &model)) || !learn(which, &model)) {
            return;
        }
        nk_arena_reset(&arena);
    }
    on_threads(load_and_run, NULL);
}

/* All models in one arena. */
static bool load_all(nk_arena_t *arena, nk_model_t *models) {
    nk_arena_init(arena, arena_memory, sizeof arena_memory);
    for (int which = 0; which < MODELS; which++) {
        if (!EXPECT_OK(nk_load(paths[which], arena, &models[which]))) {
            return false;
        }
    }
    for (int which = 0; which < MODELS; which++) {
        if (!learn(which, &models[which])) {
            return false;
        }
    }
    return true;
}

static void *run_all_with_scratch(void *argument) {
    worker *mine = (worker *)argument;
    void *blocks[MODELS], *scratch[MODELS];
    for (int which = 0; which < MODELS; which++) {
        scratch[which] = scratch_for(&mine->models[which], &blocks[which], 0xA5);
    }
    for (int round = 0; round < SHARED_ROUNDS; round++) {
        int which = (mine->first + round) % MODELS;
        mine->wrong += !gives_its_answer(which, &mine->models[which], scratch[which], round / MODELS % INPUTS);
    }
    for (int which = 0; which < MODELS; which++) {
        free(blocks[which]);
    }
    return NULL;
}

static void models_of_one_arena_with_scratch(void) {
    nk_arena_t arena;
    nk_model_t models[MODELS];
    if (load_all(&arena, models)) {
        on_threads(run_all_with_scratch, models);
    }
    nk_arena_reset(&arena);
}

/* An arena may change hands between calls: a mutex is enough. */
static void *run_all_in_turn(void *argument) {
    worker *mine = (worker *)argument;
    for (int round = 0; round < SHARED_ROUNDS; round++) {
        int which = (mine->first + round) % MODELS;
        pthread_mutex_lock(mine->turn);
        mine->wrong += !gives_its_answer(which, &mine->models[which], NULL, round / MODELS % INPUTS);
        pthread_mutex_unlock(mine->turn);
    }
    return NULL;
}

static void models_of_one_arena_in_turn(void) {
    nk_arena_t arena;
    nk_model_t models[MODELS];
    if (load_all(&arena, models)) {
        on_threads(run_all_in_turn, models);
    }
    nk_arena_reset(&arena);
}

int main(void) {
    RUN(two_models_in_parallel);
    RUN(last_error_belongs_to_its_thread);
    RUN(many_short_threads);
    RUN(models_in_arenas_of_their_own);
    RUN(models_of_one_arena_with_scratch);
    RUN(models_of_one_arena_in_turn);
    return report();
}
