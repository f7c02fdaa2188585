/* The companion tool of netkit that scripts call to compare outputs:
 *
 *     nk_infer MODEL VALUE...                      prints the outputs with commas between them
 *     nk_infer MODEL @IN.bin [--out-bin OUT.bin]   files of little-endian floats
 */
#include "netkit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static float input[NK_MAX_CASE_FLOATS];
static float output[NK_MAX_CASE_FLOATS];

static int fail(const char* what, nk_status_t status) {
    fprintf(stderr, "%s: %s (%s)\n", what, nk_status_string(status), nk_last_error());
    return 1;
}

static uint32_t read_floats(const char* path) {
    FILE* file = fopen(path, "rb");
    size_t count;
    if (file == nullptr) {
        return 0;
    }
    count = fread(input, sizeof input[0], NK_MAX_CASE_FLOATS, file);
    fclose(file);
    return (uint32_t)count;
}

static bool write_floats(const char* path, uint32_t count) {
    FILE* file = fopen(path, "wb");
    bool written;
    if (file == nullptr) {
        return false;
    }
    written = fwrite(output, sizeof output[0], count, file) == count;
    return fclose(file) == 0 && written;
}

/* Takes the values and, if there is one, the path of the output file from the words behind the model. */
static uint32_t read_arguments(int argc, char** argv, const char** out_path) {
    uint32_t count = 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--out-bin") == 0 && i + 1 < argc) {
            *out_path = argv[++i];
        } else if (argv[i][0] == '@') {
            count = read_floats(argv[i] + 1);
        } else if (count < NK_MAX_CASE_FLOATS) {
            input[count++] = strtof(argv[i], nullptr);
        }
    }
    return count;
}

static int infer(const char* path, uint32_t input_count, uint32_t* output_count) {
    nk_arena_t arena;
    nk_model_t model;
    nk_status_t status;
    int result = 0;
    size_t bytes = nk_recommended_arena_bytes(path);
    if (bytes == 0) {
        return fail("sizing", NK_ERR_MODEL_PARSE);
    }
    status = nk_arena_init_heap(&arena, bytes);
    if (status != NK_OK) {
        return fail("arena", status);
    }
    status = nk_model_load(path, &arena, &model);
    if (status != NK_OK) {
        result = fail("load", status);
        goto done;
    }
    status = nk_model_run(&model, &arena, input, input_count, output, NK_MAX_CASE_FLOATS, output_count);
    if (status != NK_OK) {
        result = fail("run", status);
    }
done:
    nk_arena_destroy_heap(&arena);
    return result;
}

int main(int argc, char** argv) {
    const char* out_path = nullptr;
    uint32_t input_count;
    uint32_t output_count = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL VALUE... | MODEL @IN.bin [--out-bin OUT.bin]\n", argv[0]);
        return 1;
    }
    input_count = read_arguments(argc, argv, &out_path);
    if (infer(argv[1], input_count, &output_count) != 0) {
        return 1;
    }
    if (out_path != nullptr) {
        if (!write_floats(out_path, output_count)) {
            fprintf(stderr, "cannot write %s\n", out_path);
            return 1;
        }
        printf("wrote %s (%u floats)\n", out_path, (unsigned)output_count);
        return 0;
    }
    for (uint32_t i = 0; i < output_count; i++) {
        printf("%s%.9g", i > 0 ? "," : "", (double)output[i]);
    }
    printf("\n");
    return 0;
}
