/* Handles that nothing was ever put into, zeros or whatever memory held: a default or a status, never a crash. Those of
 * CNNs are in cnn.c and cnn_layers.c. */
#include "check.h"

static unsigned char memory[64 * 1024];
static nk_arena_t good_arena;
static const float input[2] = {1.0f, 2.0f};
static float output[2];
static uint32_t count;
static const char mlp_path[] = "models/test_mlp.nk", cnn_path[] = "models/cnn_4x4_single.nk";

static const unsigned char fills[] = {0x00, 0x55, 0xA5, 0xFF};

/* A handle of these bytes, whatever its kind. */
#define EMPTY(handle, fill) memset(&(handle), (fill), sizeof(handle))

/* ---- arenas ---- */

static void arena_questions(unsigned char fill) {
    nk_arena_t arena;
    EMPTY(arena, fill);
    EXPECT(nk_arena_alloc(&arena, 8, 8) == NULL);
    EXPECT(nk_arena_capacity(&arena) == 0 && nk_arena_used(&arena) == 0 && nk_arena_remaining(&arena) == 0);
    EXPECT(nk_arena_mark(&arena) == 0 && nk_arena_peak(&arena) == 0);
    EXPECT_OK(nk_arena_rewind(&arena, 0));
    EXPECT_ERROR(nk_arena_rewind(&arena, 1), NK_ERR_INVALID_ARGUMENT, "mark is 1, expected at most 0");
    nk_arena_reset(&arena);
    nk_arena_destroy_heap(&arena);
    nk_arena_deinit(&arena);
    EXPECT(all_bytes(&arena, sizeof arena, fill));
}

/* The text says what is missing: nk_arena_init. */
#define EXPECT_NO_ARENA(call) EXPECT_ERROR(call, NK_ERR_ARENA_OVERFLOW, "the arena was never initialised")

static void nothing_is_loaded_into_an_empty_arena(unsigned char fill) {
    model_file mlp_file = need_model(mlp_path), cnn_file = need_model(cnn_path);
    nk_arena_t arena;
    nk_model_t model;
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_network_kind_t kind = NK_NETWORK_UNKNOWN;
    nk_inspect_info_t info;
    EMPTY(arena, fill);
    EXPECT_NO_ARENA(nk_load(mlp_path, &arena, &model));
    EXPECT_NO_ARENA(nk_model_load(mlp_path, &arena, &model));
    EXPECT_NO_ARENA(nk_load_memory(mlp_file.bytes, mlp_file.size, &arena, &model));
    EXPECT_NO_ARENA(nk_model_load_memory(mlp_file.bytes, mlp_file.size, &arena, &model));
    EXPECT_NO_ARENA(nk_load_memory_copy(mlp_file.bytes, mlp_file.size, &arena, &model));
    EXPECT_NO_ARENA(nk_inspect_model(mlp_path, &arena, &info));
    EXPECT_NO_ARENA(nk_inspect_model_memory(mlp_file.bytes, mlp_file.size, &arena, &info));
    EXPECT_NO_ARENA(nk_mlp_load(mlp_path, &arena, &mlp, NULL));
    EXPECT_NO_ARENA(nk_mlp_load_memory(mlp_file.bytes, mlp_file.size, &arena, &mlp, NULL));
    EXPECT_NO_ARENA(nk_cnn_load(cnn_path, &arena, &cnn, NULL));
    EXPECT_NO_ARENA(nk_cnn_load_memory(cnn_file.bytes, cnn_file.size, &arena, &cnn, NULL));
    /* A file loader reads info to fill it in, an empty arena does not keep it from that. */
    nk_arch_info_t arch;
    EXPECT_NO_ARENA(nk_mlp_load(mlp_path, &arena, &mlp, &arch));
    EXPECT_NO_ARENA(nk_mlp_load_memory(mlp_file.bytes, mlp_file.size, &arena, &mlp, &arch));
    EXPECT_NO_ARENA(nk_cnn_load(cnn_path, &arena, &cnn, &arch));
    EXPECT_NO_ARENA(nk_cnn_load_memory(cnn_file.bytes, cnn_file.size, &arena, &cnn, &arch));
    EXPECT_NO_ARENA(nk_model_load_auto(cnn_path, &arena, &kind, &mlp, &cnn, &arch));
    EXPECT(all_bytes(&arena, sizeof arena, fill));
    free(mlp_file.bytes);
    free(cnn_file.bytes);
}

static void nothing_is_made_in_an_empty_arena(unsigned char fill) {
    static const uint32_t shape[2] = {2, 3};
    static float ones[4] = {1, 1, 1, 1};
    nk_arena_t arena;
    nk_tensor_t tensor, weights, bias;
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    EMPTY(arena, fill);
    nk_arena_init(&good_arena, memory, sizeof memory);
    EXPECT_NO_ARENA(nk_tensor_create_2d(&arena, 2, 3, &tensor));
    EXPECT_NO_ARENA(nk_tensor_create_nd(&arena, 2, shape, &tensor));
    EXPECT_NO_ARENA(nk_mlp_create(&arena, 2, &mlp));
    EXPECT_NO_ARENA(nk_cnn_create(&arena, 2, &cnn));
    nk_tensor_view_2d(ones, 2, 2, &weights);
    nk_tensor_view_2d(ones, 1, 2, &bias);
    EXPECT_OK(nk_mlp_create(&good_arena, 1, &mlp));
    EXPECT_OK(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_NO_ARENA(nk_mlp_init_activation_buffers(&mlp, &arena, 1));
    /* A single layer takes its buffers from the arena of its first run. */
    EXPECT_NO_ARENA(nk_mlp_forward(&mlp, &arena, &bias, &weights));
    EXPECT_OK(nk_cnn_create(&good_arena, 1, &cnn));
    EXPECT_OK(nk_cnn_init_flatten_layer(&cnn, 0));
    EXPECT_NO_ARENA(nk_cnn_init_activation_buffers(&cnn, &arena, 2, 2, 1));
    EXPECT(all_bytes(&arena, sizeof arena, fill));
}

/* A run needs an arena only when its buffers overlap, and an int8 model for the integers of floats. */
static void runs_with_an_empty_arena(unsigned char fill) {
    static float floats[256], scores[10], shared[2];
    static int8_t codes[256], code_scores[10];
    nk_arena_t arena;
    nk_model_t model;
    EMPTY(arena, fill);
    nk_arena_init(&good_arena, memory, sizeof memory);
    EXPECT_OK(nk_load(mlp_path, &good_arena, &model));
    EXPECT_OK(nk_forward(&model, &arena, input, 2, output, 2, &count));
    EXPECT_OK(nk_model_run(&model, &arena, input, 2, output, 2, &count));
    EXPECT_OK(nk_model_run_auto(&model, &arena, input, 2, output, 2, &count));
    EXPECT_NO_ARENA(nk_forward(&model, &arena, shared, 2, shared, 2, &count));
    EXPECT_NO_ARENA(nk_model_run(&model, &arena, shared, 2, shared, 2, &count));
    EXPECT_NO_ARENA(nk_model_run_auto(&model, &arena, shared, 2, shared, 2, &count));
    EXPECT(shared[0] == 0 && shared[1] == 0);
    EXPECT_OK(nk_load("models/digits_mlp_int8.nk", &good_arena, &model));
    EXPECT_OK(nk_model_run_int8(&model, &arena, codes, 256, code_scores, 10, &count));
    EXPECT_NO_ARENA(nk_model_run_int8(&model, &arena, codes, 256, codes, 10, &count));
    EXPECT_NO_ARENA(nk_model_run_auto(&model, &arena, floats, 256, scores, 10, &count));
    EXPECT(all_bytes(&arena, sizeof arena, fill));
}

/* ---- models ---- */

#define EXPECT_NO_MODEL(call) EXPECT_ERROR(call, NK_ERR_MODEL_NOT_LOADED, "no model is loaded in this handle")

static int32_t never_called(void *user, const nk_layer_event_t *event) {
    (void)user;
    (void)event;
    EXPECT(false);
    return 1;
}

static void runs_of_an_empty_model(unsigned char fill) {
    static const int8_t codes[2] = {1, 2};
    static unsigned char scratch[64];
    int8_t scores[2];
    size_t written = 77;
    nk_model_t model;
    EMPTY(model, fill);
    nk_arena_init(&good_arena, memory, sizeof memory);
    memset(output, 0x5A, sizeof output);
    count = 77;
    EXPECT_NO_MODEL(nk_forward(&model, &good_arena, input, 2, output, 2, &count));
    EXPECT_NO_MODEL(nk_model_run(&model, &good_arena, input, 2, output, 2, &count));
    EXPECT_NO_MODEL(nk_model_run_auto(&model, &good_arena, input, 2, output, 2, &count));
    EXPECT_NO_MODEL(nk_model_run_int8(&model, &good_arena, codes, 2, scores, 2, &count));
    EXPECT_NO_MODEL(nk_run(&model, input, sizeof input, output, sizeof output, &written));
    EXPECT_NO_MODEL(nk_model_run_scratch(&model, scratch, sizeof scratch, input, sizeof input, output, sizeof output,
                                         &written));
    EXPECT(count == 77 && written == 77 && all_bytes(output, sizeof output, 0x5A));
}

static void questions_to_an_empty_model(unsigned char fill) {
    nk_model_t model;
    nk_arch_info_t arch;
    nk_quant_params_t quant;
    nk_layer_info_t layer;
    uint32_t rank = 0, shape[NK_MAX_TENSOR_RANK] = {0};
    EMPTY(model, fill);
    memset(&layer, 0, sizeof layer);
    layer.struct_size = (uint32_t)sizeof layer;
    EXPECT_NO_MODEL(nk_model_get_arch(&model, &arch));
    EXPECT_NO_MODEL(nk_model_input_shape(&model, &rank, shape));
    EXPECT_NO_MODEL(nk_model_output_shape(&model, &rank, shape));
    EXPECT_NO_MODEL(nk_model_input_quant(&model, &quant));
    EXPECT_NO_MODEL(nk_model_output_quant(&model, &quant));
    EXPECT_NO_MODEL(nk_model_layer_info(&model, 0, &layer));
    EXPECT_NO_MODEL(nk_model_set_layer_hook(&model, never_called, &count));
    EXPECT(nk_model_kind(&model) == NK_NETWORK_UNKNOWN && !nk_model_is_quantized(&model));
    EXPECT(nk_model_input_count(&model) == 0 && nk_model_output_count(&model) == 0);
    EXPECT(nk_model_input_dtype(&model) == NK_DTYPE_FLOAT32 && nk_model_output_dtype(&model) == NK_DTYPE_FLOAT32);
    EXPECT(nk_model_input_bytes(&model) == 0 && nk_model_output_bytes(&model) == 0);
    EXPECT(nk_model_scratch_bytes(&model) == 0 && nk_model_scratch_align(&model) == 1);
    EXPECT(nk_model_layer_count(&model) == 0);
    nk_model_set_omit_final_softmax(&model, true);
    EXPECT(!nk_model_omit_final_softmax(&model));
    nk_unload(&model);
    EXPECT(all_bytes(&model, sizeof model, fill));
}

/* ---- MLPs ---- */

#define EXPECT_NO_MLP(call) EXPECT_ERROR(call, NK_ERR_INVALID_ARGUMENT, "mlp is NULL or holds no network")

static void an_mlp_is_needed(nk_mlp_t *mlp) {
    static float ones[4] = {1, 1, 1, 1};
    nk_tensor_t weights, bias;
    nk_tensor_view_2d(ones, 2, 2, &weights);
    nk_tensor_view_2d(ones, 1, 2, &bias);
    EXPECT_NO_MLP(nk_mlp_init_layer(mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0));
    EXPECT_NO_MLP(nk_mlp_init_activation_buffers(mlp, &good_arena, 1));
    EXPECT_NO_MLP(nk_mlp_forward(mlp, &good_arena, &bias, &weights));
    EXPECT(!nk_mlp_is_valid(mlp) && !nk_mlp_has_activation_buffers(mlp) && !nk_mlp_is_quantized(mlp));
    nk_mlp_set_omit_final_softmax(mlp, true);
    EXPECT(!nk_mlp_omit_final_softmax(mlp));
}

static void empty_mlps(unsigned char fill) {
    nk_mlp_t mlp;
    EMPTY(mlp, fill);
    nk_arena_init(&good_arena, memory, sizeof memory);
    an_mlp_is_needed(&mlp);
    EXPECT(all_bytes(&mlp, sizeof mlp, fill) && nk_arena_used(&good_arena) == 0);
}

/* A handle of the other kind, and none. */
static void other_mlps(void) {
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_arena_init(&good_arena, memory, sizeof memory);
    EXPECT_OK(nk_cnn_create(&good_arena, 1, &cnn));
    memcpy(&mlp, &cnn, sizeof mlp);
    an_mlp_is_needed(&mlp);
    an_mlp_is_needed(NULL);
    EXPECT(nk_cnn_is_valid(&cnn));
}

/* ---- the calls that set a handle up ---- */

static void setting_up_never_reads(unsigned char fill) {
    nk_arena_t arena;
    nk_model_t model;
    EMPTY(arena, fill);
    EMPTY(model, fill);
    EXPECT_OK(nk_arena_init_heap(&arena, 32 * 1024));
    EXPECT_OK(nk_load(mlp_path, &arena, &model));
    EXPECT_OK(nk_forward(&model, &arena, input, 2, output, 2, &count));
    nk_arena_destroy_heap(&arena);
    EMPTY(arena, fill);
    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT(nk_arena_capacity(&arena) == sizeof memory && nk_arena_used(&arena) == 0);
}

static void with_every_fill(const char *name, void (*test)(unsigned char fill)) {
    check_begin();
    for (size_t i = 0; i < sizeof fills; i++) {
        test(fills[i]);
    }
    check_end(name, "");
}

#define RUN_FILLED(test) with_every_fill(#test, test)

int main(void) {
    RUN_FILLED(arena_questions);
    RUN_FILLED(nothing_is_loaded_into_an_empty_arena);
    RUN_FILLED(nothing_is_made_in_an_empty_arena);
    RUN_FILLED(runs_with_an_empty_arena);
    RUN_FILLED(runs_of_an_empty_model);
    RUN_FILLED(questions_to_an_empty_model);
    RUN_FILLED(empty_mlps);
    RUN(other_mlps);
    RUN_FILLED(setting_up_never_reads);
    return report();
}
