/* Wrong on purpose: two threads run one model without scratch memory of their own, so that both write to its arena.
 * scripts/thread-sanitizer expects the sanitizer to see it, inside the library. */
#include <nk.h>

#include <pthread.h>

static unsigned char memory[64 * 1024];
static nk_model_t model;

static void *run(void *unused) {
    static const float input[256] = {0};
    float output[16];
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        nk_run(&model, input, nk_model_input_bytes(&model), output, sizeof output, NULL);
    }
    return NULL;
}

int main(void) {
    nk_arena_t arena;
    pthread_t threads[2];
    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load("models/digits_cnn.nk", &arena, &model) != NK_OK || nk_model_input_bytes(&model) > 1024) {
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, run, NULL) != 0) {
            return 2;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
