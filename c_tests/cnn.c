/* CNNs: every kind of layer built by hand and loaded, in its normal and in every error case. */
#include "by_hand.h"

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
    nk_tensor_t tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.data = data;
    tensor.dtype = NK_DTYPE_FLOAT32;
    tensor.rank = 3;
    tensor.shape[0] = h;
    tensor.shape[1] = w;
    tensor.shape[2] = c;
    tensor.stride[0] = w * c;
    tensor.stride[1] = c;
    tensor.stride[2] = 1;
    tensor.num_elements = h * w * c;
    tensor.bytes = 4 * h * w * c;
    return tensor;
}

static nk_tensor_t rows(float *data, uint32_t count, uint32_t cols) {
    nk_tensor_t tensor;
    nk_tensor_view_2d(data, count, cols, &tensor);
    return tensor;
}

/* A sum of all nine neighbours, on a map of one channel. */
static nk_status_t box_filter(nk_cnn_t *cnn, uint32_t index) {
    return nk_cnn_init_conv_layer(cnn, index, 3, 1, 1, 1, ones, NULL, NK_CONV_ACTIVATION_NONE, 0.0f, 1, 1,
                                  NK_PAD_MIRROR, NK_PAD_MIRROR);
}

static void by_hand(void) {
    nk_cnn_t cnn;
    float values[16];
    nk_tensor_t input = map(values, 4, 4, 1), output;
    for (int i = 0; i < 16; i++) {
        values[i] = 1.0f;
    }
    memset(&cnn, 0xA5, sizeof cnn);
    memset(&output, 0xA5, sizeof output);
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT(nk_cnn_is_valid(&cnn) && !nk_cnn_has_activation_buffers(&cnn) && !nk_cnn_is_quantized(&cnn));
    EXPECT_OK(box_filter(&cnn, 0));
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &input, &output), NK_ERR_NOT_INITIALIZED);
    EXPECT(all_bytes(&output, sizeof output, 0xA5));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    EXPECT(nk_cnn_has_activation_buffers(&cnn) && nk_cnn_kernel_workspace_bytes(&cnn) == 0);
    size_t used = nk_arena_used(&arena);
    void *place = NULL;
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
        EXPECT(output.rank == 3 && output.shape[0] == 4 && output.shape[1] == 4 && output.shape[2] == 1);
        EXPECT(output.stride[0] == 4 && output.stride[1] == 1 && output.stride[2] == 1);
        EXPECT(output.dtype == NK_DTYPE_FLOAT32 && output.num_elements == 16 && output.bytes == 64);
        EXPECT(place == NULL || place == output.data);
        place = output.data;
        const float *out = nk_tensor_data_f32(&output);
        EXPECT(out[0] == 4.0f && out[1] == 6.0f && out[5] == 9.0f && out[15] == 4.0f);
        EXPECT(nk_arena_used(&arena) == used);
    }
    /* The result as the next input: it is copied to the free memory of the arena first. */
    nk_tensor_t again = output;
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &again, &again));
    EXPECT(again.data == place && ((float *)again.data)[0] == 4 + 6 + 6 + 9 && nk_arena_used(&arena) == used);
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &none, &again, &output), NK_ERR_ARENA_OVERFLOW);
    EXPECT_OK(nk_cnn_forward(&cnn, &none, &input, &output));
}

/* One array of zeros as every weight of a head, as small programs do. */
static void yolox_head(void) {
    nk_cnn_t cnn;
    float values[16] = {0}, *lists[1] = {zeros};
    nk_tensor_t input = map(values, 2, 2, 4), output;
    EXPECT(NK_CNN_BLOCK_CONV2D == 0 && NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD == 11 &&
           NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE == 13);
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_OK(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 4, 8, 2, 1, zeros, zeros, lists, lists, lists,
                                                     lists, zeros, zeros, zeros, zeros, zeros, zeros));
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(NULL, &arena, 0, 2, 2, 4, 8, 2, 1, zeros, zeros, lists, lists,
                                                         lists, lists, zeros, zeros, zeros, zeros, zeros, zeros),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 2, 2, 4));
    EXPECT(nk_cnn_has_activation_buffers(&cnn));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(output.rank == 3 && output.shape[2] == 7 && output.num_elements == 28);
    EXPECT(all_bytes(output.data, 28 * sizeof(float), 0));
    /* No convolutions and no biases. */
    EXPECT_OK(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 4, 8, 2, 0, ones, NULL, NULL, NULL, NULL,
                                                     NULL, ones, NULL, ones, NULL, ones, NULL));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 2, 2, 4));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(all_bytes(output.data, 28 * sizeof(float), 0));
}

static void create_is_refused(void) {
    nk_cnn_t cnn;
    memset(&cnn, 0xA5, sizeof cnn);
    fresh();
    EXPECT_STATUS(nk_cnn_create(NULL, 1, &cnn), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_create(&arena, 1, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_create(&arena, 0, &cnn), NK_ERR_ARENA_OVERFLOW);
    EXPECT(all_bytes(&cnn, sizeof cnn, 0));
    EXPECT_STATUS(nk_cnn_create(&arena, UINT32_MAX, &cnn), NK_ERR_LAYER_CONFIG);
    EXPECT(nk_arena_used(&arena) == 0 && !nk_cnn_is_valid(&cnn));
    nk_arena_t none;
    memset(&none, 0xA5, sizeof none);
    EXPECT_STATUS(nk_cnn_create(&none, 1, &cnn), NK_ERR_ARENA_OVERFLOW);
}

/* Every init call of a simple layer, on any handle and index. */
static void simple_layers_give(nk_cnn_t *cnn, uint32_t index, nk_status_t status) {
    EXPECT_STATUS(box_filter(cnn, index), status);
    EXPECT_STATUS(nk_cnn_init_depthwise_conv_layer(cnn, index, 3, 3, 1, 2, ones, ones, NK_CONV_ACTIVATION_RELU, 0, 1, 1,
                                                   -1, -1),
                  status);
    EXPECT_STATUS(nk_cnn_init_pool_layer(cnn, index, 2, 2, 2, 0, 0, -1, -1), status);
    EXPECT_STATUS(nk_cnn_init_avg_pool_layer(cnn, index, 2, 2, 2, 0, 0, -1, -1), status);
    EXPECT_STATUS(nk_cnn_init_batch_norm_layer(cnn, index, 2, ones, zeros), status);
    EXPECT_STATUS(nk_cnn_init_layernorm_layer(cnn, index, 2, 1e-5f, ones, zeros), status);
    EXPECT_STATUS(nk_cnn_init_flatten_layer(cnn, index), status);
}

/* Every init call of a block. */
static void blocks_give(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, nk_status_t status) {
    float *z = zeros, *lists[1] = {zeros};
    EXPECT_STATUS(nk_cnn_init_convnextv2_block_layer(cnn, in, index, 2, 2, 2, 1e-6f, z, z, z, z, z, z, z, z, z, z), status);
    EXPECT_STATUS(nk_cnn_init_mobilenetv4_uib_layer(cnn, in, index, 2, 2, 4, 4, 3, 3, 1, 1, 2.0f, z, z, z, z, z, z, z, z, z,
                                                    z, z, z, z, z, z, z),
                  status);
    EXPECT_STATUS(nk_cnn_init_resnet_basic_block_layer(cnn, in, index, 2, 2, 2, 4, 2, z, z, z, z, z, z, z, z, z, z, z, z),
                  status);
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(cnn, in, index, 2, 2, 2, 2, 2, 1, z, z, lists, lists, lists, lists,
                                                         z, z, z, z, z, z),
                  status);
    EXPECT_STATUS(nk_cnn_init_yolox_pafpn_layer(cnn, in, index, 1, 1, 2, 2, 2, 2, 2, 1, z, z, z, z, z, z, z, z, z, z, z, z, z,
                                                z, z, z, z, z, z, z, z, z),
                  status);
}

static void layers_need_a_network(void) {
    static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};
    nk_cnn_t cnn;
    nk_tensor_t weights = rows(ones, 2, 2), bias = rows(zeros, 1, 2);
    fresh();
    for (size_t i = 0; i <= sizeof fills; i++) {
        nk_cnn_t *handle = i < sizeof fills ? &cnn : NULL;
        memset(&cnn, i < sizeof fills ? fills[i] : 0, sizeof cnn);
        simple_layers_give(handle, 0, NK_ERR_NOT_INITIALIZED);
        blocks_give(handle, &arena, 0, NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_init_feature_tap_layer(handle, &arena, 0, 2, 2, 2, 0), NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_init_dense_layer(handle, 0, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_init_activation_buffers(handle, &arena, 2, 2, 2), NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_forward(handle, &arena, &weights, &bias), NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(handle, 0, 0, zeros, zeros, NULL, NULL, NULL, NULL, zeros, zeros, zeros,
                                                  zeros, zeros, zeros),
                      NK_ERR_INVALID_ARGUMENT);
        EXPECT(!nk_cnn_is_valid(handle) && !nk_cnn_has_activation_buffers(handle) && !nk_cnn_is_quantized(handle));
        nk_cnn_set_omit_final_softmax(handle, true);
        EXPECT(!nk_cnn_omit_final_softmax(handle) && nk_cnn_kernel_workspace_bytes(handle) == 0);
        EXPECT(nk_cnn_get_feature_tap_buffer(handle, 0) == NULL && nk_cnn_get_feature_tap_elems(handle, 0) == 0);
    }
    EXPECT(nk_arena_used(&arena) == 0);
    /* An index that is not there. */
    EXPECT_OK(nk_cnn_create(&arena, 3, &cnn));
    size_t used = nk_arena_used(&arena);
    simple_layers_give(&cnn, 3, NK_ERR_INVALID_ARGUMENT);
    blocks_give(&cnn, &arena, UINT32_MAX, NK_ERR_INVALID_ARGUMENT);
    blocks_give(&cnn, NULL, 0, NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_feature_tap_layer(&cnn, &arena, 3, 2, 2, 2, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_feature_tap_layer(&cnn, NULL, 0, 2, 2, 2, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_dense_layer(&cnn, 3, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_dense_layer(&cnn, 0, NULL, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_dense_layer(&cnn, 0, &weights, NULL, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_cnn_init_dense_layer(&cnn, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    /* No room for the tensors of a block. */
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    blocks_give(&cnn, &none, 0, NK_ERR_ARENA_OVERFLOW);
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &none, 0, 2, 2, 2, 0));
    EXPECT(nk_arena_used(&arena) == used);
    simple_layers_give(&cnn, 1, NK_OK);
    blocks_give(&cnn, &arena, 2, NK_OK);
}

static void odd_arguments(void) {
    nk_cnn_t cnn;
    float *z = zeros;
    const nk_status_t bad = NK_ERR_INVALID_ARGUMENT;
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, 1, NULL, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, -3, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, -1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, -1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, -1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 256, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, 16, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 2, 0, 1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_conv_layer(&cnn, 0, 3, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, -1, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_pool_layer(&cnn, 0, 2, 0, 1, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_pool_layer(&cnn, 0, -2, 2, 1, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_avg_pool_layer(&cnn, 0, 2, 256, 1, 0, 0, -1, -1), bad);
    EXPECT_STATUS(nk_cnn_init_batch_norm_layer(&cnn, 0, 2, NULL, z), bad);
    EXPECT_STATUS(nk_cnn_init_batch_norm_layer(&cnn, 0, -2, z, z), bad);
    EXPECT_STATUS(nk_cnn_init_layernorm_layer(&cnn, 0, 2, 0, NULL, z), bad);
    /* A depthwise layer has one byte for the width of its kernel and for padding at its ends. */
    EXPECT_OK(nk_cnn_init_depthwise_conv_layer(&cnn, 0, 3, 3, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 1, 1, 2, 1));
    EXPECT_OK(nk_cnn_init_depthwise_conv_layer(&cnn, 0, 3, 5, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 1, 1, -1, -1));
    EXPECT_OK(nk_cnn_init_depthwise_conv_layer(&cnn, 0, 3, 5, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 1, 1, 2, 1));
    EXPECT_STATUS(nk_cnn_init_depthwise_conv_layer(&cnn, 0, 3, 3, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 1, 1, 4, 1), bad);
    EXPECT_STATUS(nk_cnn_init_depthwise_conv_layer(&cnn, 0, 0, 3, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 1, 1, -1, -1), bad);
    /* Blocks. */
    EXPECT_STATUS(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 2, 2, 2, 4), bad);
    EXPECT_STATUS(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 2, 2, -2, 0), bad);
    EXPECT_STATUS(nk_cnn_init_convnextv2_block_layer(&cnn, &arena, 0, 2, 2, 2, 0, z, z, z, z, NULL, z, z, z, z, z), bad);
    EXPECT(strstr(nk_last_error(), "pw1_weight") != NULL);
    EXPECT_STATUS(nk_cnn_init_mobilenetv4_uib_layer(&cnn, &arena, 0, 2, 2, 4, 4, 3, 0, 1, 0, 2.0f, NULL, z, z, z, z, z, z, z,
                                                    z, z, z, z, z, z, z, z),
                  bad);
    EXPECT_STATUS(nk_cnn_init_mobilenetv4_uib_layer(&cnn, &arena, 0, 2, 2, 4, 4, 300, 0, 1, 0, 2.0f, z, z, z, z, z, z, z, z,
                                                    z, z, z, z, z, z, z, z),
                  bad);
    EXPECT_STATUS(nk_cnn_init_mobilenetv4_uib_layer(&cnn, &arena, 0, 2, 2, 4, 4, 0, 0, 1, 0, -2.0f, z, z, z, z, z, z, z, z,
                                                    z, z, z, z, z, z, z, z),
                  NK_ERR_LAYER_CONFIG);
    EXPECT_STATUS(nk_cnn_init_resnet_basic_block_layer(&cnn, &arena, 0, 2, 2, 2, 4, 1, z, z, z, z, z, z, z, z, NULL, z, z, z),
                  bad);
    float *with_null[2] = {zeros, NULL}, *full[2] = {zeros, zeros};
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 2, 2, 2, 2, z, z, full, full, with_null, full,
                                                         z, z, z, z, z, z),
                  bad);
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 2, 2, 2, 2, z, z, NULL, full, full, full, z,
                                                         z, z, z, z, z),
                  bad);
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 2, 2, 2, -1, z, z, full, full, full, full, z,
                                                         z, z, z, z, z),
                  bad);
    /* An activation that is not listed means none. */
    nk_tensor_t input = map(ones, 4, 4, 1), output;
    EXPECT_OK(nk_cnn_init_conv_layer(&cnn, 0, 1, 1, 1, 1, ones, NULL, (nk_conv_activation_t)99, NAN, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(((float *)output.data)[3] == 1.0f);
}

static int error_layer(void) {
    nk_error_info_t info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    return nk_last_error_info(&info) == NK_OK && info.byte_offset == 0xFFFFFFFFu ? info.layer_index : -2;
}

static void buffers_are_refused(void) {
    nk_cnn_t cnn;
    float *z = zeros;
    nk_tensor_t dense = rows(ones, 2, 16), bias = rows(zeros, 1, 2);
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 3, &cnn));
    EXPECT_OK(box_filter(&cnn, 0));
    EXPECT_OK(nk_cnn_init_flatten_layer(&cnn, 1));
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, NULL, 4, 4, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 0, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_NOT_INITIALIZED);
    EXPECT(error_layer() == 2);
    EXPECT_OK(nk_cnn_init_dense_layer(&cnn, 2, &dense, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_WEIGHT_MISMATCH);
    EXPECT(error_layer() == 0);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 5, 1), NK_ERR_WEIGHT_MISMATCH);
    EXPECT(error_layer() == 2);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, UINT32_MAX, UINT32_MAX, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(nk_arena_used(&arena) == used && !nk_cnn_has_activation_buffers(&cnn));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    /* A dense layer needs a row. */
    EXPECT_OK(nk_cnn_init_pool_layer(&cnn, 1, 1, 1, 1, 0, 0, -1, -1));
    EXPECT(!nk_cnn_has_activation_buffers(&cnn));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(error_layer() == 2);
    /* A kernel and a stride of 0, and a window larger than its map. */
    EXPECT_OK(nk_cnn_init_pool_layer(&cnn, 1, 1, 1, 0, 0, 0, -1, -1));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT_OK(nk_cnn_init_pool_layer(&cnn, 1, 5, 5, 1, 0, 0, -1, -1));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT_OK(nk_cnn_init_conv_layer(&cnn, 1, 0, 1, 1, 1, z, z, NK_CONV_ACTIVATION_NONE, 0, 0, 0, -1, -1));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    /* The height and width that a block was told. */
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&cnn, &arena, 1, 4, 3, 1, 1, 1, z, z, z, z, z, z, z, z, NULL, NULL, NULL,
                                                   NULL));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(error_layer() == 1 && strstr(nk_last_error(), "width") != NULL);
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 1, 5, 4, 1, 0));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(error_layer() == 1 && strstr(nk_last_error(), "height") != NULL);
}

/* A pyramid without its heads is not finished, and a head belongs to a pyramid. */
static void pyramid_needs_its_heads(void) {
    nk_cnn_t cnn;
    float *z = zeros;
    const float *lists[1] = {zeros}, *with_null[1] = {NULL};
    nk_tensor_t input = map(ones, 4, 4, 2), output;
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 5, &cnn));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 4, 4, 2, 0));
    EXPECT_OK(nk_cnn_init_pool_layer(&cnn, 1, 2, 2, 2, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 2, 2, 2, 2, 1));
    EXPECT_OK(nk_cnn_init_avg_pool_layer(&cnn, 3, 2, 2, 2, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_yolox_pafpn_layer(&cnn, &arena, 4, 1, 1, 2, 2, 2, 3, 2, 1, z, z, z, z, z, z, z, z, z, z, z, z, z, z,
                                            z, z, z, z, z, z, z, z));
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 4, 3, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 3, 0, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 5, 0, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    for (uint32_t scale = 0; scale < 3; scale++) {
        EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_NOT_INITIALIZED);
        EXPECT(error_layer() == 4 && strstr(nk_last_error(), "nk_cnn_set_yolox_pafpn_head") != NULL);
        EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, NULL, z, lists, lists, lists, lists, z, z, z, z, z, z),
                      NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, with_null, lists, z, z, z, z, z, z),
                      NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, lists, lists, z, z, z, z, NULL, z),
                      NK_ERR_INVALID_ARGUMENT);
        EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_NOT_INITIALIZED);
        EXPECT_OK(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, lists, lists, z, z, z, z, z, z));
    }
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(output.num_elements == 21 * 7 && all_bytes(output.data, output.bytes, 0));
}

/* A batch norm that a block was not given changes nothing. */
static void norms_may_be_missing(void) {
    nk_cnn_t with, without;
    float values[16], weights[2][9];
    nk_tensor_t input = map(values, 4, 4, 1), a, b;
    fresh();
    fill_input(values, 16, 1);
    fill_input(weights[0], 18, 2);
    EXPECT_OK(nk_cnn_create(&arena, 1, &with));
    EXPECT_OK(nk_cnn_create(&arena, 1, &without));
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&with, &arena, 0, 4, 4, 1, 1, 1, weights[0], zeros, ones, zeros,
                                                   weights[1], zeros, ones, zeros, NULL, NULL, NULL, NULL));
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&without, &arena, 0, 4, 4, 1, 1, 1, weights[0], NULL, NULL, NULL,
                                                   weights[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_OK(nk_cnn_init_activation_buffers(&with, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_init_activation_buffers(&without, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_forward(&with, &arena, &input, &a));
    EXPECT_OK(nk_cnn_forward(&without, &arena, &input, &b));
    EXPECT(a.data != b.data && memcmp(a.data, b.data, 64) == 0);
}

/* What does not fit is taken back, at any size of the arena; what fits stays inside. */
static void buffers_need_room(void) {
    static unsigned char other[16384];
    nk_cnn_t cnn;
    nk_arena_t small;
    nk_tensor_t input = map(ones, 4, 4, 1), output;
    nk_status_t status = NK_ERR_ARENA_OVERFLOW;
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 2, &cnn));
    EXPECT_OK(box_filter(&cnn, 0));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 1, 4, 4, 1, 2));
    for (size_t size = 0; size < sizeof other && status != NK_OK; size++) {
        memset(other, 0xFF, sizeof other);
        nk_arena_init(&small, other, size);
        status = nk_cnn_init_activation_buffers(&cnn, &small, 4, 4, 1);
        EXPECT(status == NK_OK || (status == NK_ERR_ARENA_OVERFLOW && nk_arena_used(&small) == 0));
        if (status == NK_OK) {
            EXPECT_OK(nk_cnn_forward(&cnn, &small, &input, &output));
            EXPECT(((float *)output.data)[5] == 9.0f);
        }
        EXPECT(all_bytes(other + size, sizeof other - size, 0xFF));
    }
    EXPECT(status == NK_OK);
}

static void forward_is_refused(void) {
    nk_cnn_t cnn;
    int8_t bytes[16] = {0};
    nk_tensor_t input = map(ones, 4, 4, 1), output, tensor;
    memset(&output, 0x5A, sizeof output);
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_OK(box_filter(&cnn, 0));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    EXPECT_STATUS(nk_cnn_forward(&cnn, NULL, &input, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, NULL, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &input, NULL), NK_ERR_INVALID_ARGUMENT);
    nk_tensor_view_3d_int8(bytes, 4, 4, 1, &tensor);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = map(NULL, 4, 4, 1);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = map(ones, 4, 4, 2);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = map(ones, 4, 3, 1);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = map((float *)(void *)((unsigned char *)ones + 1), 4, 4, 1);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = map((float *)(void *)(memory + round_up(nk_arena_used(&arena) / 2, 4)), 4, 4, 1);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT(all_bytes(&output, sizeof output, 0x5A));
}

/* ---- loading ---- */

static void loads(void) {
    nk_cnn_t cnn;
    nk_arch_info_t info;
    nk_tensor_t input = map(ones, 4, 4, 1), output;
    memset(&cnn, 0xA5, sizeof cnn);
    fresh();
    EXPECT_OK(nk_cnn_load("models/cnn_4x4_single.nk", &arena, &cnn, NULL));
    EXPECT(nk_cnn_is_valid(&cnn) && nk_cnn_has_activation_buffers(&cnn) && !nk_cnn_is_quantized(&cnn));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(output.num_elements == 4);
    for (int i = 0; i < 4; i++) {
        EXPECT(is_close(((float *)output.data)[i], 4.0f));
    }
    nk_cnn_set_omit_final_softmax(&cnn, true);
    EXPECT(!nk_cnn_omit_final_softmax(&cnn));
    simple_layers_give(&cnn, 0, NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_LAYER_CONFIG);
    /* A float softmax stays. */
    EXPECT_OK(nk_cnn_load("models/digits_cnn.nk", &arena, &cnn, &info));
    EXPECT(info.kind == NK_NETWORK_CNN && info.output_elements == 10);
    nk_cnn_set_omit_final_softmax(&cnn, true);
    EXPECT(!nk_cnn_omit_final_softmax(&cnn));
    input = map(ones, info.input_shape[0], info.input_shape[1], info.input_shape[2]);
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(output.rank == 2 && output.shape[0] == 1 && output.shape[1] == 10);
}

/* An MLP, a model and a CNN from blobs in one arena; each is what it was after the others came. */
static void three_in_one_arena(void) {
    model_file mlp_file = need_model("models/test_mlp.nk"), cnn_file = need_model("models/test_cnn.nk");
    nk_mlp_t mlp;
    nk_model_t model;
    nk_cnn_t cnn;
    float in[2] = {1.0f, 2.0f}, out[2];
    nk_tensor_t input = rows(in, 1, 2), output = rows(out, 1, 2);
    fresh();
    EXPECT_OK(nk_mlp_load_memory(mlp_file.bytes, mlp_file.size, &arena, &mlp, NULL));
    EXPECT_OK(nk_model_load_memory(mlp_file.bytes, mlp_file.size, &arena, &model));
    EXPECT_OK(nk_cnn_load_memory(cnn_file.bytes, cnn_file.size, &arena, &cnn, NULL));
    EXPECT(nk_mlp_is_valid(&mlp) && !nk_mlp_is_quantized(&mlp) && nk_cnn_is_valid(&cnn) && !nk_cnn_is_quantized(&cnn));
    EXPECT(nk_model_kind(&model) == NK_NETWORK_MLP);
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(is_close(out[0], 3.0f) && is_close(out[1], 3.0f));
    free(mlp_file.bytes);
    free(cnn_file.bytes);
}

static void loads_int8(void) {
    static int8_t in[4096], wanted[64];
    nk_cnn_t cnn;
    nk_model_t model;
    nk_arch_info_t info;
    nk_tensor_t input, output, wrong;
    uint32_t count;
    fresh();
    if (!EXPECT_OK(nk_cnn_load("models/digits_cnn_int8.nk", &arena, &cnn, &info)) ||
        !EXPECT_OK(nk_load("models/digits_cnn_int8.nk", &arena, &model))) {
        return;
    }
    EXPECT(nk_cnn_is_quantized(&cnn) && info.input_elements <= sizeof in && info.output_elements == 10);
    fill_model_input(&model, in, 3);
    nk_tensor_view_3d_int8(in, info.input_shape[0], info.input_shape[1], info.input_shape[2], &input);
    for (int omit = 0; omit < 2; omit++) {
        nk_cnn_set_omit_final_softmax(&cnn, omit == 1);
        nk_model_set_omit_final_softmax(&model, omit == 1);
        EXPECT(nk_cnn_omit_final_softmax(&cnn) == (omit == 1));
        EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
        EXPECT(output.dtype == NK_DTYPE_INT8 && output.rank == 2 && output.shape[0] == 1 && output.shape[1] == 10);
        EXPECT(output.num_elements == 10 && output.bytes == 10);
        EXPECT_OK(nk_model_run_int8(&model, &arena, in, info.input_elements, wanted, 10, &count));
        EXPECT(memcmp(output.data, wanted, 10) == 0);
    }
    wrong = map(ones, info.input_shape[0], info.input_shape[1], info.input_shape[2]);
    EXPECT_STATUS(nk_cnn_forward(&cnn, &arena, &wrong, &output), NK_ERR_INVALID_ARGUMENT);
}

static void loading_is_refused(void) {
    nk_cnn_t cnn, before;
    nk_arch_info_t info;
    model_file file = need_model("models/test_cnn.nk"), other = need_model("models/test_mlp.nk");
    fresh();
    memset(&info, 0x5A, sizeof info);
    EXPECT_OK(nk_cnn_load("models/test_cnn.nk", &arena, &cnn, NULL));
    before = cnn;
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_cnn_load(NULL, &arena, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load("models/test_cnn.nk", NULL, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load("models/test_cnn.nk", &arena, NULL, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load_memory(NULL, 8, &arena, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, 0, &arena, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, file.size, NULL, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, file.size, &arena, NULL, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, 100, &arena, &cnn, &info), NK_ERR_MODEL_READ);
    EXPECT_STATUS(nk_cnn_load_memory(other.bytes, other.size, &arena, &cnn, &info), NK_ERR_UNSUPPORTED_NETWORK);
    EXPECT(memcmp(&cnn, &before, sizeof cnn) == 0 && nk_cnn_is_valid(&cnn));
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, file.size, &none, &cnn, &info), NK_ERR_ARENA_OVERFLOW);
    EXPECT(all_bytes(&cnn, sizeof cnn, 0));
    cnn = before;
    EXPECT_STATUS(nk_cnn_load("models/test_mlp.nk", &arena, &cnn, &info), NK_ERR_UNSUPPORTED_NETWORK);
    EXPECT(all_bytes(&cnn, sizeof cnn, 0) && nk_arena_used(&arena) == used && all_bytes(&info, sizeof info, 0x5A));
    /* A model in the part of the arena that loading would use. */
    nk_arena_init(&arena, memory, sizeof memory);
    for (size_t at = 0; at < 8192; at += 64) {
        memcpy(memory + at, file.bytes, file.size);
        nk_arena_reset(&arena);
        nk_status_t status = nk_cnn_load_memory(memory + at, file.size, &arena, &cnn, NULL);
        EXPECT(status == NK_ERR_INVALID_ARGUMENT || (status == NK_OK && at >= nk_arena_used(&arena)));
        EXPECT(memcmp(memory + at, file.bytes, file.size) == 0);
    }
    free(file.bytes);
    free(other.bytes);
}

/* Every float CNN: built by hand from its own weights it gives what it gives when it is loaded as a CNN and as a model,
 * bit by bit. */
static void same_as_loaded(const model_file *file) {
    nk_cnn_t hand, loaded;
    nk_model_t model;
    nk_arch_info_t info;
    nk_tensor_t out_hand, out_loaded;
    if (is_int8_model(file) || file->bytes[8] != 2) {
        return;
    }
    EXPECT_OK(nk_parse_architecture_memory(file->bytes, file->size, &info));
    if (!EXPECT_OK(nk_arena_init_heap(&arena, 64u * 1024 * 1024))) {
        return;
    }
    if (EXPECT_OK(nk_cnn_load_memory(file->bytes, file->size, &arena, &loaded, NULL)) &&
        EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model)) && describe_cnn(file, &arena, &hand) &&
        EXPECT_OK(nk_cnn_init_activation_buffers(&hand, &arena, info.input_shape[0], info.input_shape[1],
                                                 info.input_shape[2]))) {
        size_t output_bytes = info.output_elements * sizeof(float);
        float *in = (float *)must_alloc(info.input_elements * sizeof(float)), *wanted = (float *)must_alloc(output_bytes);
        nk_tensor_t input = map(in, info.input_shape[0], info.input_shape[1], info.input_shape[2]);
        fill_input(in, info.input_elements, 11);
        EXPECT_OK(run_model(&model, &arena, in, wanted));
        for (int i = 0; i < 2; i++) {
            EXPECT_OK(nk_cnn_forward(&hand, &arena, &input, &out_hand));
            EXPECT_OK(nk_cnn_forward(&loaded, &arena, &input, &out_loaded));
            EXPECT(out_hand.num_elements == info.output_elements && out_hand.rank == out_loaded.rank);
            EXPECT(memcmp(out_hand.data, wanted, output_bytes) == 0);
            EXPECT(memcmp(out_loaded.data, wanted, output_bytes) == 0);
        }
        uint32_t rank, shape[NK_MAX_TENSOR_RANK];
        EXPECT_OK(nk_model_output_shape(&model, &rank, shape));
        EXPECT(rank == out_hand.rank && memcmp(shape, out_hand.shape, sizeof shape) == 0);
        free(in);
        free(wanted);
    }
    nk_arena_destroy_heap(&arena);
}

/* ---- feature taps ---- */

/* Taps of the input, of a map between, of one that the next layer changes in place, and of the output. */
static void taps_hold_their_maps(void) {
    nk_cnn_t cnn;
    float values[16], scale[1] = {3.0f};
    nk_tensor_t input = map(values, 4, 4, 1), output;
    fresh();
    fill_input(values, 16, 7);
    EXPECT_OK(nk_cnn_create(&arena, 9, &cnn));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 4, 4, 1, 0));
    EXPECT_OK(nk_cnn_init_pool_layer(&cnn, 1, 2, 2, 2, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 2, 2, 2, 1, 1));
    EXPECT_OK(nk_cnn_init_batch_norm_layer(&cnn, 3, 1, scale, NULL));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 4, 2, 2, 1, 3));
    EXPECT_OK(nk_cnn_init_batch_norm_layer(&cnn, 5, 1, scale, NULL));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 6, 2, 2, 1, 3));
    EXPECT_OK(nk_cnn_init_batch_norm_layer(&cnn, 7, 1, scale, NULL));
    EXPECT_OK(nk_cnn_init_flatten_layer(&cnn, 8));
    EXPECT(nk_cnn_get_feature_tap_buffer(&cnn, 0) == NULL && nk_cnn_get_feature_tap_elems(&cnn, 0) == 0);
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    static const uint32_t elems[] = {16, 4, 0, 4, 0};
    for (uint8_t id = 0; id < 5; id++) {
        EXPECT(nk_cnn_get_feature_tap_elems(&cnn, id) == elems[id]);
        EXPECT((nk_cnn_get_feature_tap_buffer(&cnn, id) != NULL) == (elems[id] != 0));
    }
    EXPECT(nk_cnn_get_feature_tap_elems(&cnn, 255) == 0 && nk_cnn_get_feature_tap_buffer(&cnn, 255) == NULL);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
        EXPECT(output.rank == 2 && output.shape[1] == 4);
        EXPECT(memcmp(nk_cnn_get_feature_tap_buffer(&cnn, 0), values, sizeof values) == 0);
        const float *pooled = nk_cnn_get_feature_tap_buffer(&cnn, 1), *scaled = nk_cnn_get_feature_tap_buffer(&cnn, 3);
        for (int y = 0; y < 2; y++) {
            for (int x = 0; x < 2; x++) {
                const float *corner = values + 8 * y + 2 * x;
                float most = fmaxf(fmaxf(corner[0], corner[1]), fmaxf(corner[4], corner[5]));
                EXPECT(pooled[2 * y + x] == most && scaled[2 * y + x] == most * 3.0f * 3.0f);
                EXPECT(((float *)output.data)[2 * y + x] == most * 3.0f * 3.0f * 3.0f);
            }
        }
    }
}

/* A pyramid and the caller read the same taps. */
static void taps_of_a_loaded_pyramid(void) {
    nk_cnn_t cnn;
    nk_arch_info_t info;
    static float values[8 * 12 * 2];
    nk_tensor_t input = map(values, 8, 12, 2), output;
    fresh();
    fill_input(values, 8 * 12 * 2, 3);
    EXPECT_OK(nk_cnn_load("models/kind_14_yolox_pafpn_multiscale.nk", &arena, &cnn, &info));
    EXPECT(info.input_elements == 8 * 12 * 2);
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(nk_cnn_get_feature_tap_elems(&cnn, 0) == 8 * 12 * 3 && nk_cnn_get_feature_tap_elems(&cnn, 1) == 4 * 6 * 4);
    EXPECT(nk_cnn_get_feature_tap_elems(&cnn, 2) == 0);
    /* The same first layer alone. */
    model_file file = need_model("models/kind_14_yolox_pafpn_multiscale.nk");
    walk at = walk_model(&file);
    nk_cnn_t first;
    int h = 8, w = 12;
    EXPECT_OK(nk_cnn_create(&arena, 1, &first));
    EXPECT_OK(next_layer(&at, &first, &arena, 0, &h, &w));
    EXPECT_OK(nk_cnn_init_activation_buffers(&first, &arena, 8, 12, 2));
    EXPECT_OK(nk_cnn_forward(&first, &arena, &input, &output));
    EXPECT(output.num_elements == 8 * 12 * 3);
    EXPECT(memcmp(output.data, nk_cnn_get_feature_tap_buffer(&cnn, 0), output.bytes) == 0);
    free(file.bytes);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(by_hand);
        RUN(yolox_head);
        RUN(create_is_refused);
        RUN(layers_need_a_network);
        RUN(odd_arguments);
        RUN(buffers_are_refused);
        RUN(pyramid_needs_its_heads);
        RUN(norms_may_be_missing);
        RUN(buffers_need_room);
        RUN(forward_is_refused);
        RUN(loads);
        RUN(three_in_one_arena);
        RUN(loads_int8);
        RUN(loading_is_refused);
        RUN(taps_hold_their_maps);
        RUN(taps_of_a_loaded_pyramid);
    }
    for_each_model(argc, argv, "same_as_loaded", same_as_loaded);
    return report();
}
