#include <nk.h>
#include <stdio.h>

int main(void) {
    static unsigned char memory[16384]; /* the arena: all the memory that loading and running use */
    nk_arena_t arena;
    nk_model_t model;
    float input[2] = {1, 2}, output[2];
    uint32_t count;

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load("models/test_mlp.nk", &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("%g, %g\n", (double)output[0], (double)output[1]);
    return 0;
}
