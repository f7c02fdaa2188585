/* An arena whose size is fixed when the program is built, and a check at its start that it is enough. Nothing here
 * needs a heap: on a microcontroller the model would be an array in flash, see embedded_model.c. */
#include <nk.h>

#include <stdio.h>

static unsigned char model_bytes[1024];
static unsigned char memory[1024];

static size_t read_model(const char *path) {
    FILE *file = fopen(path, "rb");
    size_t size = 0;
    if (file != NULL) {
        size = fread(model_bytes, 1, sizeof model_bytes, file);
        fclose(file);
    }
    return size;
}

int main(void) {
    const float input[2] = {1, 2};
    float output[2];
    uint32_t count;
    nk_arena_t arena;
    nk_model_t model;
    nk_memory_plan_t plan = {0};
    size_t size = read_model("models/test_mlp.nk");

    plan.struct_size = sizeof plan;
    if (nk_plan_memory(model_bytes, size, &plan) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("needs %u bytes, has %u\n", (unsigned)plan.arena_bytes, (unsigned)sizeof memory);

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load_memory(model_bytes, size, &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("%g, %g\n", (double)output[0], (double)output[1]);
    return 0;
}
