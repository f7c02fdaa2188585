/* What every program in this folder shares: checks, model files, values.
 *
 * A test is a function without result that states what must hold with EXPECT. RUN calls one and prints `PASS name` or
 * `FAIL name file:line: expression (last error)`; `report` prints the number of failed tests and gives the exit code.
 * Programs run from the repository root. Those that go through all models take other files as arguments. */
#ifndef CHECK_H
#define CHECK_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <nk.h>

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__)
#define CHECK_UNUSED __attribute__((unused))
#define CHECK_PRINTF __attribute__((unused, format(printf, 4, 5)))
#else
#define CHECK_UNUSED
#define CHECK_PRINTF
#endif

/* ---- checks ---- */

static int check_failed_tests;
static int check_failed_here;
static char check_first_failure[512];

CHECK_PRINTF static bool check_note(bool holds, const char *file, int line, const char *format, ...) {
    if (holds) {
        return true;
    }
    if (check_failed_here++ == 0) {
        char what[256];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(what, sizeof what, format, arguments);
        va_end(arguments);
        snprintf(check_first_failure, sizeof check_first_failure, "%s:%d: %s [%s]", file, line, what, nk_last_error());
    }
    return false;
}

/* True when the condition holds, so that a test can stop where going on makes no sense. */
#define EXPECT(condition) check_note((condition), __FILE__, __LINE__, "%s", #condition)

/* The same with a text of its own, for loops in which the expression alone does not tell where. */
#define EXPECT_THAT(condition, ...) check_note((condition), __FILE__, __LINE__, __VA_ARGS__)

CHECK_UNUSED static bool check_status(nk_status_t found, nk_status_t wanted, const char *call, const char *file,
                                      int line) {
    return check_note(found == wanted, file, line, "%s gives \"%s\", not \"%s\"", call, nk_status_string(found),
                      nk_status_string(wanted));
}

#define EXPECT_STATUS(call, wanted) check_status((call), (wanted), #call, __FILE__, __LINE__)
#define EXPECT_OK(call) EXPECT_STATUS(call, NK_OK)

CHECK_UNUSED static bool check_error(nk_status_t found, nk_status_t wanted, const char *words, const char *call,
                                     const char *file, int line) {
    return check_status(found, wanted, call, file, line) &&
           check_note(strstr(nk_last_error(), words) != NULL, file, line, "%s: no \"%s\" in the text", call, words);
}

/* The call fails with this status, and the text of the last error has these words in it. */
#define EXPECT_ERROR(call, wanted, words) check_error((call), (wanted), (words), #call, __FILE__, __LINE__)

CHECK_UNUSED static void check_begin(void) {
    check_failed_here = 0;
    nk_clear_last_error();
}

CHECK_UNUSED static void check_end(const char *name, const char *about) {
    const char *gap = about[0] != '\0' ? " " : "";
    if (check_failed_here == 0) {
        printf("PASS %s%s%s\n", name, gap, about);
    } else {
        check_failed_tests++;
        printf("FAIL %s%s%s %s, and %d more\n", name, gap, about, check_first_failure, check_failed_here - 1);
    }
    fflush(stdout);
}

#define RUN(test) (check_begin(), test(), check_end(#test, ""))

CHECK_UNUSED static int report(void) {
    printf("Failures: %d\n", check_failed_tests);
    return check_failed_tests == 0 ? 0 : 1;
}

/* ---- bytes ---- */

CHECK_UNUSED static bool all_bytes(const void *memory, size_t size, unsigned char value) {
    const unsigned char *bytes = (const unsigned char *)memory;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

CHECK_UNUSED static size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* malloc that gives up at once: a test machine without memory is not a failure of the library. */
CHECK_UNUSED static void *must_alloc(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        exit(2);
    }
    return memory;
}

/* ---- models ---- */

typedef struct model_file {
    const char *path;
    unsigned char *bytes;
    size_t size;
} model_file;

CHECK_UNUSED static bool read_model(const char *path, model_file *file) {
    FILE *stream = fopen(path, "rb");
    long size = -1;
    if (stream == NULL) {
        return false;
    }
    if (fseek(stream, 0, SEEK_END) == 0) {
        size = ftell(stream);
    }
    if (size < 0 || fseek(stream, 0, SEEK_SET) != 0) {
        fclose(stream);
        return false;
    }
    file->path = path;
    file->size = (size_t)size;
    file->bytes = (unsigned char *)must_alloc(file->size);
    size_t got = fread(file->bytes, 1, file->size, stream);
    fclose(stream);
    return got == file->size;
}

/* A model that a test cannot do without. */
CHECK_UNUSED static model_file need_model(const char *path) {
    model_file file;
    if (!read_model(path, &file)) {
        fprintf(stderr, "cannot read %s: run this program from the repository root\n", path);
        exit(2);
    }
    return file;
}

CHECK_UNUSED static uint16_t read_u16(const unsigned char *bytes) {
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

CHECK_UNUSED static uint32_t read_u32(const unsigned char *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

CHECK_UNUSED static void write_u32(unsigned char *bytes, uint32_t value) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (unsigned char)(value >> (8 * i));
    }
}

/* Header flag 0x0002: the model has a QUAN section, so its weights are int8. */
CHECK_UNUSED static bool is_int8_model(const model_file *file) {
    return file->size >= 12 && (read_u16(file->bytes + 10) & 0x0002u) != 0;
}

/* How much arena the model needs. */
CHECK_UNUSED static nk_memory_plan_t plan_of(const model_file *file) {
    nk_memory_plan_t plan;
    memset(&plan, 0, sizeof plan);
    plan.struct_size = (uint32_t)sizeof plan;
    EXPECT_OK(nk_plan_memory(file->bytes, file->size, &plan));
    return plan;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp((const char *)a, (const char *)b);
}

/* Calls `test` for each file named on the command line or, without any, for each models/<name>.nk in order of names. */
CHECK_UNUSED static void for_each_model(int argc, char **argv, const char *name, void (*test)(const model_file *)) {
    enum { MOST = 512, LONGEST = 512 };
    static char paths[MOST][LONGEST];
    size_t count = 0;
    for (int i = 1; i < argc && count < MOST; i++) {
        snprintf(paths[count++], LONGEST, "%s", argv[i]);
    }
    if (count == 0) {
        DIR *folder = opendir("models");
        const struct dirent *entry;
        while (folder != NULL && count < MOST && (entry = readdir(folder)) != NULL) {
            size_t length = strlen(entry->d_name);
            if (length > 3 && length < 256 && strcmp(entry->d_name + length - 3, ".nk") == 0) {
                snprintf(paths[count++], LONGEST, "models/%.255s", entry->d_name);
            }
        }
        if (folder != NULL) {
            closedir(folder);
        }
        qsort(paths, count, LONGEST, compare_paths);
    }
    if (count == 0) {
        fprintf(stderr, "no models found: run this program from the repository root\n");
        exit(2);
    }
    for (size_t i = 0; i < count; i++) {
        model_file file = need_model(paths[i]);
        check_begin();
        test(&file);
        check_end(name, file.path);
        free(file.bytes);
    }
}

/* ---- floats ---- */

CHECK_UNUSED static bool is_close(float found, float wanted) {
    return fabsf(found - wanted) <= 1e-5f + 1e-5f * fabsf(wanted);
}

/* The same numbers between -1 and 1 for every caller with the same seed. */
CHECK_UNUSED static void fill_input(float *values, size_t count, uint32_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
    }
}

/* ---- models of either type: floats or int8 values, as bytes ---- */

/* Numbers between -1 and 1, or any int8 values. */
CHECK_UNUSED static void fill_model_input(const nk_model_t *model, void *values, uint32_t seed) {
    if (!nk_model_is_quantized(model)) {
        fill_input((float *)values, nk_model_input_count(model), seed);
        return;
    }
    for (uint32_t i = 0; i < nk_model_input_count(model); i++) {
        seed = seed * 1664525u + 1013904223u;
        ((unsigned char *)values)[i] = (unsigned char)(seed >> 24);
    }
}

/* One run with exactly the right counts; NK_ERR_BUFFER_TOO_SMALL when the count that comes back is another one. */
CHECK_UNUSED static nk_status_t run_model(const nk_model_t *model, nk_arena_t *arena, const void *input,
                                          void *output) {
    uint32_t inputs = nk_model_input_count(model), outputs = nk_model_output_count(model), count = 0;
    nk_status_t status =
        nk_model_is_quantized(model)
            ? nk_model_run_int8(model, arena, (const int8_t *)input, inputs, (int8_t *)output, outputs, &count)
            : nk_forward(model, arena, (const float *)input, inputs, (float *)output, outputs, &count);
    return status == NK_OK && count != outputs ? NK_ERR_BUFFER_TOO_SMALL : status;
}

/* Scratch memory of a model at an address of the right alignment; `*block` is what to free. */
CHECK_UNUSED static void *scratch_for(const nk_model_t *model, void **block, unsigned char garbage) {
    size_t bytes = nk_model_scratch_bytes(model), align = nk_model_scratch_align(model);
    *block = must_alloc(bytes + align);
    uintptr_t start = ((uintptr_t)*block + align - 1) / align * align;
    memset((void *)start, garbage, bytes);
    return (void *)start;
}

#endif
