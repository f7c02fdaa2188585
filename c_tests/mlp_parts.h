/* What the programs about MLPs share: an arena, values, and tensors over them. */
#ifndef MLP_PARTS_H
#define MLP_PARTS_H

#include "check.h"

static unsigned char memory[4 * 1024 * 1024];
static nk_arena_t arena;
static float identity[4] = {1, 0, 0, 1}, zeros[4];
static float input_values[2] = {1.0f, 2.0f}, output_values[4];

static void fresh(void) { nk_arena_init(&arena, memory, sizeof memory); }

static nk_tensor_t floats(float *data, uint32_t rows, uint32_t cols) {
    nk_tensor_t tensor;
    nk_tensor_view_2d(data, rows, cols, &tensor);
    return tensor;
}

#endif
