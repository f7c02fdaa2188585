/* Reads a handwritten digit: 28x28 floats from 0 (paper) to 1 (ink) in a raw file. The network is part of the program;
 * docs/tutorial-pytorch-to-c.md tells how its header is made. */
#include <nk.h>

#include <stdio.h>

#include "handwritten_cnn_model.h"

static unsigned char memory[64 * 1024]; /* `netkit inspect --full` tells the exact need */

int main(int argc, char **argv) {
    float pixels[28 * 28], scores[10];
    uint32_t count, best = 0;
    nk_arena_t arena;
    nk_model_t model;

    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fread(pixels, sizeof *pixels, 28 * 28, file) != 28 * 28) {
        fprintf(stderr, "usage: %s PICTURE, a file of 784 floats\n", argv[0]);
        return 2;
    }
    fclose(file);

    nk_arena_init(&arena, memory, sizeof memory);
    if (nk_load_memory(handwritten_cnn_model, sizeof handwritten_cnn_model, &arena, &model) != NK_OK ||
        nk_forward(&model, &arena, pixels, 28 * 28, scores, 10, &count) != NK_OK) {
        fprintf(stderr, "%s\n", nk_last_error());
        return 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        best = scores[i] > scores[best] ? i : best;
        printf("score of %u: %.6f\n", (unsigned)i, (double)scores[i]);
    }
    printf("digit %u\n", (unsigned)best);
    return 0;
}
