/* Every call that describes a layer of a CNN, in one form: its numbers and its pointers are arrays, so that a test can
 * replace each of them in turn. */
#ifndef CNN_CALLS_H
#define CNN_CALLS_H

#include "cnn_parts.h"

enum { MOST_NUMBERS = 8, MOST_LAYER_POINTERS = 22 };

typedef struct layer_call {
    const char *name;
    nk_status_t (*make)(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p);
    const char *numbers[MOST_NUMBERS]; /* names; those with ! are kept in a byte, those with ? are ends of padding */
    int usual[MOST_NUMBERS];           /* numbers that work */
    const char *weights[MOST_LAYER_POINTERS / 2]; /* names of the pointers that must not be NULL */
    const char *pointers; /* w: weights, b: zeros or NULL, s: ones or NULL */
    bool is_block;
    uint32_t h, w, c; /* an input that works */
} layer_call;

static nk_status_t conv(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in;
    return nk_cnn_init_conv_layer(cnn, index, n[0], n[1], n[2], n[3], p[0], p[1], NK_CONV_ACTIVATION_NONE, 0.0f, n[4],
                                  n[5], n[6], n[7]);
}

static nk_status_t depthwise(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in;
    return nk_cnn_init_depthwise_conv_layer(cnn, index, n[0], n[1], n[2], n[3], p[0], p[1], NK_CONV_ACTIVATION_NONE,
                                            0.0f, n[4], n[5], n[6], n[7]);
}

static nk_status_t max_pool(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in, (void)p;
    return nk_cnn_init_pool_layer(cnn, index, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
}

static nk_status_t avg_pool(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in, (void)p;
    return nk_cnn_init_avg_pool_layer(cnn, index, n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
}

static nk_status_t batch_norm(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in;
    return nk_cnn_init_batch_norm_layer(cnn, index, n[0], p[0], p[1]);
}

static nk_status_t layer_norm(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in;
    return nk_cnn_init_layernorm_layer(cnn, index, n[0], 1e-5f, p[0], p[1]);
}

static nk_status_t flatten(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)in, (void)n, (void)p;
    return nk_cnn_init_flatten_layer(cnn, index);
}

static nk_status_t convnext(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    return nk_cnn_init_convnextv2_block_layer(cnn, in, index, 2, 3, n[0], 1e-6f, p[0], p[1], p[2], p[3], p[4], p[5],
                                              p[6], p[7], p[8], p[9]);
}

static nk_status_t uib(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    return nk_cnn_init_mobilenetv4_uib_layer(cnn, in, index, 2, 3, n[0], n[1], n[2], n[3], n[4], 1, 2.0f, p[0], p[1],
                                             p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13],
                                             p[14], p[15]);
}

static nk_status_t resnet(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    return nk_cnn_init_resnet_basic_block_layer(cnn, in, index, 2, 3, n[0], n[1], n[2], p[0], p[1], p[2], p[3], p[4],
                                                p[5], p[6], p[7], p[8], p[9], p[10], p[11]);
}

/* Lists of one pointer, as a head of one convolution takes them, for the pointers from `p` on; NULL stays NULL. */
static float *const *list_of(float *const *p) {
    return *p != NULL ? p : NULL;
}

static nk_status_t decoupled_head(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    return nk_cnn_init_yolox_decoupled_head_layer(cnn, in, index, 2, 3, n[0], n[1], n[2], n[3], p[0], p[1],
                                                  list_of(p + 2), list_of(p + 3), list_of(p + 4), list_of(p + 5), p[6],
                                                  p[7], p[8], p[9], p[10], p[11]);
}

static nk_status_t tap(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    (void)p;
    return nk_cnn_init_feature_tap_layer(cnn, in, index, 2, 3, n[0], 0);
}

static nk_status_t pyramid(nk_cnn_t *cnn, nk_arena_t *in, uint32_t index, const int *n, float *const *p) {
    return nk_cnn_init_yolox_pafpn_layer(cnn, in, index, 1, 1, n[0], n[1], n[2], n[3], n[4], n[5], p[0], p[1], p[2],
                                         p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14],
                                         p[15], p[16], p[17], p[18], p[19], p[20], p[21]);
}

CHECK_UNUSED static nk_status_t pyramid_head(nk_cnn_t *cnn, uint32_t index, uint32_t scale, float *const *p) {
    return nk_cnn_set_yolox_pafpn_head(cnn, index, scale, p[0], p[1], (const float *const *)list_of(p + 2),
                                       (const float *const *)list_of(p + 3), (const float *const *)list_of(p + 4),
                                       (const float *const *)list_of(p + 5), p[6], p[7], p[8], p[9], p[10], p[11]);
}

#define PADS "pad_h!", "pad_w!", "pad_h_end?", "pad_w_end?"

CHECK_UNUSED static const layer_call layer_calls[] = {
    {"conv", conv, {"kernel_size", "stride", "in_channels", "out_channels", PADS}, {3, 1, 2, 2, 1, 1, 1, 1}, {"weights"},
     "wb", false, 2, 3, 2},
    {"depthwise", depthwise, {"kernel_h!", "kernel_w!", "stride", "channels", PADS}, {3, 3, 1, 2, 1, 1, 1, 1},
     {"weights"}, "wb", false, 2, 3, 2},
    {"max_pool", max_pool, {"pool_h", "pool_w!", "stride", PADS}, {2, 2, 1, 0, 0, 0, 0}, {NULL}, "", false, 2, 3, 2},
    {"avg_pool", avg_pool, {"pool_h", "pool_w!", "stride", PADS}, {2, 2, 1, 0, 0, 0, 0}, {NULL}, "", false, 2, 3, 2},
    {"batch_norm", batch_norm, {"channels"}, {2}, {"scale"}, "wb", false, 2, 3, 2},
    {"layer_norm", layer_norm, {"channels"}, {2}, {"weight"}, "wb", false, 2, 3, 2},
    {"flatten", flatten, {NULL}, {0}, {NULL}, "", false, 2, 3, 2},
    {"convnext", convnext, {"channels"}, {2}, {"dw_weights", "ln_weight", "pw1_weight", "grn_gamma", "pw2_weight"},
     "wbwbwbwbwb", true, 2, 3, 2},
    {"uib", uib, {"in_channels", "out_channels", "start_dw_kernel!", "middle_dw_kernel!", "stride!"}, {4, 6, 3, 5, 2},
     {"start_dw_weights", "expand_weights", "middle_dw_weights", "proj_weights"}, "wbsbwbsbwbsbwbsb", true, 2, 3, 4},
    {"resnet", resnet, {"in_channels", "out_channels", "stride!"}, {2, 4, 2},
     {"conv1_weights", "conv2_weights", "shortcut_weights"}, "wbsbwbsbwbsb", true, 2, 3, 2},
    {"head", decoupled_head, {"in_channels", "hidden_dim", "num_classes", "num_convs!"}, {2, 3, 2, 1},
     {"stem_weights", "cls_conv_weights", "reg_conv_weights", "cls_pred_weights", "reg_pred_weights",
      "obj_pred_weights"},
     "wbwbwbwbwbwb", true, 2, 3, 2},
    {"tap", tap, {"channels"}, {2}, {NULL}, "", true, 2, 3, 2},
    {"pyramid", pyramid, {"c3_channels", "c4_channels", "c5_channels", "hidden_dim", "num_classes", "num_convs!"},
     {2, 2, 2, 2, 2, 1},
     {"lat3_weights", "lat4_weights", "lat5_weights", "td_p4_dw_weights", "td_p4_pw_weights", "td_p3_dw_weights",
      "td_p3_pw_weights", "bu_n4_dw_weights", "bu_n4_pw_weights", "bu_n5_dw_weights", "bu_n5_pw_weights"},
     "wbwbwbwbwbwbwbwbwbwbwb", true, 4, 4, 2},
};

enum { LAYER_CALLS = sizeof layer_calls / sizeof layer_calls[0] };

#endif
