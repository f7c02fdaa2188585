/* netkit beside another library that is written in Rust. */
#include <nk.h>
#include <stdio.h>

unsigned int other_count(const char *text);

int main(void) {
    static unsigned char memory[16384];
    nk_arena_t arena;
    nk_model_t model;
    float input[2] = {1, 2}, output[2];
    uint32_t count;

    nk_arena_init(&arena, memory, sizeof memory);
    if (other_count("netkit") != 5 || nk_load("models/test_mlp.nk", &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, input, 2, output, 2, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    printf("%g, %g\n", (double)output[0], (double)output[1]);
    return 0;
}
