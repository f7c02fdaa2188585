/* Two models in one arena, one after the other in its memory. Both stay loaded and run in any order; resetting the
 * arena ends both. */
#include <nk.h>

#include <stdio.h>

static unsigned char memory[16384];

static int fail(void) {
    fprintf(stderr, "%s\n", nk_last_error());
    return 1;
}

int main(void) {
    const float numbers[2] = {1, 2};
    float image[16], sums[2], map[4];
    uint32_t count;
    nk_arena_t arena;
    nk_model_t mlp, cnn;
    for (int i = 0; i < 16; i++) {
        image[i] = 1;
    }

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load("models/test_mlp.nk", &arena, &mlp) != NK_OK ||
        nk_load("models/cnn_4x4_single.nk", &arena, &cnn) != NK_OK) {
        return fail();
    }
    if (nk_forward(&cnn, &arena, image, 16, map, 4, &count) != NK_OK ||
        nk_forward(&mlp, &arena, numbers, 2, sums, 2, &count) != NK_OK) {
        return fail();
    }
    printf("mlp: %g, %g\n", (double)sums[0], (double)sums[1]);
    printf("cnn: %g, %g, %g, %g\n", (double)map[0], (double)map[1], (double)map[2], (double)map[3]);
    nk_arena_reset(&arena);
    return 0;
}
