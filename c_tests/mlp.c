/* MLPs built by hand, in their normal and in every error case. */
#include "mlp_parts.h"

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
    EXPECT_ERROR(nk_mlp_forward(&mlp, &none, &input, &output), NK_ERR_ARENA_OVERFLOW, "free arena memory");
}

/* A first run that fails gives the buffers back that it took. */
static void one_layer_that_cannot_run(void) {
    nk_mlp_t mlp;
    nk_tensor_t weights = floats(identity, 2, 2), bias = floats(zeros, 1, 2), input = floats(input_values, 1, 2);
    nk_tensor_t output = floats(output_values, 1, 2), none = floats(NULL, 1, 2), little = floats(output_values, 1, 1);
    nk_tensor_t odd = floats(input_values, 1, 1);
    fresh();
    EXPECT_OK(nk_mlp_create(&arena, 1, &mlp));
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0.0f));
    size_t used = nk_arena_used(&arena);
    memset(output_values, 0x5A, sizeof output_values);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &odd, &output), NK_ERR_INVALID_ARGUMENT, "is 1, expected 2");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &none, &output), NK_ERR_INVALID_ARGUMENT, "input has no data");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &none), NK_ERR_INVALID_ARGUMENT, "output has no data");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &little), NK_ERR_BUFFER_TOO_SMALL, "expected at least 2");
    EXPECT(nk_arena_used(&arena) == used && nk_arena_peak(&arena) > used);
    EXPECT(all_bytes(output_values, sizeof output_values, 0x5A));
    EXPECT_OK(nk_mlp_forward(&mlp, &arena, &input, &output));
    EXPECT(nk_arena_used(&arena) > used && output_values[0] == 1.0f && output_values[1] == 2.0f);
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
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT, "is 6, expected 4");
    input = floats(rows, 2, 2);
    output = floats(out, 1, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_BUFFER_TOO_SMALL, "is 2, expected at least 4");
}

/* Batches of which only a later one lies where it must not: the first one is not run either. */
static void later_batches_are_refused(void) {
    static _Alignas(16) unsigned char room[8192];
    float rows[6] = {1, 2, 3, 4, 5, 6};
    nk_mlp_t mlp;
    nk_arena_t buffers;
    fresh();
    /* The weights and behind them the buffers, each in front of which there is room for one batch. */
    nk_arena_init(&buffers, room + 16, sizeof room - 16);
    if (!two_identities(&mlp, NK_ACTIVATION_NONE) || !EXPECT_OK(nk_mlp_init_activation_buffers(&mlp, &buffers, 1))) {
        return;
    }
    bool is_refused = false;
    for (size_t at = 4; at + 16 <= 16 + nk_arena_used(&buffers); at += 4) {
        nk_tensor_t apart = floats(rows, 2, 2), inside = floats((float *)(void *)(room + at), 2, 2);
        if (at > 4) {
            EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &apart, &inside), NK_ERR_INVALID_ARGUMENT, "memory of the model");
        }
        /* Weights may be read as an input, buffers may not. */
        memset(rows, 0x5A, 16);
        nk_status_t status = nk_mlp_forward(&mlp, &arena, &inside, &apart);
        EXPECT(is_refused ? status == NK_ERR_INVALID_ARGUMENT : status == NK_OK || status == NK_ERR_INVALID_ARGUMENT);
        is_refused = status != NK_OK;
        EXPECT(!is_refused || all_bytes(rows, 16, 0x5A));
    }
    EXPECT(is_refused && all_bytes(room, 16, 0));
    rows[0] = 1, rows[1] = 2, rows[2] = 3, rows[3] = 4;
    nk_tensor_t input = floats(rows, 2, 2), output = floats(rows + 2, 2, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &output), NK_ERR_INVALID_ARGUMENT, "input and output overlap");
    EXPECT(rows[2] == 3 && rows[4] == 5);
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
    };
    nk_mlp_t mlp;
    nk_arena_t small;
    fresh();
    EXPECT_ERROR(nk_mlp_create(&arena, 1, NULL), NK_ERR_INVALID_ARGUMENT, "mlp is NULL");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(&mlp, 0xA5, sizeof mlp);
        EXPECT_ERROR(nk_mlp_create(cases[i].in, cases[i].layers, &mlp), cases[i].status, cases[i].text);
        EXPECT_THAT(all_bytes(&mlp, sizeof mlp, 0) && !nk_mlp_is_valid(&mlp), "case %zu", i);
    }
    EXPECT(nk_arena_used(&arena) == 0);
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
    const nk_status_t bad = NK_ERR_INVALID_ARGUMENT;
    const nk_activation_t none = NK_ACTIVATION_NONE;
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 2, &weights, &bias, none, 0), bad, "layer_idx is 2, expected at most 1");
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, UINT32_MAX, &weights, &bias, none, 0), bad, "layer_idx");
    tensor = floats(NULL, 2, 2);
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "weights has no data");
    tensor = floats(NULL, 1, 2);
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, none, 0), bad, "bias has no data");
    tensor = floats(identity, 0, 2);
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "empty or too large");
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, none, 0), bad, "empty or too large");
    tensor = floats(zeros, 1, 3);
    EXPECT_STATUS(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, NK_ACTIVATION_NONE, 0), NK_ERR_WEIGHT_MISMATCH);
    nk_error_info_t info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.layer_index == 0 && info.needed == 2 && info.available == 3);
    nk_tensor_view_2d_int8(bytes, 2, 2, &tensor);
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "tensors of floats");
    nk_tensor_view_2d_int8(bytes, 1, 2, &tensor);
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &weights, &tensor, none, 0), bad, "tensors of floats");
    tensor = weights;
    tensor.stride[0] = 3;
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "follow each other");
    tensor.rank = 1, tensor.stride[0] = 1;
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "rank 2: [out_features, in_features]");
    tensor.rank = 5;
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "rank of the tensor is 5");
    tensor.rank = 0;
    EXPECT_ERROR(nk_mlp_init_layer(&mlp, 0, &tensor, &bias, none, 0), bad, "rank of the tensor is 0");
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
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 0), NK_ERR_INVALID_ARGUMENT, "batch_rows is 0");
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, UINT32_MAX), NK_ERR_LAYER_CONFIG, "large");
    /* Layers that do not fit each other. */
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &wide, &three, NK_ACTIVATION_NONE, 0));
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_WEIGHT_MISMATCH, "layer 1 (dense): ");
    nk_tensor_t nan_weights = floats(bad, 2, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &nan_weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT, "layer 1 (dense): ");
    nk_tensor_t nan_bias = floats(bad + 2, 1, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &nan_bias, NK_ACTIVATION_NONE, 0));
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT, "layer 0 (dense): ");
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT(nk_arena_used(&arena) == used && !nk_mlp_has_activation_buffers(&mlp));
    /* Weights where the arena would put its own things. */
    float *inside = (float *)(void *)(memory + round_up(used + 64, 16));
    memcpy(inside, identity, sizeof identity);
    nk_tensor_t free_weights = floats(inside, 2, 2);
    EXPECT_OK(nk_mlp_init_layer(&mlp, 1, &free_weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_INVALID_ARGUMENT, "free part of the arena");
    EXPECT(memcmp(inside, identity, sizeof identity) == 0);
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
    EXPECT_ERROR(nk_mlp_init_activation_buffers(&mlp, &arena, 1), NK_ERR_NOT_INITIALIZED,
                 "layer 1: this layer was not initialised");
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
    const nk_status_t bad = NK_ERR_INVALID_ARGUMENT;
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "the network is float");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), bad, "output has another type");
    tensor = floats(NULL, 1, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "input has no data");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), bad, "output has no data");
    tensor = floats(input_values, 1, 1);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "elements of input is 1, expected 2");
    tensor = floats(input_values, 0, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "empty or too large");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), bad, "empty or too large");
    tensor = floats(output_values, 1, 1);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), NK_ERR_BUFFER_TOO_SMALL, "expected at least 2");
    tensor = floats((float *)(void *)((unsigned char *)output_values + 2), 1, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "aligned to 4");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), bad, "aligned to 4");
    tensor = floats((float *)(void *)(memory + round_up(nk_arena_used(&arena) - 64, 4)), 1, 2);
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &tensor, &output), bad, "memory of the model");
    EXPECT_ERROR(nk_mlp_forward(&mlp, &arena, &input, &tensor), bad, "memory of the model");
    EXPECT(all_bytes(output_values, sizeof output_values, 0x5A));
    /* The arena argument need not be the network's, and may be empty. */
    nk_arena_t none;
    nk_arena_init(&none, NULL, 0);
    EXPECT_OK(nk_mlp_forward(&mlp, &none, &input, &output));
}

int main(void) {
    RUN(by_hand);
    RUN(one_layer);
    RUN(one_layer_that_cannot_run);
    RUN(batches);
    RUN(later_batches_are_refused);
    RUN(softmax_on_demand);
    RUN(create_is_refused);
    RUN(layers_are_refused);
    RUN(buffers_are_refused);
    RUN(forward_is_refused);
    return report();
}
