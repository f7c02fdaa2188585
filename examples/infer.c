/* Runs a float model on values from the command line or from a file of raw little-endian float32:
 *
 *     infer models/test_mlp.nk 1 2
 *     infer models/test_mlp.nk @input.f32
 *
 * The file is read into memory, the library says how much arena that model needs, and the outputs are printed on one
 * line, separated by commas, with enough digits to read the same floats back. Exit code: 0, 1 on failure, 2 on misuse.
 */
#include <nk.h>

#include <stdio.h>
#include <stdlib.h>

static void *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    long length;
    if (file == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)length;
        bytes = malloc(*size + 1);
        if (bytes != NULL && fread(bytes, 1, *size, file) != *size) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (bytes == NULL) {
        fprintf(stderr, "cannot read %s\n", path);
    }
    fclose(file);
    return bytes;
}

/* The values of the command line as floats, in memory that the caller frees. */
static float *read_input(int argc, char **argv, size_t *count) {
    float *values;
    if (argc == 1 && argv[0][0] == '@') {
        size_t bytes = 0;
        values = read_file(argv[0] + 1, &bytes);
        *count = bytes / sizeof *values;
        return values;
    }
    values = malloc((size_t)argc * sizeof *values);
    for (int i = 0; values != NULL && i < argc; i++) {
        char *end;
        values[i] = strtof(argv[i], &end);
        if (end == argv[i] || *end != '\0') {
            fprintf(stderr, "not a number: %s\n", argv[i]);
            free(values);
            return NULL;
        }
    }
    *count = (size_t)argc;
    return values;
}

static int explain(const char *what, nk_status_t status) {
    fprintf(stderr, "%s: %s: %s\n", what, nk_status_string(status), nk_last_error());
    return 1;
}

static int infer(const void *blob, size_t blob_bytes, const float *input, size_t input_count) {
    nk_memory_plan_t plan = {0};
    nk_arena_t arena;
    nk_model_t model;
    plan.struct_size = sizeof plan;
    nk_status_t status = nk_plan_memory(blob, blob_bytes, &plan);
    if (status != NK_OK) {
        return explain("plan", status);
    }
    status = nk_arena_init_heap(&arena, plan.arena_bytes);
    if (status != NK_OK) {
        return explain("arena", status);
    }
    float *output = NULL;
    status = nk_load_memory(blob, blob_bytes, &arena, &model);
    if (status == NK_OK) {
        uint32_t output_count = nk_model_output_count(&model);
        output = calloc(output_count, sizeof *output);
        status = nk_forward(&model, &arena, input, (uint32_t)input_count, output, output_count, &output_count);
        for (uint32_t i = 0; status == NK_OK && i < output_count; i++) {
            printf("%s%.9g", i > 0 ? "," : "", (double)output[i]);
        }
    }
    free(output);
    nk_arena_destroy_heap(&arena);
    if (status != NK_OK) {
        return explain("inference", status);
    }
    printf("\n");
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL.nk VALUE...\n       %s MODEL.nk @FILE.f32\n", argv[0], argv[0]);
        return 2;
    }
    size_t blob_bytes = 0, input_count = 0;
    void *blob = read_file(argv[1], &blob_bytes);
    float *input = read_input(argc - 2, argv + 2, &input_count);
    int result = blob != NULL && input != NULL ? infer(blob, blob_bytes, input, input_count) : 1;
    free(input);
    free(blob);
    return result;
}
