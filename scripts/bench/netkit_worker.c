/* Runs a model on request of bench-ort: prints the outputs for a fixed input, then answers each line `run MILLISECONDS`
 * with the median CPU time of one inference in nanoseconds. */
#define _POSIX_C_SOURCE 200809L
#include <nk.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_BATCHES = 100000, BATCH_NS = 100000 };

static nk_arena_t arena;
static nk_model_t model;
static float *input, *output;
static uint32_t inputs, outputs;

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void forward(void) {
    uint32_t count;
    if (nk_forward(&model, &arena, input, inputs, output, outputs, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        exit(1);
    }
}

static int by_value(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

static long long median_ns(long long milliseconds) {
    static long long times[MOST_BATCHES];
    long long end = now(CLOCK_MONOTONIC) + milliseconds * 1000000;
    int batches = 0;
    forward();
    long long start = now(CLOCK_PROCESS_CPUTIME_ID);
    forward();
    long long once = now(CLOCK_PROCESS_CPUTIME_ID) - start;
    long long runs = once > 0 ? BATCH_NS / once + 1 : 1000;
    do {
        start = now(CLOCK_PROCESS_CPUTIME_ID);
        for (long long i = 0; i < runs; i++) {
            forward();
        }
        times[batches++] = (now(CLOCK_PROCESS_CPUTIME_ID) - start) / runs;
    } while (batches < MOST_BATCHES && now(CLOCK_MONOTONIC) < end);
    qsort(times, (size_t)batches, sizeof times[0], by_value);
    return times[batches / 2];
}

int main(int argc, char **argv) {
    size_t arena_bytes = argc == 2 ? nk_recommended_arena_bytes(argv[1]) : 0;
    if (arena_bytes == 0 || nk_arena_init_heap(&arena, arena_bytes) != NK_OK || nk_load(argv[1], &arena, &model) != NK_OK) {
        fprintf(stderr, "%s: %s\n", argc == 2 ? argv[1] : "usage: netkit_worker MODEL.nk", nk_last_error());
        return 1;
    }
    inputs = nk_model_input_count(&model);
    outputs = nk_model_output_count(&model);
    input = malloc(inputs * sizeof *input);
    output = malloc(outputs * sizeof *output);
    if (input == NULL || output == NULL) {
        return 1;
    }
    uint32_t state = 12345;
    for (uint32_t i = 0; i < inputs; i++) {
        state = state * 1664525u + 1013904223u;
        input[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
    }
    forward();
    for (uint32_t i = 0; i < outputs; i++) {
        printf("%.9g ", (double)output[i]);
    }
    printf("\n");
    fflush(stdout);
    long long milliseconds;
    while (scanf(" run %lld", &milliseconds) == 1) {
        printf("%lld\n", median_ns(milliseconds));
        fflush(stdout);
    }
    return 0;
}
