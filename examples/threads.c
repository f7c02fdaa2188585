/* Four threads run the same model. The weights are shared: they are read where they lie and never written to. Each
 * thread has an arena and a model handle of its own, since a run writes to the model's memory in its arena. */
#include <nk.h>

#include <pthread.h>
#include <stdio.h>

#include "test_mlp_model.h"

enum { THREADS = 4, RUNS = 100 };

typedef struct worker {
    unsigned char memory[4096];
    int right;
} worker;

static void *work(void *argument) {
    worker *mine = argument;
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, mine->memory, sizeof mine->memory);
    if (nk_load_memory(test_mlp_model, sizeof test_mlp_model, &arena, &model) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error()); /* the last error of this thread */
        return NULL;
    }
    for (int i = 0; i < RUNS; i++) {
        const float input[2] = {1, 2};
        float output[2];
        uint32_t count;
        if (nk_forward(&model, &arena, input, 2, output, 2, &count) == NK_OK && output[0] == 3 && output[1] == 3) {
            mine->right++;
        }
    }
    return NULL;
}

int main(void) {
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    int right = 0;
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "no thread\n");
            return 1;
        }
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        right += workers[i].right;
    }
    printf("%d of %d runs gave 3, 3\n", right, THREADS * RUNS);
    return right == THREADS * RUNS ? 0 : 1;
}
