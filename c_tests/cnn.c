/* CNNs: built by hand and loaded, finished and run, in their normal and in every error case. cnn_layers.c has the calls
 * that describe layers, cnn_yolox.c taps, pyramids and heads. */
#include "by_hand.h"
#include "cnn_parts.h"

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

/* A handle that could not be filled is empty, whatever it was. */
static void create_is_refused(void) {
    static nk_arena_t zeroed, garbage;
    const struct {
        nk_arena_t *in;
        uint32_t layers;
        nk_status_t status;
        const char *text;
    } cases[] = {
        {NULL, 1, NK_ERR_INVALID_ARGUMENT, "arena is NULL"},
        {&arena, 0, NK_ERR_ARENA_OVERFLOW, "num_layers is 0, expected at least 1"},
        {&arena, NK_MAX_LAYERS + 1, NK_ERR_LAYER_CONFIG, "num_layers is 101, expected at most 100"},
        {&arena, UINT32_MAX, NK_ERR_LAYER_CONFIG, "num_layers"},
        {&zeroed, 1, NK_ERR_ARENA_OVERFLOW, "never initialised"},
        {&garbage, 1, NK_ERR_ARENA_OVERFLOW, "never initialised"},
    };
    nk_cnn_t cnn;
    fresh();
    memset(&garbage, 0xA5, sizeof garbage);
    EXPECT_ERROR(nk_cnn_create(&arena, 1, NULL), NK_ERR_INVALID_ARGUMENT, "cnn is NULL");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(&cnn, 0xA5, sizeof cnn);
        EXPECT_ERROR(nk_cnn_create(cases[i].in, cases[i].layers, &cnn), cases[i].status, cases[i].text);
        EXPECT_THAT(all_bytes(&cnn, sizeof cnn, 0) && !nk_cnn_is_valid(&cnn), "case %zu", i);
    }
    EXPECT(nk_arena_used(&arena) == 0 && all_bytes(&garbage, sizeof garbage, 0xA5));
    EXPECT_OK(nk_cnn_create(&arena, NK_MAX_LAYERS, &cnn));
}

/* What finishes, runs and asks, on bytes that no call wrote, on a handle of the other kind, and on NULL. */
static void a_network_is_needed(void) {
    static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};
    enum { FILLS = sizeof fills };
    nk_mlp_t mlp;
    nk_tensor_t input = map(ones, 2, 2, 2), output;
    fresh();
    memset(&output, 0x5A, sizeof output);
    EXPECT_OK(nk_mlp_create(&arena, 1, &mlp));
    size_t used = nk_arena_used(&arena);
    for (size_t i = 0; i < FILLS + 2; i++) {
        nk_cnn_t cnn, *handle = i <= FILLS ? &cnn : NULL;
        memset(&cnn, i < FILLS ? fills[i] : 0, sizeof cnn);
        if (i == FILLS) {
            memcpy(&cnn, &mlp, sizeof cnn);
        }
        EXPECT_STATUS(nk_cnn_init_activation_buffers(handle, &arena, 2, 2, 2), NK_ERR_INVALID_ARGUMENT);
        EXPECT(strcmp(nk_last_error(), "cnn is NULL or holds no network") == 0);
        EXPECT_STATUS(nk_cnn_forward(handle, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT);
        EXPECT(strcmp(nk_last_error(), "cnn is NULL or holds no network") == 0);
        EXPECT(!nk_cnn_is_valid(handle) && !nk_cnn_has_activation_buffers(handle) && !nk_cnn_is_quantized(handle));
        nk_cnn_set_omit_final_softmax(handle, true);
        EXPECT(!nk_cnn_omit_final_softmax(handle) && nk_cnn_kernel_workspace_bytes(handle) == 0);
        EXPECT(nk_cnn_get_feature_tap_buffer(handle, 0) == NULL && nk_cnn_get_feature_tap_elems(handle, 0) == 0);
        EXPECT(i >= FILLS || all_bytes(&cnn, sizeof cnn, fills[i]));
    }
    EXPECT(nk_arena_used(&arena) == used && all_bytes(&output, sizeof output, 0x5A));
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
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &arena, i == 0 ? 0 : 4, i == 1 ? 0 : 4, i == 2 ? 0 : 1),
                     NK_ERR_INVALID_ARGUMENT, "at least 1");
    }
    nk_arena_t zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_NOT_INITIALIZED, "not initialised");
    EXPECT(error_layer() == 2);
    EXPECT_OK(nk_cnn_init_dense_layer(&cnn, 2, &dense, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 2), NK_ERR_WEIGHT_MISMATCH);
    EXPECT(error_layer() == 0);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 5, 1), NK_ERR_WEIGHT_MISMATCH);
    EXPECT(error_layer() == 2);
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, UINT32_MAX, UINT32_MAX, 1), NK_ERR_LAYER_CONFIG);
    EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &zeroed, 4, 4, 1), NK_ERR_ARENA_OVERFLOW, "never initialised");
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
    EXPECT_OK(nk_cnn_init_resnet_basic_block_layer(&cnn, &arena, 1, 4, 3, 1, 1, 1, z, z, z, z, z, z, z, z, NULL, NULL,
                                                   NULL, NULL));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(error_layer() == 1 && strstr(nk_last_error(), "width") != NULL);
    EXPECT_OK(nk_cnn_init_feature_tap_layer(&cnn, &arena, 1, 5, 4, 1, 0));
    EXPECT_STATUS(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_LAYER_CONFIG);
    EXPECT(error_layer() == 1 && strstr(nk_last_error(), "height") != NULL);
}

/* Weights that are no numbers, in the first layer and in the last, and weights where the arena would put its own. */
static void buffers_need_proper_weights(void) {
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    float weights[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bias[1] = {0};
    float *p[4] = {ones, zeros, weights, bias}, *places[] = {&weights[0], &weights[8], &bias[0]};
    nk_cnn_t cnn;
    fresh();
    EXPECT_OK(nk_cnn_create(&arena, 2, &cnn));
    for (int layer = 0; layer < 2; layer++) {
        for (uint32_t i = 0; i < 2; i++) {
            float *const *q = (int)i == layer ? p + 2 : p;
            EXPECT_OK(nk_cnn_init_conv_layer(&cnn, i, 3, 1, 1, 1, q[0], q[1], NK_CONV_ACTIVATION_NONE, 0, 1, 1, 1, 1));
        }
        size_t used = nk_arena_used(&arena);
        for (size_t i = 0; i < 9; i++) {
            float kept = *places[i / 3];
            *places[i / 3] = wrong[i % 3];
            EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_INVALID_ARGUMENT,
                         "NaN or infinite");
            EXPECT(error_layer() == layer && nk_arena_used(&arena) == used && !nk_cnn_has_activation_buffers(&cnn));
            *places[i / 3] = kept;
        }
    }
    float *inside = (float *)(void *)(memory + round_up(nk_arena_used(&arena) + 64, 16));
    memcpy(inside, weights, sizeof weights);
    EXPECT_OK(nk_cnn_init_conv_layer(&cnn, 1, 3, 1, 1, 1, inside, NULL, NK_CONV_ACTIVATION_NONE, 0, 1, 1, 1, 1));
    EXPECT_ERROR(nk_cnn_init_activation_buffers(&cnn, &arena, 4, 4, 1), NK_ERR_INVALID_ARGUMENT,
                 "free part of the arena");
    EXPECT(memcmp(inside, weights, sizeof weights) == 0);
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
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "the network is float");
    tensor = map(NULL, 4, 4, 1);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "input has no data");
    tensor = map(ones, 4, 4, 2);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "is 32, expected 16");
    tensor = map(ones, 4, 3, 1);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "is 12, expected 16");
    tensor = map(ones, 4, 0, 1);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "empty or too large");
    tensor = map((float *)(void *)((unsigned char *)ones + 1), 4, 4, 1);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "aligned to 4");
    tensor = map((float *)(void *)(memory + round_up(nk_arena_used(&arena) / 2, 4)), 4, 4, 1);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "memory of the model");
    tensor = input;
    tensor.stride[0] = 5;
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "follow each other");
    tensor = input;
    tensor.rank = 5;
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT, "rank of the tensor is 5");
    /* The arena argument is for overlapping buffers only, and may be an empty one. */
    nk_arena_t zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    EXPECT(all_bytes(&output, sizeof output, 0x5A));
    EXPECT_OK(nk_cnn_forward(&cnn, &zeroed, &input, &output));
    /* Buffers end with their arena, also when that is not the arena of the layers. */
    static unsigned char other[16384];
    nk_arena_t buffers;
    nk_arena_init(&buffers, other, sizeof other);
    EXPECT_OK(nk_cnn_init_activation_buffers(&cnn, &buffers, 4, 4, 1));
    memset(other, 0, sizeof other);
    memset(&output, 0x5A, sizeof output);
    EXPECT_ERROR(nk_cnn_forward(&cnn, &arena, &input, &output), NK_ERR_MODEL_NOT_LOADED, "the model ended");
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
    for (size_t at = 0; at < 8192; at += 4) {
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

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(by_hand);
        RUN(create_is_refused);
        RUN(a_network_is_needed);
        RUN(buffers_are_refused);
        RUN(buffers_need_proper_weights);
        RUN(buffers_need_room);
        RUN(forward_is_refused);
        RUN(loads);
        RUN(three_in_one_arena);
        RUN(loads_int8);
        RUN(loading_is_refused);
    }
    for_each_model(argc, argv, "same_as_loaded", same_as_loaded);
    return report();
}
