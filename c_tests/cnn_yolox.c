/* Feature taps, pyramids that read them, and heads. */
#include "by_hand.h"
#include "cnn_calls.h"

/* ---- heads ---- */

/* One array of zeros as every weight of a head, as small programs do. */
static void yolox_head(void) {
    nk_cnn_t cnn;
    float values[16] = {0}, *lists[1] = {zeros};
    nk_tensor_t input = map(values, 2, 2, 4), output;
    EXPECT(NK_CNN_BLOCK_CONV2D == 0 && NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD == 11 &&
           NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE == 13);
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_OK(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 4, 8, 2, 1, zeros, zeros, lists, lists,
                                                     lists, lists, zeros, zeros, zeros, zeros, zeros, zeros));
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

/* ---- pyramids ---- */

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
    EXPECT_OK(nk_cnn_init_yolox_pafpn_layer(&cnn, &arena, 4, 1, 1, 2, 2, 2, 3, 2, 1, z, z, z, z, z, z, z, z, z, z, z, z,
                                            z, z, z, z, z, z, z, z, z, z));
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 4, 3, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 3, 0, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_set_yolox_pafpn_head(&cnn, 5, 0, z, z, lists, lists, lists, lists, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    for (uint32_t scale = 0; scale < 3; scale++) {
        EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_NOT_INITIALIZED);
        EXPECT(error_layer() == 4 && strstr(nk_last_error(), "nk_cnn_set_yolox_pafpn_head") != NULL);
        EXPECT_ERROR(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, NULL, z, lists, lists, lists, lists, z, z, z, z, z, z),
                     NK_ERR_INVALID_ARGUMENT, "stem_w");
        EXPECT_ERROR(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, with_null, lists, z, z, z, z, z,
                                                 z),
                     NK_ERR_INVALID_ARGUMENT, "reg_conv_w or an entry of it");
        EXPECT_ERROR(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, lists, lists, z, z, z, z, NULL, z),
                     NK_ERR_INVALID_ARGUMENT, "obj_pred_w");
        EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_NOT_INITIALIZED);
        EXPECT_OK(nk_cnn_set_yolox_pafpn_head(&cnn, 4, scale, z, z, lists, lists, lists, lists, z, z, z, z, z, z));
    }
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(output.num_elements == 21 * 7 && all_bytes(output.data, output.bytes, 0));
}

/* Each pointer of a head missing: weights must be there, a bias that is NULL is zeros. */
static void heads_need_their_weights(void) {
    static const char *const names[6] = {"stem_w",     "cls_conv_w", "reg_conv_w",
                                         "cls_pred_w", "reg_pred_w", "obj_pred_w"};
    static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};
    static float weights[64];
    nk_cnn_t cnn;
    nk_mlp_t mlp;
    float *layer[22], *p[12];
    fill_input(weights, 64, 9);
    for (int i = 0; i < 22; i++) {
        layer[i] = weights;
        p[i % 12] = i % 2 == 0 ? weights : zeros;
    }
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 2, &cnn));
    EXPECT_OK(pyramid(&cnn, &arena, 1, (const int[]){2, 2, 2, 2, 2, 1}, layer));
    size_t used = nk_arena_used(&arena);
    for (int i = 0; i < 12; i++) {
        float *kept = p[i];
        p[i] = NULL;
        EXPECT_STATUS(pyramid_head(&cnn, 1, 0, p), i % 2 == 0 ? NK_ERR_INVALID_ARGUMENT : NK_OK);
        EXPECT(i % 2 == 1 || (strstr(nk_last_error(), names[i / 2]) != NULL && error_layer() == 1));
        p[i] = kept;
    }
    EXPECT_ERROR(pyramid_head(&cnn, 1, UINT32_MAX, p), NK_ERR_INVALID_ARGUMENT, "scale");
    EXPECT_STATUS(pyramid_head(&cnn, 0, 0, p), NK_ERR_INVALID_ARGUMENT); /* a layer that was not described */
    EXPECT(strstr(nk_last_error(), "no yolox_pafpn_multiscale") != NULL && nk_arena_used(&arena) == used);
    /* No network, and one of the other kind. */
    EXPECT_STATUS(pyramid_head(NULL, 1, 0, p), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_mlp_create(&arena, 1, &mlp));
    memcpy(&cnn, &mlp, sizeof cnn);
    EXPECT_STATUS(pyramid_head(&cnn, 1, 0, p), NK_ERR_INVALID_ARGUMENT);
    for (size_t i = 0; i < sizeof fills; i++) {
        memset(&cnn, fills[i], sizeof cnn);
        EXPECT_STATUS(pyramid_head(&cnn, 1, 0, p), NK_ERR_INVALID_ARGUMENT);
        EXPECT(strcmp(nk_last_error(), "cnn is NULL or holds no network") == 0);
    }
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

int main(void) {
    RUN(yolox_head);
    RUN(pyramid_needs_its_heads);
    RUN(heads_need_their_weights);
    RUN(taps_hold_their_maps);
    RUN(taps_of_a_loaded_pyramid);
    return report();
}
