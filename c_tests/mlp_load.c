/* MLPs that are loaded, and the call that loads either kind of network. */
#include "by_hand.h"
#include "mlp_parts.h"

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
    /* The handle of the other kind is not needed, and without the right one the network is lost. */
    EXPECT_OK(nk_model_load_auto("models/test_cnn.nk", &arena, &kind, NULL, &cnn, &info));
    EXPECT_OK(nk_model_load_auto("models/test_mlp.nk", &arena, &kind, &mlp, NULL, &info));
    EXPECT_OK(nk_model_load_auto("models/test_cnn.nk", &arena, &kind, &mlp, NULL, &info));
    EXPECT(kind == NK_NETWORK_CNN && nk_cnn_is_valid(&cnn) && nk_mlp_is_valid(&mlp));
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
        RUN(loads);
        RUN(loads_int8);
        RUN(loading_is_refused);
        RUN(loads_either);
        RUN(loads_unknown_kind);
    }
    for_each_model(argc, argv, "same_as_loaded", same_as_loaded);
    return report();
}
