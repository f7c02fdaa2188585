/* Functions with NULL: a default or a status, never a crash. Those that describe CNN layers are in cnn_layers.c. */
#include "check.h"

static unsigned char memory[64 * 1024];
static const float input[2] = {1.0f, 2.0f};
static float output[2];
static uint32_t count;

/* A status with a text, as every refused call leaves one. */
#define EXPECT_REFUSED(call, status)                                                                                   \
    (nk_clear_last_error(), EXPECT_STATUS(call, status), EXPECT_THAT(nk_last_error()[0] != '\0', #call ": no text"))

static void arena_without_handle(void) {
    nk_arena_init(NULL, memory, sizeof memory);
    nk_arena_reset(NULL);
    nk_arena_destroy_heap(NULL);
    EXPECT(nk_arena_alloc(NULL, 8, 8) == NULL);
    EXPECT(nk_arena_capacity(NULL) == 0);
    EXPECT(nk_arena_used(NULL) == 0);
    EXPECT(nk_arena_remaining(NULL) == 0);
    EXPECT_REFUSED(nk_arena_init_heap(NULL, 64), NK_ERR_INVALID_ARGUMENT);
}

static void arena_without_memory(void) {
    nk_arena_t arena;
    nk_arena_init(&arena, NULL, 128);
    EXPECT(nk_arena_capacity(&arena) == 128);
    EXPECT(nk_arena_used(&arena) == 0);
    EXPECT(nk_arena_remaining(&arena) == 0);
    EXPECT(nk_arena_alloc(&arena, 1, 1) == NULL);
    nk_arena_reset(&arena);
    EXPECT_REFUSED(nk_arena_init_heap(&arena, 0), NK_ERR_ARENA_OVERFLOW);
    EXPECT_ERROR(nk_arena_init_heap(&arena, SIZE_MAX), NK_ERR_ARENA_OVERFLOW, "the heap has no such block");
    EXPECT_ERROR(nk_arena_init_heap(&arena, SIZE_MAX / 2 + 1), NK_ERR_ARENA_OVERFLOW, "the heap has no such block");
    if (sizeof(size_t) == 8) { /* in 32 bits that much may be there */
        EXPECT_ERROR(nk_arena_init_heap(&arena, SIZE_MAX / 2), NK_ERR_ARENA_OVERFLOW, "the heap has no such block");
    }
    EXPECT(nk_arena_capacity(&arena) == 128); /* the handle stays */
    nk_arena_destroy_heap(&arena);
    nk_arena_destroy_heap(&arena);
    EXPECT(nk_arena_capacity(&arena) == 0);
}

static void arena_refuses_odd_requests(void) {
    nk_arena_t arena;
    nk_arena_init(&arena, memory, 256);
    EXPECT(nk_arena_alloc(&arena, 0, 8) == NULL);
    EXPECT(nk_arena_alloc(&arena, 8, 0) == NULL);
    EXPECT(nk_arena_alloc(&arena, 8, 3) == NULL);
    EXPECT(nk_arena_alloc(&arena, 257, 1) == NULL);
    EXPECT(nk_arena_alloc(&arena, SIZE_MAX, 1) == NULL);
    EXPECT(nk_arena_alloc(&arena, 1, SIZE_MAX / 2 + 1) == NULL);
    EXPECT(nk_arena_used(&arena) == 0);
}

static void load(void) {
    model_file file = need_model("models/test_mlp.nk");
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);

    EXPECT_REFUSED(nk_load(NULL, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_load("models/test_mlp.nk", NULL, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_load("models/test_mlp.nk", &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load(NULL, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load("models/test_mlp.nk", NULL, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load("models/test_mlp.nk", &arena, NULL), NK_ERR_INVALID_ARGUMENT);

    EXPECT_REFUSED(nk_load_memory(NULL, file.size, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_load_memory(file.bytes, 0, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_load_memory(file.bytes, file.size, NULL, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_load_memory(file.bytes, file.size, &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load_memory(NULL, file.size, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load_memory(file.bytes, 0, &arena, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load_memory(file.bytes, file.size, NULL, &model), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_load_memory(file.bytes, file.size, &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_arena_used(&arena) == 0);
    free(file.bytes);
}

static void run_with(nk_status_t (*run)(const nk_model_t *, nk_arena_t *, const float *, uint32_t, float *, uint32_t,
                                        uint32_t *)) {
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    EXPECT_REFUSED(run(NULL, &arena, input, 2, output, 2, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(run(&model, NULL, input, 2, output, 2, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(run(&model, &arena, NULL, 2, output, 2, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(run(&model, &arena, input, 2, NULL, 2, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(run(&model, &arena, input, 2, output, 2, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(run(&model, &arena, input, 2, output, 2, &count));
}

static void run(void) {
    run_with(nk_forward);
    run_with(nk_model_run);
    run_with(nk_model_run_auto);
}

/* The same for int8: a loaded model, and a NULL in each place. */
static void run_int8(void) {
    static int8_t values[256], scores[16];
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/digits_mlp_int8.nk", &arena, &model))) {
        return;
    }
    EXPECT_REFUSED(nk_model_run_int8(NULL, &arena, values, 256, scores, 16, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_run_int8(&model, NULL, values, 256, scores, 16, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_run_int8(&model, &arena, NULL, 256, scores, 16, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_run_int8(&model, &arena, values, 256, NULL, 16, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_run_int8(&model, &arena, values, 256, scores, 16, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_OK(nk_model_run_int8(&model, &arena, values, 256, scores, 16, &count));
}

static void getters(void) {
    nk_arch_info_t arch;
    nk_quant_params_t quant;
    uint32_t rank, shape[NK_MAX_TENSOR_RANK];
    EXPECT_REFUSED(nk_model_get_arch(NULL, &arch), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_model_input_count(NULL) == 0);
    EXPECT(nk_model_output_count(NULL) == 0);
    EXPECT(nk_model_kind(NULL) == NK_NETWORK_UNKNOWN);
    EXPECT(!nk_model_is_quantized(NULL));
    EXPECT_REFUSED(nk_model_input_shape(NULL, &rank, shape), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_output_shape(NULL, &rank, shape), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_model_input_dtype(NULL) == NK_DTYPE_FLOAT32 && nk_model_output_dtype(NULL) == NK_DTYPE_FLOAT32);
    EXPECT(nk_model_input_bytes(NULL) == 0 && nk_model_output_bytes(NULL) == 0);
    EXPECT_REFUSED(nk_model_input_quant(NULL, &quant), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_output_quant(NULL, &quant), NK_ERR_INVALID_ARGUMENT);
    nk_model_set_omit_final_softmax(NULL, true);
    EXPECT(!nk_model_omit_final_softmax(NULL));
    nk_unload(NULL);
}

static void getters_without_result(void) {
    nk_arena_t arena;
    nk_model_t model;
    uint32_t rank, shape[NK_MAX_TENSOR_RANK];
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    EXPECT_REFUSED(nk_model_get_arch(&model, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_input_shape(&model, NULL, shape), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_input_shape(&model, &rank, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_output_shape(&model, NULL, shape), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_output_shape(&model, &rank, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_input_quant(&model, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_model_output_quant(&model, NULL), NK_ERR_INVALID_ARGUMENT);
}

static void parse_plan_inspect(void) {
    model_file file = need_model("models/test_mlp.nk");
    nk_arena_t arena;
    nk_arch_info_t arch;
    nk_inspect_info_t info;
    nk_memory_plan_t plan;
    nk_arena_init(&arena, memory, sizeof memory);
    plan.struct_size = (uint32_t)sizeof plan;

    EXPECT_REFUSED(nk_parse_architecture(NULL, &arch), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_parse_architecture("models/test_mlp.nk", NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_parse_architecture_memory(NULL, file.size, &arch), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_parse_architecture_memory(file.bytes, 0, &arch), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_parse_architecture_memory(file.bytes, file.size, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_arch_print(NULL), NK_ERR_INVALID_ARGUMENT);

    EXPECT_REFUSED(nk_plan_memory(NULL, file.size, &plan), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_plan_memory(file.bytes, 0, &plan), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_plan_memory(file.bytes, file.size, NULL), NK_ERR_INVALID_ARGUMENT);
    plan.struct_size = 0;
    EXPECT_REFUSED(nk_plan_memory(file.bytes, file.size, &plan), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_recommended_arena_bytes(NULL) == 0);
    EXPECT(nk_recommended_arena_bytes_memory(NULL, file.size) == 0);
    EXPECT(nk_recommended_arena_bytes_memory(file.bytes, 0) == 0);

    EXPECT_REFUSED(nk_inspect_model(NULL, &arena, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model("models/test_mlp.nk", NULL, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model("models/test_mlp.nk", &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model_memory(NULL, file.size, &arena, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model_memory(file.bytes, 0, &arena, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model_memory(file.bytes, file.size, NULL, &info), NK_ERR_INVALID_ARGUMENT);
    EXPECT_REFUSED(nk_inspect_model_memory(file.bytes, file.size, &arena, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_arena_used(&arena) == 0);
    free(file.bytes);
}

static void views(void) {
    float reals[2];
    int8_t codes[6];
    int32_t words[1];
    nk_tensor_t tensor;
    nk_tensor_view_2d(reals, 1, 2, NULL);
    nk_tensor_view_2d_int8(codes, 1, 2, NULL);
    nk_tensor_view_3d_int8(codes, 1, 2, 3, NULL);
    nk_tensor_view_1d_int32(words, 1, NULL);
    /* A view of nothing has a shape all the same. */
    nk_tensor_view_2d(NULL, 3, 2, &tensor);
    EXPECT(tensor.data == NULL && tensor.dtype == NK_DTYPE_FLOAT32 && tensor.num_elements == 6 && tensor.bytes == 24);
    nk_tensor_view_2d_int8(NULL, 3, 2, &tensor);
    EXPECT(tensor.data == NULL && tensor.dtype == NK_DTYPE_INT8 && tensor.num_elements == 6 && tensor.bytes == 6);
    nk_tensor_view_3d_int8(NULL, 1, 2, 3, &tensor);
    EXPECT(tensor.data == NULL && tensor.dtype == NK_DTYPE_INT8 && tensor.rank == 3 && tensor.num_elements == 6);
    nk_tensor_view_1d_int32(NULL, 7, &tensor);
    EXPECT(tensor.data == NULL && tensor.dtype == NK_DTYPE_INT32 && tensor.rank == 2 && tensor.num_elements == 7);
}

static void accessors(void) {
    EXPECT(nk_tensor_data_f32(NULL) == NULL && nk_tensor_data_f32_const(NULL) == NULL);
    EXPECT(nk_tensor_data_i8(NULL) == NULL && nk_tensor_data_i8_const(NULL) == NULL);
    EXPECT(nk_tensor_data_i32(NULL) == NULL && nk_tensor_data_i32_const(NULL) == NULL);
    EXPECT(nk_tensor_index_nhwc(NULL, 1, 2, 3) == 0);
}

static void conversions(void) {
    const nk_quant_params_t quant = {0.5f, 0};
    const float floats[2] = {1.0f, 2.0f};
    const int8_t codes[2] = {1, 2};
    float float_result = 7.0f;
    int8_t code_result = 7;
    nk_quantize_f32(NULL, &code_result, 1, quant);
    nk_quantize_f32(floats, NULL, 2, quant);
    nk_quantize_f32(floats, &code_result, 0, quant);
    nk_dequantize_i8(NULL, &float_result, 1, quant);
    nk_dequantize_i8(codes, NULL, 2, quant);
    nk_dequantize_i8(codes, &float_result, 0, quant);
    EXPECT(code_result == 7 && float_result == 7.0f);
    EXPECT(nk_argmax_i8(NULL, 3) == 0 && nk_argmax_i8(codes, 0) == 0);
}

static void the_rest(void) {
    const float values[2] = {1.0f, 2.0f};
    EXPECT(nk_argmax_f32(NULL, 3) == 0);
    EXPECT(nk_argmax_f32(values, 0) == 0);
    EXPECT_STATUS(nk_last_error_info(NULL), NK_ERR_INVALID_ARGUMENT);
    nk_last_error_copy(NULL, 0);
    nk_last_error_copy(NULL, 16);
    nk_test_summary_t summary = nk_run_model_tests(NULL);
    EXPECT(summary.passed == 0 && summary.failed == 1);
}

int main(void) {
    RUN(arena_without_handle);
    RUN(arena_without_memory);
    RUN(arena_refuses_odd_requests);
    RUN(load);
    RUN(run);
    RUN(run_int8);
    RUN(getters);
    RUN(getters_without_result);
    RUN(parse_plan_inspect);
    RUN(views);
    RUN(accessors);
    RUN(conversions);
    RUN(the_rest);
    return report();
}
