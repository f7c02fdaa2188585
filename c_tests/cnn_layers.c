/* The calls that describe the layers of a CNN: each of their numbers, pointers and handles wrong in turn. */
#include "cnn_calls.h"

enum { MOST_OUTPUTS = 21 * 7 };

static float weights[1024];

static void usual_pointers(const layer_call *call, float **p) {
    for (size_t i = 0; call->pointers[i] != '\0'; i++) {
        p[i] = call->pointers[i] == 'w' ? weights : call->pointers[i] == 's' ? ones : zeros;
    }
}

/* A network in which the layer stands, and the layer's index. A pyramid reads taps in front of it. */
static uint32_t begin(const layer_call *call, nk_cnn_t *cnn) {
    if (call->make != pyramid) {
        EXPECT_OK(nk_cnn_create(&arena, 1, cnn));
        return 0;
    }
    EXPECT_OK(nk_cnn_create(&arena, 5, cnn));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(cnn, &arena, 0, 4, 4, 2, 0));
    EXPECT_OK(nk_cnn_init_pool_layer(cnn, 1, 2, 2, 2, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_feature_tap_layer(cnn, &arena, 2, 2, 2, 2, 1));
    EXPECT_OK(nk_cnn_init_avg_pool_layer(cnn, 3, 2, 2, 2, 0, 0, -1, -1));
    return 4;
}

/* Runs the network on the same input always; the number of outputs. */
static uint32_t run(const layer_call *call, nk_cnn_t *cnn, uint32_t index, float *outputs) {
    static float values[64];
    float *p[12];
    nk_tensor_t input = map(values, call->h, call->w, call->c), output;
    fill_input(values, 64, 5);
    for (int i = 0; i < 12; i++) {
        p[i] = i % 2 == 0 ? weights : zeros;
    }
    for (uint32_t scale = 0; call->make == pyramid && scale < 3; scale++) {
        EXPECT_OK(pyramid_head(cnn, index, scale, p));
    }
    if (!EXPECT_OK(nk_cnn_init_activation_buffers(cnn, &arena, call->h, call->w, call->c)) ||
        !EXPECT_OK(nk_cnn_forward(cnn, &arena, &input, &output)) || !EXPECT(output.num_elements <= MOST_OUTPUTS)) {
        return 0;
    }
    memcpy(outputs, output.data, output.bytes);
    return output.num_elements;
}

/* ---- pointers ---- */

/* Weights must be there; a bias that is NULL is zeros, a scale of a batch norm that is NULL is ones. */
static void each_pointer_missing(void) {
    for (size_t k = 0; k < LAYER_CALLS; k++) {
        const layer_call *call = &layer_calls[k];
        float *p[MOST_LAYER_POINTERS], wanted[MOST_OUTPUTS], found[MOST_OUTPUTS];
        nk_cnn_t cnn;
        fresh();
        usual_pointers(call, p);
        uint32_t index = begin(call, &cnn);
        EXPECT_OK(call->make(&cnn, &arena, index, call->usual, p));
        uint32_t count = run(call, &cnn, index, wanted), weight = 0;
        EXPECT_THAT(count > 0 && !all_bytes(wanted, count * sizeof(float), 0), "%s", call->name);
        for (size_t i = 0; call->pointers[i] != '\0'; i++) {
            float *kept = p[i];
            size_t used = nk_arena_used(&arena);
            p[i] = NULL;
            if (call->pointers[i] == 'w') {
                const char *name = call->weights[weight++];
                EXPECT_STATUS(call->make(&cnn, &arena, index, call->usual, p), NK_ERR_INVALID_ARGUMENT);
                EXPECT_THAT(strstr(nk_last_error(), name) != NULL && error_layer() == (int)index, "%s", name);
                EXPECT_THAT(nk_arena_used(&arena) == used, "%s takes memory", call->name);
                EXPECT_THAT(nk_cnn_has_activation_buffers(&cnn), "%s: the layer before is gone", call->name);
            } else {
                EXPECT_OK(call->make(&cnn, &arena, index, call->usual, p));
                EXPECT_THAT(!nk_cnn_has_activation_buffers(&cnn), "%s: the layer before still runs", call->name);
                memset(found, 0, sizeof found);
                EXPECT(run(call, &cnn, index, found) == count);
                EXPECT_THAT(memcmp(found, wanted, count * sizeof(float)) == 0, "%s, pointer %zu", call->name, i);
            }
            p[i] = kept;
        }
    }
}

/* All that may be NULL at once. */
static void norms_may_be_missing(void) {
    nk_cnn_t with, without;
    float values[16], kernels[2][9];
    nk_tensor_t input = map(values, 4, 4, 1), a, b;
    fresh();
    fill_input(values, 16, 1);
    fill_input(kernels[0], 18, 2);
    EXPECT_OK(nk_cnn_create(&arena, 1, &with));
    EXPECT_OK(nk_cnn_create(&arena, 1, &without));
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&with, &arena, 0, 4, 4, 1, 1, 1, kernels[0], zeros, ones, zeros,
                                                   kernels[1], zeros, ones, zeros, NULL, NULL, NULL, NULL));
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&without, &arena, 0, 4, 4, 1, 1, 1, kernels[0], NULL, NULL, NULL,
                                                   kernels[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    EXPECT_OK(nk_cnn_init_activation_buffers(&with, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_init_activation_buffers(&without, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_forward(&with, &arena, &input, &a));
    EXPECT_OK(nk_cnn_forward(&without, &arena, &input, &b));
    EXPECT(a.data != b.data && memcmp(a.data, b.data, 64) == 0);
}

/* ---- numbers ---- */

/* The name of a number without its mark. */
static const char *plain(const char *name) {
    static char text[32];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "!?"), name);
    return text;
}

static void expect_wrong_number(const layer_call *call, size_t i, int value) {
    nk_cnn_t cnn;
    float *p[MOST_LAYER_POINTERS];
    int n[MOST_NUMBERS];
    fresh();
    usual_pointers(call, p);
    memcpy(n, call->usual, sizeof n);
    n[i] = value;
    uint32_t index = begin(call, &cnn);
    size_t used = nk_arena_used(&arena);
    nk_status_t status = call->make(&cnn, &arena, index, n, p);
    const char *name = plain(call->numbers[i]);
    EXPECT_THAT(status == NK_ERR_INVALID_ARGUMENT, "%s with %s %d: %s", call->name, name, value,
                nk_status_string(status));
    EXPECT_THAT(strstr(nk_last_error(), name) != NULL && error_layer() == (int)index, "%s, %s", call->name, name);
    EXPECT_THAT(nk_arena_used(&arena) == used, "%s takes memory", call->name);
}

static void each_number_wrong(void) {
    for (size_t k = 0; k < LAYER_CALLS; k++) {
        const layer_call *call = &layer_calls[k];
        for (size_t i = 0; i < MOST_NUMBERS && call->numbers[i] != NULL; i++) {
            char mark = call->numbers[i][strcspn(call->numbers[i], "!?")];
            if (mark == '?') {
                /* The padding at an end: less than at the start, or more than 15 more. */
                expect_wrong_number(call, i, call->usual[i] + 16);
                expect_wrong_number(call, i, 0x7FFFFFFF);
                if (call->usual[i] > 0) {
                    expect_wrong_number(call, i, call->usual[i] - 1);
                }
                continue;
            }
            /* The kernel of a depthwise convolution is refused as a whole when it is 0. */
            expect_wrong_number(call, i, -1);
            expect_wrong_number(call, i, -0x7FFFFFFF - 1);
            if (mark == '!') {
                expect_wrong_number(call, i, 256);
                EXPECT(strstr(nk_last_error(), "255") != NULL);
            }
        }
    }
}

/* A depthwise layer has one byte for the width of its kernel and for padding at its ends. */
static void depthwise_kernels_and_pads(void) {
    nk_cnn_t cnn;
    float *p[2] = {weights, NULL};
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_OK(depthwise(&cnn, &arena, 0, (const int[]){3, 3, 1, 1, 1, 1, 2, 1}, p));
    EXPECT_OK(depthwise(&cnn, &arena, 0, (const int[]){3, 5, 1, 1, 1, 1, -1, -1}, p));
    EXPECT_OK(depthwise(&cnn, &arena, 0, (const int[]){3, 5, 1, 1, 1, 1, 2, 1}, p));
    static const int wrong[][8] = {{3, 3, 1, 1, 1, 1, 4, 1}, {0, 3, 1, 1, 1, 1, -1, -1}, {3, 0, 1, 1, 1, 1, -1, -1}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_ERROR(depthwise(&cnn, &arena, 0, wrong[i], p), NK_ERR_INVALID_ARGUMENT,
                     "kernel together with this padding");
    }
}

static void other_odd_arguments(void) {
    nk_cnn_t cnn;
    float *z = zeros, *with_null[2] = {zeros, NULL}, *full[2] = {zeros, zeros};
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    size_t used = nk_arena_used(&arena);
    EXPECT_ERROR(nk_cnn_init_pool_layer(&cnn, 0, 2, 0, 1, 0, 0, -1, -1), NK_ERR_INVALID_ARGUMENT,
                 "pool_w is 0, expected at least 1");
    EXPECT_STATUS(nk_cnn_init_avg_pool_layer(&cnn, 0, 2, 0, 1, 0, 0, -1, -1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 2, 2, 2, 4), NK_ERR_INVALID_ARGUMENT,
                 "tap_id is 4, expected at most 3");
    EXPECT_STATUS(nk_cnn_init_feature_tap_layer(&cnn, &arena, 0, 2, 2, 2, 255), NK_ERR_INVALID_ARGUMENT);
    /* An expansion that gives no channels, or more than can be counted. */
    static const float ratios[] = {-2.0f, 0.0f, 1e30f, NAN, INFINITY};
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        EXPECT_STATUS(nk_cnn_init_mobilenetv4_uib_layer(&cnn, &arena, 0, 2, 2, 4, 4, 0, 0, 1, 0, ratios[i], z, z, z, z,
                                                        z, z, z, z, z, z, z, z, z, z, z, z),
                      NK_ERR_LAYER_CONFIG);
        EXPECT(strstr(nk_last_error(), "expand_ratio") != NULL && error_layer() == 0);
    }
    /* An entry of a list that is missing. */
    EXPECT_STATUS(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 2, 2, 2, 2, z, z, full, full, with_null,
                                                         full, z, z, z, z, z, z),
                  NK_ERR_INVALID_ARGUMENT);
    EXPECT(strstr(nk_last_error(), "reg_conv_weights") != NULL);
    EXPECT(nk_arena_used(&arena) == used);
    EXPECT_OK(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 2, 2, 2, 2, z, z, full, with_null, full,
                                                     with_null, z, z, z, z, z, z));
    /* An eps that no layer can have shows when the network is finished. */
    EXPECT_OK(nk_cnn_init_layernorm_layer(&cnn, 0, 2, -1.0f, ones, NULL));
    EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &arena, 2, 2, 2), NK_ERR_LAYER_CONFIG, "eps");
    EXPECT(error_layer() == 0);
}

/* An activation that is not listed means none. */
static void unknown_activations(void) {
    nk_cnn_t cnn;
    nk_tensor_t input = map(ones, 4, 4, 1), output;
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_OK(nk_cnn_init_conv_layer(&cnn, 0, 1, 1, 1, 1, ones, NULL, (nk_conv_activation_t)99, NAN, 0, 0, -1, -1));
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1));
    EXPECT_OK(nk_cnn_forward(&cnn, &arena, &input, &output));
    EXPECT(((float *)output.data)[3] == 1.0f);
}

/* ---- handles, indices, arenas ---- */

/* NULL, bytes that no call wrote, and a handle of the other kind. */
static void layers_need_a_network(void) {
    static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};
    nk_mlp_t mlp;
    fresh();
    EXPECT_OK(nk_mlp_create(&arena, 1, &mlp));
    size_t used = nk_arena_used(&arena);
    for (size_t k = 0; k < LAYER_CALLS * (sizeof fills + 2); k++) {
        const layer_call *call = &layer_calls[k % LAYER_CALLS];
        size_t fill = k / LAYER_CALLS;
        float *p[MOST_LAYER_POINTERS];
        nk_cnn_t cnn;
        usual_pointers(call, p);
        memset(&cnn, fill < sizeof fills ? fills[fill] : 0, sizeof cnn);
        if (fill == sizeof fills) {
            memcpy(&cnn, &mlp, sizeof cnn);
        }
        nk_status_t wanted = call->is_block ? NK_ERR_INVALID_ARGUMENT : NK_ERR_NOT_INITIALIZED;
        nk_status_t status = call->make(fill > sizeof fills ? NULL : &cnn, &arena, 0, call->usual, p);
        EXPECT_THAT(status == wanted, "%s: %s", call->name, nk_status_string(status));
        EXPECT_THAT(strcmp(nk_last_error(), "cnn is NULL or holds no network") == 0, "%s", call->name);
    }
    EXPECT(nk_arena_used(&arena) == used);
}

static void layers_need_a_place(void) {
    for (size_t k = 0; k < LAYER_CALLS; k++) {
        const layer_call *call = &layer_calls[k];
        float *p[MOST_LAYER_POINTERS];
        nk_cnn_t cnn;
        fresh();
        usual_pointers(call, p);
        EXPECT_OK(nk_cnn_create(&arena, 3, &cnn));
        size_t used = nk_arena_used(&arena);
        EXPECT_ERROR(call->make(&cnn, &arena, 3, call->usual, p), NK_ERR_INVALID_ARGUMENT,
                     "layer_idx is 3, expected at most 2");
        EXPECT_STATUS(call->make(&cnn, &arena, UINT32_MAX, call->usual, p), NK_ERR_INVALID_ARGUMENT);
        EXPECT(nk_arena_used(&arena) == used);
        /* The layers of a loaded network stay. */
        EXPECT_OK(nk_cnn_load("models/cnn_4x4_single.nk", &arena, &cnn, NULL));
        EXPECT_ERROR(call->make(&cnn, &arena, 0, call->usual, p), NK_ERR_INVALID_ARGUMENT, "loaded network");
        EXPECT(nk_cnn_has_activation_buffers(&cnn));
        nk_arena_reset(&arena);
    }
}

/* A block takes room for the list of its tensors: no less than it needs, and nothing when there is too little. */
static void blocks_need_room(void) {
    enum { GUARD = 64 };
    static unsigned char other[8192];
    for (size_t k = 0; k < LAYER_CALLS; k++) {
        const layer_call *call = &layer_calls[k];
        float *p[MOST_LAYER_POINTERS];
        nk_cnn_t cnn;
        nk_arena_t small;
        if (!call->is_block) {
            continue;
        }
        fresh();
        usual_pointers(call, p);
        EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
        EXPECT_ERROR(call->make(&cnn, NULL, 0, call->usual, p), NK_ERR_INVALID_ARGUMENT, "arena is NULL");
        memset(&small, 0, sizeof small);
        nk_status_t status = call->make(&cnn, &small, 0, call->usual, p);
        EXPECT_THAT(status == (call->make == tap ? NK_OK : NK_ERR_ARENA_OVERFLOW), "%s in no arena", call->name);
        EXPECT_THAT(call->make == tap || strstr(nk_last_error(), "never initialised") != NULL, "%s", call->name);
        status = NK_ERR_ARENA_OVERFLOW;
        for (size_t size = 0; size < sizeof other - 2 * GUARD && status != NK_OK; size++) {
            memset(other, 0xFF, sizeof other);
            nk_arena_init(&small, other + GUARD, size);
            status = call->make(&cnn, &small, 0, call->usual, p);
            EXPECT_THAT(status == NK_OK || (status == NK_ERR_ARENA_OVERFLOW && nk_arena_used(&small) == 0), "%s in %zu",
                        call->name, size);
            EXPECT(all_bytes(other, GUARD, 0xFF) && all_bytes(other + GUARD + size, sizeof other - GUARD - size, 0xFF));
        }
        EXPECT_THAT(status == NK_OK, "%s", call->name);
    }
}

/* ---- dense layers, which take tensors ---- */

static void dense_layers_are_refused(void) {
    static const unsigned char fills[] = {0x00, 0xA5};
    const nk_activation_t none = NK_ACTIVATION_NONE;
    nk_cnn_t cnn;
    nk_tensor_t good = rows(weights, 2, 3), bias = rows(zeros, 1, 2), tensor;
    fresh();
    EXPECT_STATUS(nk_cnn_init_dense_layer(NULL, 0, &good, &bias, none, 0), NK_ERR_INVALID_ARGUMENT);
    for (size_t i = 0; i < sizeof fills; i++) {
        memset(&cnn, fills[i], sizeof cnn);
        EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &good, &bias, none, 0), NK_ERR_INVALID_ARGUMENT, "cnn");
    }
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 1, &good, &bias, none, 0), NK_ERR_INVALID_ARGUMENT, "layer_idx");
    EXPECT_STATUS(nk_cnn_init_dense_layer(&cnn, 0, NULL, &bias, none, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_cnn_init_dense_layer(&cnn, 0, &good, NULL, none, 0), NK_ERR_INVALID_ARGUMENT);
    tensor = rows(zeros, 1, 3);
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &good, &tensor, none, 0), NK_ERR_WEIGHT_MISMATCH,
                 "bias tensor is 3, expected 2");
    EXPECT(error_layer() == 0);
    tensor = map(weights, 2, 3, 1);
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &tensor, &bias, none, 0), NK_ERR_INVALID_ARGUMENT, "rank 2");
    tensor = rows(NULL, 2, 3);
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &tensor, &bias, none, 0), NK_ERR_INVALID_ARGUMENT,
                 "weights has no data");
    tensor = rows(NULL, 1, 2);
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &good, &tensor, none, 0), NK_ERR_INVALID_ARGUMENT,
                 "bias has no data");
    tensor = good;
    tensor.dtype = NK_DTYPE_INT8;
    EXPECT_ERROR(nk_cnn_init_dense_layer(&cnn, 0, &tensor, &bias, none, 0), NK_ERR_INVALID_ARGUMENT, "floats");
    EXPECT_OK(nk_cnn_init_dense_layer(&cnn, 0, &good, &bias, none, 0));
}

int main(void) {
    fill_input(weights, sizeof weights / sizeof weights[0], 3);
    RUN(each_pointer_missing);
    RUN(norms_may_be_missing);
    RUN(each_number_wrong);
    RUN(depthwise_kernels_and_pads);
    RUN(other_odd_arguments);
    RUN(unknown_activations);
    RUN(layers_need_a_network);
    RUN(layers_need_a_place);
    RUN(blocks_need_room);
    RUN(dense_layers_are_refused);
    return report();
}
