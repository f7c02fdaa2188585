/* What the programs about CNNs share: an arena, arrays to take weights from, views of maps and rows. */
#ifndef CNN_PARTS_H
#define CNN_PARTS_H

#include "check.h"

static unsigned char memory[4 * 1024 * 1024];
static nk_arena_t arena;
static float zeros[1024], ones[1024];

static void fresh(void) {
    nk_arena_init(&arena, memory, sizeof memory);
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        ones[i] = 1.0f;
    }
}

static nk_tensor_t map(float *data, uint32_t h, uint32_t w, uint32_t c) {
    const uint32_t shape[3] = {h, w, c};
    nk_tensor_t tensor;
    memset(&tensor, 0, sizeof tensor);
    EXPECT_OK(nk_tensor_view_nd(data, NK_DTYPE_FLOAT32, 3, shape, &tensor));
    return tensor;
}

CHECK_UNUSED static nk_tensor_t rows(float *data, uint32_t count, uint32_t cols) {
    nk_tensor_t tensor;
    nk_tensor_view_2d(data, count, cols, &tensor);
    return tensor;
}

/* A sum of all nine neighbours, on a map of one channel. */
CHECK_UNUSED static nk_status_t box_filter(nk_cnn_t *cnn, uint32_t index) {
    return nk_cnn_init_conv_layer(cnn, index, 3, 1, 1, 1, ones, NULL, NK_CONV_ACTIVATION_NONE, 0.0f, 1, 1,
                                  NK_PAD_MIRROR, NK_PAD_MIRROR);
}

/* The layer that the last error is about; -1 for none, -2 when it is not about a network built by hand. */
CHECK_UNUSED static int error_layer(void) {
    nk_error_info_t info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    return nk_last_error_info(&info) == NK_OK && info.byte_offset == 0xFFFFFFFFu ? info.layer_index : -2;
}

#endif
