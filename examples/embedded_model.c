/* The model is part of the program: an aligned constant array, which scripts/embed-model makes of a .nk file. On a
 * microcontroller it stays in flash and its weights are used from there. */
#include <nk.h>

#include <stdio.h>

#include "test_mlp_model.h"

static unsigned char memory[4096];

int main(void) {
    const float input[2] = {1, 2};
    float output[2];
    uint32_t count;
    nk_arena_t arena;
    nk_model_t model;

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load_memory(test_mlp_model, sizeof test_mlp_model, &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("%g, %g\n", (double)output[0], (double)output[1]);
    return 0;
}
