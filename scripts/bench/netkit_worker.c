/* netkit as an engine of bench-peers: `netkit_worker MODEL.nk INPUT.f32 SHAPE [in-place]`. The protocol is that of
 * all workers. First comes a line `ready LOAD_NS FIRST_NS PEAK_KB`: the time until the model can run, that of the first
 * run, and the most memory that the process held. Then each line of stdin is answered by one line:
 *
 *     run MILLISECONDS   the median CPU time of one inference in nanoseconds
 *     output             the output for the input, in real numbers
 *
 * The arena has the bytes that nk_recommended_arena_bytes() tells, so that weights get packed; with `in-place` it has
 * exactly those that the model needs, and weights are used where the file is mapped. An int8 model gets and gives integers: the floats of the input are converted before. */
#define _POSIX_C_SOURCE 200809L
#include <nk.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_BATCHES = 100000, BATCH_NS = 100000 };

static nk_arena_t arena;
static nk_model_t model;
static bool is_int8;
static float *input, *output;
static int8_t *input_codes, *output_codes;
static uint32_t inputs, outputs;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void check(nk_status_t status) {
    if (status != NK_OK) {
        fail("netkit", nk_last_error());
    }
}

static void *room(size_t bytes) {
    void *memory = malloc(bytes);
    if (memory == NULL) {
        fail("netkit_worker", "no memory");
    }
    return memory;
}

static long long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void load_in_place(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0) {
        fail(path, "cannot be opened");
    }
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) {
        fail(path, "cannot be mapped");
    }
    nk_memory_plan_t plan = {.struct_size = sizeof plan};
    check(nk_plan_memory(bytes, size, &plan));
    check(nk_arena_init_heap(&arena, plan.arena_bytes));
    check(nk_load_memory(bytes, size, &arena, &model));
}

static void load_as_recommended(const char *path) {
    size_t bytes = nk_recommended_arena_bytes(path);
    if (bytes == 0) {
        fail(path, nk_last_error());
    }
    check(nk_arena_init_heap(&arena, bytes));
    check(nk_load(path, &arena, &model));
}

static void read_input(const char *path) {
    input = room(inputs * sizeof *input);
    output = room(outputs * sizeof *output);
    input_codes = room(inputs);
    output_codes = room(outputs);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fread(input, sizeof *input, inputs, file) != inputs) {
        fail(path, "does not have the floats of one input");
    }
    fclose(file);
    nk_quant_params_t quant;
    if (is_int8) {
        check(nk_model_input_quant(&model, &quant));
        nk_quantize_f32(input, input_codes, inputs, quant);
    }
}

static void forward(void) {
    uint32_t count;
    check(is_int8 ? nk_model_run_int8(&model, &arena, input_codes, inputs, output_codes, outputs, &count)
                  : nk_forward(&model, &arena, input, inputs, output, outputs, &count));
}

static void print_output(void) {
    nk_quant_params_t quant;
    if (is_int8) {
        check(nk_model_output_quant(&model, &quant));
        nk_dequantize_i8(output_codes, output, outputs, quant);
    }
    for (uint32_t i = 0; i < outputs; i++) {
        printf("%.9g%c", (double)output[i], i + 1 < outputs ? ' ' : '\n');
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

static long peak_kilobytes(void) {
    char line[256];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL && sscanf(line, "VmHWM: %ld", &kilobytes) != 1) {
    }
    if (status != NULL) {
        fclose(status);
    }
    return kilobytes;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fail("usage", "netkit_worker MODEL.nk INPUT.f32 SHAPE [in-place]");
    }
    long long start = now(CLOCK_MONOTONIC);
    (argc > 4 ? load_in_place : load_as_recommended)(argv[1]);
    long long load = now(CLOCK_MONOTONIC) - start;
    is_int8 = nk_model_is_quantized(&model);
    inputs = nk_model_input_count(&model);
    outputs = nk_model_output_count(&model);
    read_input(argv[2]);
    start = now(CLOCK_MONOTONIC);
    forward();
    printf("ready %lld %lld %ld\n", load, now(CLOCK_MONOTONIC) - start, peak_kilobytes());
    fflush(stdout);
    char line[256];
    long long milliseconds;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "run %lld", &milliseconds) == 1) {
            printf("%lld\n", median_ns(milliseconds));
        } else {
            print_output();
        }
        fflush(stdout);
    }
    return 0;
}
