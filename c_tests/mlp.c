/* MLPs: built by hand and loaded, in their normal and in every error case. */
#include "by_hand.h"

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

/* Two layers that change nothing. */
static bool two_identities(nk_mlp_t *mlp, nk_activation_t last) {
    nk_tensor_t weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2);
    return EXPECT_OK(nk_mlp_create(&arena, 2, mlp)) &&
           EXPECT_OK(nk_mlp_init_layer(mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0.0f)) &&
           EXPECT_OK(nk_mlp_init_layer(mlp, 1, &weights, &bias, last, 0.0f));
}

static void by_hand(void) {
    nk_mlp_t mlp;
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2);
    memset(&mlp, 0xA5, sizeof mlp);
    fresh();
    if (!two_identities(&mlp, NK_ACTIVATION_NONE)) {
        return;
    }
    EXPECT(nk_mlp_is_valid(&mlp) && !nk_mlp_is_quantized(&mlp));
    EXPECT(!nk_mlp_has_activation_buffers(&mlp));
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_NOT_INITIALIZED);
    EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &arena, 1));
    EXPECT(nk_mlp_has_activation_buffers(&mlp));
    size_t used = nk_arena_used(&arena);
    for (int i = 0; i < 3; i++) {
        memset(output_values, 0xFF, sizeof output_values);
        EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
        EXPECT(output_values[0] == 1.0f && output_values[1] == 2.0f);
        EXPECT(output.data == output_values && nk_arena_used(&arena) == used);
    }
    /* The handle is a name: a copy is as good. */
    nk_mlp_t copy = mlp;
    memset(&mlp, 0xFF, sizeof mlp);
    EXPECT_OK(nk_mlp_forward(&copy, &arena, &input, &output));
    EXPECT(!nk_mlp_is_valid(&mlp));
}

/* One layer needs no call for its buffers, and takes any number of rows. */
static void one_layer(void) {
    nk_mlp_t mlp;
    float rows[6] = {1, 2, 3, 4, 5, 6}, out[6];
    nk_tensor_t weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2), input = floats(rows, 3, 2),
                output = floats(out, 3, 2);
    fresh();
    EXPECT_OK(nk_mlp_create(&arena, 1, &mlp));
    EXPECT(nk_mlp_has_activation_buffers(&mlp));
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_NOT_INITIALIZED);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_LEAKY_RELU, 0.5f));
    rows[1] = -2.0f;
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(out[0] == 1 && out[1] == -1 && out[2] == 3 && out[5] == 6);
    size_t used = nk_arena_used(&arena);
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(nk_arena_used(&arena) == used);
    /* A batch of several rows in place would read what it wrote; one row may. */
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &input), NK_ERR_INVALID_ARGUMENT);
    input = floats(rows, 1, 2);
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &input));
    EXPECT(rows[0] == 1 && rows[1] == -1);
    /* No room for the buffers. */
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0.0f));
    EXPECT_STATUS(nk_mlp_forward(&mlp, &none, &input, &output), NK_ERR_ARENA_OVERFLOW);
}

static void batches(void) {
    nk_mlp_t mlp;
    float rows[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8];
    nk_tensor_t input = floats(rows, 4, 2), output = floats(out, 4, 2);
    fresh();
    if (!two_identities(&mlp, NK_ACTIVATION_NONE)) {
        return;
    }
    EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &arena, 2));
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(memcmp(rows, out, sizeof rows) == 0);
    input = floats(rows, 3, 2);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT);
    input = floats(rows, 2, 2);
    output = floats(out, 1, 2);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_BUFFER_TOO_SMALL);
}

static void softmax_on_demand(void) {
    nk_mlp_t mlp;
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2);
    fresh();
    if (!two_identities(&mlp, NK_ACTIVATION_SOFTMAX)) {
        return;
    }
    EXPECT(!nk_mlp_omit_final_softmax(&mlp));
    nk_mlp_set_omit_final_softmax(&mlp, true);
    EXPECT(nk_mlp_omit_final_softmax(&mlp));
    EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &arena, 1));
    EXPECT(nk_mlp_omit_final_softmax(&mlp));
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(output_values[0] == 1.0f && output_values[1] == 2.0f);
    nk_mlp_set_omit_final_softmax(&mlp, false);
    EXPECT(!nk_mlp_omit_final_softmax(&mlp));
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(is_close(output_values[0] + output_values[1], 1.0f) && is_close(output_values[1], 0.73105858f));
    /* A layer without softmax has none to leave out. */
    nk_mlp_set_omit_final_softmax(&mlp, true);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &(nk_tensor_t){identity, NK_DTYPE_FLOAT32, 2, {2, 2}, {2, 1}, 4, 16},
                                &(nk_tensor_t){zeros, NK_DTYPE_FLOAT32, 1, {2}, {1}, 2, 8}, NK_ACTIVATION_NONE, 0));
    EXPECT(!nk_mlp_omit_final_softmax(&mlp) && !nk_mlp_has_activation_buffers(&mlp));
}

static void create_is_refused(void) {
    nk_mlp_t mlp;
    nk_arena_t small;
    memset(&mlp, 0xA5, sizeof mlp);
    fresh();
    EXPECT_STATUS(nk_mlp_create(NULL, 1, &mlp), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_create(&arena, 1, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_create(&arena, 0, &mlp), NK_ERR_ARENA_OVERFLOW);
    EXPECT(all_bytes(&mlp, sizeof mlp, 0));
    EXPECT_STATUS(nk_mlp_create(&arena, NK_MAX_LAYERS + 1, &mlp), NK_ERR_LAYER_CONFIG);
    EXPECT(nk_arena_used(&arena) == 0 && !nk_mlp_is_valid(&mlp));
    EXPECT_OK(nk_mlp_create(&arena, NK_MAX_LAYERS, &mlp));
    /* Every size up to enough is refused and taken back. */
    size_t need = nk_arena_used(&arena);
    for (size_t size = 0; size < need; size += 7) {
        nk_arena_init(&small, memory, size);
        EXPECT_STATUS(nk_mlp_create(&small, NK_MAX_LAYERS, &mlp), NK_ERR_ARENA_OVERFLOW);
        EXPECT(nk_arena_used(&small) == 0);
    }
}

static void layers_are_refused(void) {
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_tensor_t weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2), tensor;
    int8_t bytes[4];
    fresh();
    memset(&mlp, 0xA5, sizeof mlp);
    EXPECT_STATUS(nk_mlp_init_layer(NULL, 0, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_mlp_create(&arena, 2, &mlp));
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, NULL, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, NULL, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 2, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(NULL, 2, 2);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(NULL, 1, 2);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(zeros, 1, 3);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, NK_ACTIVATION_NONE, 0), NK_ERR_WEIGHT_MISMATCH);
    nk_error_info_t info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.layer_index == 0 && info.needed == 2 && info.available == 3);
    nk_tensor_view_2d_int8(bytes, 2, 2, &tensor);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor = weights;
    tensor.stride[0] = 3;
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor.rank = 5;
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    tensor.rank = 0;
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    /* A CNN is no MLP. */
    EXPECT_OK(nk_cnn_create(&arena, 1, &cnn));
    memcpy(&mlp, &cnn, sizeof mlp);
    EXPECT(!nk_mlp_is_valid(&mlp));
}

static void buffers_are_refused(void) {
    nk_mlp_t mlp;
    nk_tensor_t wide, three, weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2);
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2);
    float nine[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, bad[4] = {1, 0, 0, NAN};
    wide = floats(nine, 3, 3);
    three = floats(zeros, 1, 3);
    memset(&mlp, 0xA5, sizeof mlp);
    fresh();
    EXPECT_STATUS(nk_mlp_init_activation_buffers(NULL, &arena, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT);
    if (!two_identities(&mlp, NK_ACTIVATION_NONE)) {
        return;
    }
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, NULL, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, UINT32_MAX), NK_ERR_LAYER_CONFIG);
    /* Layers that do not fit each other. */
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &wide, &three, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_WEIGHT_MISMATCH);
    nk_tensor_t nan_weights = floats(bad, 2, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &nan_weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT(strncmp(nk_last_error(), "layer 1 (dense): ", 17) == 0);
    nk_tensor_t nan_bias = floats(bad + 2, 1, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &nan_bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT);
    EXPECT(strncmp(nk_last_error(), "layer 0 (dense): ", 17) == 0);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT(nk_arena_used(&arena) == used && !nk_mlp_has_activation_buffers(&mlp));
    /* Weights where the arena would put its own things. */
    float *inside = (float *)(void *)(memory + round_up(used + 64, 16));
    memcpy(inside, identity, sizeof identity);
    nk_tensor_t free_weights = floats(inside, 2, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &free_weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT);
    /* Every size up to enough is refused and taken back; what is enough works. */
    static unsigned char other[8192];
    nk_arena_t small;
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &weights, &bias, NK_ACTIVATION_NONE, 0));
    size_t size = 0;
    nk_status_t status = NK_ERR_ARENA_OVERFLOW;
    for (; size < sizeof other && status != NK_OK; size++) {
        memset(other, 0xFF, sizeof other);
        nk_arena_init(&small, other, size);
        status = nk_mlp_init_activation_buffers(&mlp, &small, 1);
        EXPECT(status == NK_OK || (status == NK_ERR_ARENA_OVERFLOW && nk_arena_used(&small) == 0));
        EXPECT((status == NK_OK) == nk_mlp_has_activation_buffers(&mlp));
        EXPECT(all_bytes(other + size, sizeof other - size, 0xFF));
    }
    EXPECT_OK(nk_mlp_forward(&mlp, &small, &input, &output));
    EXPECT(output_values[0] == 1.0f && output_values[1] == 2.0f);
    /* A layer that was never described. */
    EXPECT_OK(nk_mlp_create(&arena, 2, &mlp));
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_NOT_INITIALIZED);
}

static void forward_is_refused(void) {
    nk_mlp_t mlp;
    int8_t bytes[4] = {0};
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2), tensor;
    memset(&mlp, 0xA5, sizeof mlp);
    memset(output_values, 0x5A, sizeof output_values);
    fresh();
    EXPECT_STATUS(nk_mlp_forward(NULL, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT);
    if (!two_identities(&mlp, NK_ACTIVATION_NONE) || !EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &arena, 1))) {
        return;
    }
    EXPECT_STATUS(nk_mlp_forward(&mlp, NULL, &input, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, NULL, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, NULL), NK_ERR_INVALID_ARGUMENT);
    nk_tensor_view_2d_int8(bytes, 1, 2, &tensor);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &tensor), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(NULL, 1, 2);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &tensor), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(input_values, 1, 1);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &tensor, &output), NK_ERR_INVALID_ARGUMENT);
    tensor = floats(output_values, 1, 1);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &tensor), NK_ERR_BUFFER_TOO_SMALL);
    EXPECT(all_bytes(output_values, sizeof output_values, 0x5A));
    /* The arena argument need not be the network's, and may be empty. */
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_OK(nk_mlp_forward(&mlp, &none, &input, &output));
}

static void queries_without_network(void) {
    static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};
    for (size_t i = 0; i < sizeof fills; i++) {
        nk_mlp_t mlp;
        memset(&mlp, fills[i], sizeof mlp);
        EXPECT(!nk_mlp_is_valid(&mlp) && !nk_mlp_has_activation_buffers(&mlp) && !nk_mlp_is_quantized(&mlp));
        nk_mlp_set_omit_final_softmax(&mlp, true);
        EXPECT(!nk_mlp_omit_final_softmax(&mlp) && all_bytes(&mlp, sizeof mlp, fills[i]));
    }
    nk_mlp_set_omit_final_softmax(NULL, true);
    EXPECT(!nk_mlp_is_valid(NULL) && !nk_mlp_has_activation_buffers(NULL) && !nk_mlp_is_quantized(NULL) &&
           !nk_mlp_omit_final_softmax(NULL));
}

/* ---- loading ---- */

static void loads(void) {
    nk_mlp_t mlp;
    nk_arch_info_t info;
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2);
    model_file file = need_model("models/test_mlp.nk");
    memset(&mlp, 0xA5, sizeof mlp);
    memset(&info, 0x5A, sizeof info);
    fresh();
    EXPECT_OK(nk_mlp_load("models/test_mlp.nk", &arena, &mlp, &info));
    EXPECT(nk_mlp_is_valid(&mlp) && nk_mlp_has_activation_buffers(&mlp) && !nk_mlp_is_quantized(&mlp));
    EXPECT(info.kind == NK_NETWORK_MLP && info.input_elements == 2 && info.output_elements == 2 && info.version == 3);
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(is_close(output_values[0], 3.0f) && is_close(output_values[1], 3.0f));
    /* The layers of a loaded network stay, and so do its buffers. */
    nk_tensor_t weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &arena, 1));
    EXPECT_STATUS(nk_mlp_init_activation_buffers(&mlp, &arena, 2), NK_ERR_LAYER_CONFIG);
    /* No room beside the arena_bytes of the plan and what the header names. */
    nk_memory_plan_t plan = plan_of(&file);
    for (size_t offset = 0; offset < 8; offset++) {
        nk_arena_init(&arena, memory + offset, plan.arena_bytes + 256);
        EXPECT_OK(nk_mlp_load_memory(file.bytes, file.size, &arena, &mlp, NULL));
        EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
        EXPECT(is_close(output_values[0], 3.0f) && is_close(output_values[1], 3.0f));
    }
    /* At an odd address, where the weights are copied. */
    memmove(memory + 65537, file.bytes, file.size);
    nk_arena_init(&arena, memory, 65536);
    EXPECT_OK(nk_mlp_load_memory(memory + 65537, file.size, &arena, &mlp, NULL));
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(is_close(output_values[0], 3.0f) && is_close(output_values[1], 3.0f));
    free(file.bytes);
    /* A file goes with its arena. */
    EXPECT_OK(nk_mlp_load("models/test_mlp.nk", &arena, &mlp, NULL));
    nk_arena_reset(&arena);
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_MODEL_NOT_LOADED);
}

static void loads_int8(void) {
    static int8_t in[256], out[10], wanted[10];
    nk_mlp_t mlp;
    nk_model_t model;
    nk_tensor_t input, output, wrong = floats(input_values, 1, 2);
    uint32_t count;
    fresh();
    if (!EXPECT_OK(nk_mlp_load("models/digits_mlp_int8.nk", &arena, &mlp, NULL)) ||
        !EXPECT_OK(nk_load("models/digits_mlp_int8.nk", &arena, &model))) {
        return;
    }
    EXPECT(nk_mlp_is_quantized(&mlp));
    fill_model_input(&model, in, 3);
    nk_tensor_view_2d_int8(in, 1, 256, &input);
    nk_tensor_view_2d_int8(out, 1, 10, &output);
    for (int omit = 0; omit < 2; omit++) {
        nk_mlp_set_omit_final_softmax(&mlp, omit == 1);
        nk_model_set_omit_final_softmax(&model, omit == 1);
        EXPECT(nk_mlp_omit_final_softmax(&mlp) == (omit == 1));
        EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
        EXPECT_OK(nk_model_run_int8(&model, &arena, in, 256, wanted, 10, &count));
        EXPECT(memcmp(out, wanted, sizeof out) == 0);
    }
    EXPECT_STATUS(nk_mlp_forward(&mlp, &arena, &wrong, &output), NK_ERR_INVALID_ARGUMENT);
}

static void loading_is_refused(void) {
    nk_mlp_t mlp, before;
    nk_arch_info_t info;
    model_file file = need_model("models/test_mlp.nk"), other = need_model("models/test_cnn.nk");
    nk_tensor_t input = floats(input_values, 1, 2), output = floats(output_values, 1, 2);
    fresh();
    memset(&info, 0x5A, sizeof info);
    EXPECT_OK(nk_mlp_load("models/test_mlp.nk", &arena, &mlp, NULL));
    before = mlp;
    size_t used = nk_arena_used(&arena);
    EXPECT_STATUS(nk_mlp_load(NULL, &arena, &mlp, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load("models/test_mlp.nk", NULL, &mlp, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load("models/test_mlp.nk", &arena, NULL, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load_memory(NULL, 8, &arena, &mlp, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, 0, &arena, &mlp, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, file.size, NULL, &mlp, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, file.size, &arena, NULL, &info), NK_ERR_INVALID_ARGUMENT);
    /* From memory the handle survives what is no MLP. */
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, 40, &arena, &mlp, &info), NK_ERR_MODEL_PARSE);
    EXPECT_STATUS(nk_mlp_load_memory(other.bytes, other.size, &arena, &mlp, &info), NK_ERR_UNSUPPORTED_NETWORK);
    EXPECT(nk_last_error()[0] != '\0');
    EXPECT(memcmp(&mlp, &before, sizeof mlp) == 0);
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    /* Not what cannot be placed. */
    nk_arena_t small;
    static unsigned char little[512];
    nk_arena_init(&small, little, sizeof little);
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, file.size, &small, &mlp, &info), NK_ERR_ARENA_OVERFLOW);
    EXPECT(all_bytes(&mlp, sizeof mlp, 0) && nk_arena_used(&small) == 0);
    /* From a file it is empty after any failure. */
    static const struct { const char *path; nk_status_t status; } bad[] = {
        {"models/no_such_model.nk", NK_ERR_MODEL_OPEN},
        {"models/README.md", NK_ERR_MODEL_PARSE},
        {"models/test_cnn.nk", NK_ERR_UNSUPPORTED_NETWORK},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mlp = before;
        EXPECT_STATUS(nk_mlp_load(bad[i].path, &arena, &mlp, &info), bad[i].status);
        EXPECT(all_bytes(&mlp, sizeof mlp, 0));
    }
    EXPECT(nk_arena_used(&arena) == used && all_bytes(&info, sizeof info, 0x5A));
    EXPECT_OK(nk_mlp_forward(&before, &arena, &input, &output));
    free(file.bytes);
    free(other.bytes);
}

static void loads_either(void) {
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_arch_info_t info;
    nk_network_kind_t kind = NK_NETWORK_UNKNOWN;
    fresh();
    memset(&mlp, 0x5A, sizeof mlp);
    memset(&cnn, 0x5A, sizeof cnn);
    EXPECT_OK(nk_model_load_auto("models/test_mlp.nk", &arena, &kind, &mlp, &cnn, &info));
    EXPECT(kind == NK_NETWORK_MLP && nk_mlp_is_valid(&mlp) && all_bytes(&cnn, sizeof cnn, 0x5A));
    EXPECT(info.kind == NK_NETWORK_MLP && info.input_elements == 2);
    EXPECT_OK(nk_model_load_auto("models/test_cnn.nk", &arena, &kind, &mlp, &cnn, NULL));
    EXPECT(kind == NK_NETWORK_CNN && nk_cnn_is_valid(&cnn) && nk_mlp_is_valid(&mlp));
    EXPECT_OK(nk_model_load_auto("models/test_cnn.nk", &arena, &kind, NULL, NULL, NULL));
    /* Nothing changes on a failure. */
    nk_mlp_t old_mlp = mlp;
    nk_cnn_t old_cnn = cnn;
    size_t used = nk_arena_used(&arena);
    memset(&info, 0x5A, sizeof info);
    EXPECT_STATUS(nk_model_load_auto(NULL, &arena, &kind, &mlp, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_load_auto("models/test_mlp.nk", NULL, &kind, &mlp, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_load_auto("models/test_mlp.nk", &arena, NULL, &mlp, &cnn, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_load_auto("models/none.nk", &arena, &kind, &mlp, &cnn, &info), NK_ERR_MODEL_OPEN);
    EXPECT_STATUS(nk_model_load_auto("models/README.md", &arena, &kind, &mlp, &cnn, &info), NK_ERR_MODEL_PARSE);
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_STATUS(nk_model_load_auto("models/test_mlp.nk", &none, &kind, &mlp, &cnn, &info), NK_ERR_ARENA_OVERFLOW);
    EXPECT(kind == NK_NETWORK_CNN && memcmp(&mlp, &old_mlp, sizeof mlp) == 0 && memcmp(&cnn, &old_cnn, sizeof cnn) == 0);
    EXPECT(nk_arena_used(&arena) == used && all_bytes(&info, sizeof info, 0x5A));
}

/* A kind that nobody knows. */
static void loads_unknown_kind(void) {
    model_file file = need_model("models/test_mlp.nk");
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    fresh();
    file.bytes[8] = 7;
    EXPECT_STATUS(nk_mlp_load_memory(file.bytes, file.size, &arena, &mlp, NULL), NK_ERR_UNSUPPORTED_NETWORK);
    EXPECT_STATUS(nk_cnn_load_memory(file.bytes, file.size, &arena, &cnn, NULL), NK_ERR_UNSUPPORTED_NETWORK);
    char path[] = "unknown_kind_XXXXXX";
    int descriptor = mkstemp(path);
    FILE *stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (EXPECT(stream != NULL)) {
        nk_network_kind_t kind = NK_NETWORK_UNKNOWN;
        fwrite(file.bytes, 1, file.size, stream);
        fclose(stream);
        EXPECT_STATUS(nk_model_load_auto(path, &arena, &kind, &mlp, &cnn, NULL), NK_ERR_LAYER_CONFIG);
        remove(path);
    }
    EXPECT(nk_arena_used(&arena) == 0);
    free(file.bytes);
}

/* Every float MLP: built by hand from its own weights it gives what it gives when it is loaded, bit by bit. */
static void same_as_loaded(const model_file *file) {
    nk_mlp_t hand, loaded;
    nk_arch_info_t info;
    if (is_int8_model(file) || file->bytes[8] != 1) {
        return;
    }
    fresh();
    if (!EXPECT_OK(nk_mlp_load_memory(file->bytes, file->size, &arena, &loaded, &info)) ||
        !describe_mlp(file, &arena, &hand)) {
        return;
    }
    EXPECT_OK(nk_mlp_init_activation_buffers(&hand, &arena, info.input_shape[0]));
    float *in = (float *)must_alloc(info.input_elements * sizeof(float));
    float *a = (float *)must_alloc(info.output_elements * sizeof(float));
    float *b = (float *)must_alloc(info.output_elements * sizeof(float));
    nk_tensor_t input = floats(in, info.input_shape[0], info.input_shape[1]);
    nk_tensor_t out_a = floats(a, 1, info.output_elements), out_b = floats(b, 1, info.output_elements);
    fill_input(in, info.input_elements, 11);
    EXPECT_OK(nk_mlp_forward(&hand, &arena, &input, &out_a));
    EXPECT_OK(nk_mlp_forward(&loaded, &arena, &input, &out_b));
    EXPECT(memcmp(a, b, info.output_elements * sizeof(float)) == 0);
    free(in);
    free(a);
    free(b);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(by_hand);
        RUN(one_layer);
        RUN(batches);
        RUN(softmax_on_demand);
        RUN(create_is_refused);
        RUN(layers_are_refused);
        RUN(buffers_are_refused);
        RUN(forward_is_refused);
        RUN(queries_without_network);
        RUN(loads);
        RUN(loads_int8);
        RUN(loading_is_refused);
        RUN(loads_either);
        RUN(loads_unknown_kind);
    }
    for_each_model(argc, argv, "same_as_loaded", same_as_loaded);
    return report();
}
