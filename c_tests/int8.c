/* int8 models: runs, questions, conversions, the softmax at the end, and views of integers. */
#include "check.h"

enum { MOST_VALUES = 4096 };

static _Alignas(16) unsigned char memory[512 * 1024];
static float floats[MOST_VALUES], other_floats[MOST_VALUES];
static int8_t codes[MOST_VALUES], other_codes[MOST_VALUES];

static const char mlp_path[] = "models/digits_mlp_int8.nk", cnn_path[] = "models/digits_cnn_int8.nk";

/* ---- runs ---- */

static void loads_and_runs(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_quant_params_t quant;
    uint32_t count = 0, rank = 0, shape[NK_MAX_TENSOR_RANK];
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(cnn_path, &arena, &model))) {
        return;
    }
    EXPECT(nk_model_is_quantized(&model) && nk_model_kind(&model) == NK_NETWORK_CNN);
    EXPECT(nk_model_input_count(&model) == 256 && nk_model_output_count(&model) == 10);
    EXPECT(nk_model_input_bytes(&model) == 256 && nk_model_output_bytes(&model) == 10);
    EXPECT(nk_model_input_dtype(&model) == NK_DTYPE_INT8 && nk_model_output_dtype(&model) == NK_DTYPE_INT8);
    EXPECT_OK(nk_model_input_shape(&model, &rank, shape));
    EXPECT(rank == 3 && shape[0] == 16 && shape[1] == 16 && shape[2] == 1 && shape[3] == 0);
    EXPECT_OK(nk_model_output_shape(&model, &rank, shape));
    EXPECT(rank == 2 && shape[0] == 1 && shape[1] == 10 && shape[2] == 0 && shape[3] == 0);
    EXPECT_OK(nk_model_output_quant(&model, &quant));
    EXPECT(quant.scale == 1.0f / 256.0f && quant.zero_point == -128); /* a softmax */
    fill_model_input(&model, codes, 1);
    EXPECT_OK(nk_model_run_int8(&model, &arena, codes, 256, other_codes, 10, &count));
    EXPECT(count == 10);

    size_t used = nk_arena_used(&arena);
    EXPECT_OK(nk_load("models/digits_cnn.nk", &arena, &model));
    EXPECT(nk_arena_used(&arena) > used);
    EXPECT(nk_model_input_bytes(&model) == 1024 && nk_model_output_bytes(&model) == 40);
    EXPECT(nk_model_input_dtype(&model) == NK_DTYPE_FLOAT32 && nk_model_output_dtype(&model) == NK_DTYPE_FLOAT32);
}

/* Which kind of model it is gets decided before a buffer or a count is looked at: these buffers are far too small, and
 * all are the same. */
static void the_wrong_kind_of_run(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_quant_params_t quant = {7.0f, 7};
    uint32_t count = 77;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(mlp_path, &arena, &model))) {
        return;
    }
    float *bogus_floats = (float *)(void *)&count;
    EXPECT_STATUS(nk_forward(&model, &arena, bogus_floats, 256, bogus_floats, 10, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT(strstr(nk_last_error(), "int8") != NULL);
    EXPECT_STATUS(nk_model_run(&model, &arena, bogus_floats, 1, bogus_floats, 0, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT(count == 77);

    if (!EXPECT_OK(nk_load("models/test_mlp.nk", &arena, &model))) {
        return;
    }
    int8_t *bogus = (int8_t *)&count;
    EXPECT_STATUS(nk_model_run_int8(&model, &arena, bogus, 2, bogus, 2, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT(strstr(nk_last_error(), "float") != NULL);
    EXPECT_STATUS(nk_model_run_int8(&model, &arena, bogus, 9, bogus, 0, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_input_quant(&model, &quant), NK_ERR_INVALID_ARGUMENT);
    EXPECT_STATUS(nk_model_output_quant(&model, &quant), NK_ERR_INVALID_ARGUMENT);
    EXPECT(nk_last_error()[0] != '\0');
    EXPECT(count == 77 && quant.scale == 7.0f && quant.zero_point == 7);
}

static void wrong_counts_are_refused(void) {
    nk_arena_t arena;
    nk_model_t model;
    uint32_t count = 77;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(mlp_path, &arena, &model))) {
        return;
    }
    memset(other_codes, 0x5A, sizeof other_codes);
    EXPECT_ERROR(nk_model_run_int8(&model, &arena, codes, 255, other_codes, 9, &count), NK_ERR_INVALID_ARGUMENT,
                 "input_count is 255, expected 256");
    EXPECT_ERROR(nk_model_run_int8(&model, &arena, codes, 257, other_codes, 10, &count), NK_ERR_INVALID_ARGUMENT,
                 "input_count is 257, expected 256");
    EXPECT_ERROR(nk_model_run_int8(&model, &arena, codes, 256, other_codes, 9, &count), NK_ERR_BUFFER_TOO_SMALL,
                 "output_capacity is 9, expected at least 10");
    EXPECT_ERROR(nk_model_run_int8(&model, &arena, codes, 256, (int8_t *)memory, 10, &count),
                  NK_ERR_INVALID_ARGUMENT, "memory of the model");
    EXPECT(count == 77 && all_bytes(other_codes, sizeof other_codes, 0x5A));
    nk_arena_reset(&arena);
    EXPECT_STATUS(nk_model_run_int8(&model, &arena, codes, 1, other_codes, 0, &count), NK_ERR_MODEL_NOT_LOADED);
    EXPECT(nk_model_is_quantized(&model) && nk_model_input_bytes(&model) == 256);
}

/* Values of a public network, where it lies beside this repository: all zeros as input, the logits as output. */
static void public_networks(void) {
    static const struct {
        const char *path;
        uint32_t largest;
        int8_t logits[10];
    } networks[] = {
        {"../shared/models/netkit/mnist_mlp_int8.nk", 3, {-11, -36, 8, 11, -77, 5, -8, -4, -8, -46}},
        {"../shared/models/netkit/mnist_cnn_int8.nk", 0, {1, 0, -1, -3, 1, -1, -1, -2, -1, -1}},
    };
    for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        model_file file;
        nk_arena_t arena;
        nk_model_t model;
        if (!read_model(networks[i].path, &file)) {
            continue;
        }
        nk_arena_init(&arena, memory, sizeof memory);
        if (EXPECT_OK(nk_load_memory(file.bytes, file.size, &arena, &model)) &&
            EXPECT(nk_model_input_count(&model) == 784 && nk_model_output_count(&model) == 10)) {
            memset(codes, 0, 784);
            EXPECT_OK(run_model(&model, &arena, codes, other_codes));
            EXPECT(nk_argmax_i8(other_codes, 10) == networks[i].largest);
            nk_model_set_omit_final_softmax(&model, true);
            EXPECT_OK(run_model(&model, &arena, codes, other_codes));
            EXPECT_THAT(memcmp(other_codes, networks[i].logits, 10) == 0, "%s", networks[i].path);
        }
        free(file.bytes);
    }
}

/* ---- the softmax at the end ---- */

/* The softmax of `count` reals is `wanted`, within `tolerance`. */
static bool softmax_gives(const float *logits, const float *wanted, uint32_t count, float tolerance) {
    float largest = logits[nk_argmax_f32(logits, count)], sum = 0.0f;
    bool right = true;
    for (uint32_t i = 0; i < count; i++) {
        sum += expf(logits[i] - largest);
    }
    for (uint32_t i = 0; i < count; i++) {
        right = right && fabsf(expf(logits[i] - largest) / sum - wanted[i]) <= tolerance;
    }
    return right;
}

/* Float and int8, MLP and CNN; the copy of the handle sees the setting. */
static void logits_on_demand(void) {
    static const char *const paths[] = {"models/digits_mlp.nk", "models/digits_cnn.nk", mlp_path, cnn_path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        nk_arena_t arena;
        nk_model_t model, copy;
        float logits[10], probabilities[10], again[10];
        uint32_t count = 0;
        nk_arena_init(&arena, memory, sizeof memory);
        if (!EXPECT_OK(nk_load(paths[i], &arena, &model))) {
            return;
        }
        copy = model;
        fill_input(floats, 256, 5);
        EXPECT(!nk_model_omit_final_softmax(&model));
        EXPECT_OK(nk_model_run_auto(&model, &arena, floats, 256, probabilities, 10, &count));
        nk_model_set_omit_final_softmax(&model, true);
        EXPECT(nk_model_omit_final_softmax(&model) && nk_model_omit_final_softmax(&copy));
        EXPECT_OK(nk_model_run_auto(&copy, &arena, floats, 256, logits, 10, &count));
        EXPECT(nk_argmax_f32(logits, 10) == nk_argmax_f32(probabilities, 10));
        float tolerance = nk_model_is_quantized(&model) ? 1.0f / 256.0f : 1e-5f;
        EXPECT_THAT(softmax_gives(logits, probabilities, 10, tolerance), "%s", paths[i]);
        nk_model_set_omit_final_softmax(&copy, false);
        EXPECT(!nk_model_omit_final_softmax(&model));
        EXPECT_OK(nk_model_run_auto(&model, &arena, floats, 256, again, 10, &count));
        EXPECT(memcmp(again, probabilities, sizeof again) == 0);
    }
}

/* Logits have a scale of their own, which the question follows. */
static void logits_have_their_own_scale(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_quant_params_t softmax, logits, again;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(mlp_path, &arena, &model))) {
        return;
    }
    EXPECT_OK(nk_model_output_quant(&model, &softmax));
    nk_model_set_omit_final_softmax(&model, true);
    EXPECT_OK(nk_model_output_quant(&model, &logits));
    EXPECT(softmax.scale == 1.0f / 256.0f && softmax.zero_point == -128);
    EXPECT(logits.scale > softmax.scale);
    nk_arena_reset(&arena);
    EXPECT(!nk_model_omit_final_softmax(&model));
    EXPECT_OK(nk_model_output_quant(&model, &again));
    EXPECT(again.scale == softmax.scale && again.zero_point == softmax.zero_point);
    nk_model_set_omit_final_softmax(&model, true);
    EXPECT(!nk_model_omit_final_softmax(&model));

    /* Loading again starts with the softmax. */
    EXPECT_OK(nk_load(mlp_path, &arena, &model));
    EXPECT(!nk_model_omit_final_softmax(&model));
}

/* Every model: without a softmax at the end nothing changes, with one it comes back. */
static void omit_and_back(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    nk_arena_t arena;
    nk_model_t model;
    if (!EXPECT_OK(nk_arena_init_heap(&arena, plan.arena_bytes))) {
        return;
    }
    if (EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
        size_t output_bytes = nk_model_output_bytes(&model);
        unsigned char *input = (unsigned char *)must_alloc(nk_model_input_bytes(&model));
        unsigned char *before = (unsigned char *)must_alloc(output_bytes);
        unsigned char *after = (unsigned char *)must_alloc(output_bytes);
        fill_model_input(&model, input, 3);
        EXPECT_OK(run_model(&model, &arena, input, before));
        nk_model_set_omit_final_softmax(&model, true);
        bool has_softmax = nk_model_omit_final_softmax(&model);
        EXPECT_OK(run_model(&model, &arena, input, after));
        EXPECT(has_softmax || memcmp(before, after, output_bytes) == 0);
        nk_model_set_omit_final_softmax(&model, false);
        EXPECT(!nk_model_omit_final_softmax(&model));
        EXPECT_OK(run_model(&model, &arena, input, after));
        EXPECT(memcmp(before, after, output_bytes) == 0);
        free(input);
        free(before);
        free(after);
    }
    nk_arena_destroy_heap(&arena);
}

/* ---- conversions ---- */

static void quantize_at_the_edges(void) {
    const nk_quant_params_t quant = {0.5f, 3};
    static const float reals[] = {0.0f, 0.25f, -0.25f, 0.24f, 0.75f, 62.0f, 62.3f, -65.5f, -66.0f, 1e30f, -1e30f};
    static const int8_t wanted[] = {3, 4, 2, 3, 5, 127, 127, -128, -128, 127, -128};
    enum { COUNT = sizeof wanted };
    int8_t found[COUNT + 3];
    memset(found, 0x5A, sizeof found);
    nk_quantize_f32(reals, found, COUNT, quant);
    for (size_t i = 0; i < COUNT; i++) {
        EXPECT_THAT(found[i] == wanted[i], "%g becomes %d", (double)reals[i], found[i]);
    }
    EXPECT(found[COUNT] == 0x5A);
    const float special[3] = {NAN, INFINITY, -INFINITY};
    nk_quantize_f32(special, found, 3, quant);
    EXPECT(found[0] == 3 && found[1] == 127 && found[2] == -128);
}

static void dequantize_and_back(void) {
    static const nk_quant_params_t quants[] = {{1.0f, 0}, {0.1f, -128}, {1.0f / 255.0f, 127}, {3e-5f, 17}, {7e20f, -1}};
    int8_t all[256], back[256];
    float reals[257];
    for (int i = 0; i < 256; i++) {
        all[i] = (int8_t)(i - 128);
    }
    for (size_t i = 0; i < sizeof quants / sizeof quants[0]; i++) {
        reals[256] = 7.0f;
        nk_dequantize_i8(all, reals, 256, quants[i]);
        EXPECT(reals[256] == 7.0f && reals[0] == quants[i].scale * (float)(-128 - quants[i].zero_point));
        nk_quantize_f32(reals, back, 256, quants[i]);
        EXPECT_THAT(memcmp(all, back, sizeof all) == 0, "scale %g", (double)quants[i].scale);
    }
    /* Floats at any address. */
    unsigned char bytes[4 * 256 + 1];
    nk_dequantize_i8(all, (float *)(void *)(bytes + 1), 256, quants[0]);
    nk_quantize_f32((const float *)(const void *)(bytes + 1), back, 256, quants[0]);
    EXPECT(memcmp(all, back, sizeof all) == 0);
}

static void argmax(void) {
    const int8_t values[3] = {-3, 7, 2}, equal[4] = {-128, 5, 5, -1};
    EXPECT(nk_argmax_i8(values, 3) == 1);
    EXPECT(nk_argmax_i8(equal, 4) == 1);
    EXPECT(nk_argmax_i8(equal, 1) == 0 && nk_argmax_i8(equal, 0) == 0);
}

/* ---- floats in and out ---- */

/* What nk_model_run_auto must give, step by step. */
static void run_by_hand(const nk_model_t *model, nk_arena_t *arena, const float *input, float *output) {
    uint32_t inputs = nk_model_input_count(model), outputs = nk_model_output_count(model);
    nk_quant_params_t in_quant, out_quant;
    if (!nk_model_is_quantized(model)) {
        EXPECT_OK(run_model(model, arena, input, output));
        return;
    }
    EXPECT_OK(nk_model_input_quant(model, &in_quant));
    EXPECT_OK(nk_model_output_quant(model, &out_quant));
    nk_quantize_f32(input, codes, inputs, in_quant);
    EXPECT_OK(run_model(model, arena, codes, other_codes));
    nk_dequantize_i8(other_codes, output, outputs, out_quant);
}

/* Exactly the room that is documented is enough, and one byte less is not. */
static void run_auto(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    nk_arena_t arena, scratch;
    nk_model_t model;
    nk_error_info_t info;
    uint32_t count = 77;
    if (!EXPECT_OK(nk_arena_init_heap(&arena, plan.arena_bytes))) {
        return;
    }
    if (EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model)) &&
        nk_model_input_count(&model) <= MOST_VALUES && nk_model_output_count(&model) <= MOST_VALUES) {
        static float wanted[MOST_VALUES];
        uint32_t inputs = nk_model_input_count(&model), outputs = nk_model_output_count(&model);
        size_t room = nk_model_is_quantized(&model) ? (size_t)inputs + outputs : 0, output_bytes = outputs * sizeof(float);
        fill_input(floats, inputs, 1);
        run_by_hand(&model, &arena, floats, wanted);

        memset(other_floats, 0x5A, sizeof other_floats);
        nk_arena_init(&scratch, memory + 1, room);
        EXPECT_OK(nk_model_run_auto(&model, &scratch, floats, inputs, other_floats, outputs, &count));
        EXPECT(count == outputs && memcmp(other_floats, wanted, output_bytes) == 0);
        EXPECT(nk_arena_used(&scratch) == 0);

        if (room > 0) {
            count = 77;
            memset(other_floats, 0x5A, sizeof other_floats);
            nk_arena_init(&scratch, memory, room - 1);
            EXPECT_STATUS(nk_model_run_auto(&model, &scratch, floats, inputs, other_floats, outputs, &count),
                          NK_ERR_ARENA_OVERFLOW);
            memset(&info, 0, sizeof info);
            info.struct_size = (uint32_t)sizeof info;
            EXPECT_OK(nk_last_error_info(&info));
            EXPECT(info.needed == room && info.available == room - 1);
            EXPECT(count == 77 && all_bytes(other_floats, sizeof other_floats, 0x5A));
            /* The model's own arena is full. */
            EXPECT_STATUS(nk_model_run_auto(&model, &arena, floats, inputs, other_floats, outputs, &count),
                          NK_ERR_ARENA_OVERFLOW);
        }

        /* Input and output at the same place. */
        nk_arena_init(&scratch, memory, sizeof memory);
        EXPECT_OK(nk_model_run_auto(&model, &scratch, floats, inputs, floats, outputs, &count));
        EXPECT(memcmp(floats, wanted, output_bytes) == 0);
    }
    nk_arena_destroy_heap(&arena);
}

static void run_auto_is_refused(void) {
    nk_arena_t arena, inside;
    nk_model_t model;
    uint32_t count = 77;
    nk_arena_init(&arena, memory, sizeof memory);
    if (!EXPECT_OK(nk_load(mlp_path, &arena, &model))) {
        return;
    }
    memset(other_floats, 0x5A, sizeof other_floats);
    EXPECT_ERROR(nk_model_run_auto(&model, &arena, floats, 255, other_floats, 9, &count), NK_ERR_INVALID_ARGUMENT,
                 "input_count is 255, expected 256");
    EXPECT_ERROR(nk_model_run_auto(&model, &arena, floats, 256, other_floats, 9, &count), NK_ERR_BUFFER_TOO_SMALL,
                 "output_capacity is 9, expected at least 10");
    /* The free memory of the arena is where the output, the input or the model lies. */
    nk_arena_init(&inside, other_floats, sizeof other_floats);
    EXPECT_STATUS(nk_model_run_auto(&model, &inside, floats, 256, other_floats, 10, &count), NK_ERR_INVALID_ARGUMENT);
    nk_arena_init(&inside, floats, sizeof floats);
    EXPECT_STATUS(nk_model_run_auto(&model, &inside, floats, 256, other_floats, 10, &count), NK_ERR_INVALID_ARGUMENT);
    nk_arena_init(&inside, memory, sizeof memory);
    EXPECT_STATUS(nk_model_run_auto(&model, &inside, floats, 256, other_floats, 10, &count), NK_ERR_INVALID_ARGUMENT);
    EXPECT(count == 77 && all_bytes(other_floats, sizeof other_floats, 0x5A));
    nk_arena_reset(&arena);
    EXPECT_STATUS(nk_model_run_auto(&model, &arena, floats, 256, other_floats, 10, &count), NK_ERR_MODEL_NOT_LOADED);
}

/* ---- views ---- */

static void views(void) {
    static float reals[6];
    static int8_t bytes[24];
    static int32_t words[5];
    nk_tensor_t tensor;
    memset(&tensor, 0xA5, sizeof tensor);
    nk_tensor_view_2d(reals, 2, 3, &tensor);
    EXPECT(tensor.data == reals && tensor.dtype == NK_DTYPE_FLOAT32 && tensor.rank == 2);
    EXPECT(tensor.shape[0] == 2 && tensor.shape[1] == 3 && tensor.shape[2] == 0 && tensor.shape[3] == 0);
    EXPECT(tensor.stride[0] == 3 && tensor.stride[1] == 1 && tensor.stride[2] == 0 && tensor.stride[3] == 0);
    EXPECT(tensor.num_elements == 6 && tensor.bytes == 24);

    nk_tensor_view_2d_int8(bytes, 4, 6, &tensor);
    EXPECT(tensor.data == bytes && tensor.dtype == NK_DTYPE_INT8 && tensor.rank == 2);
    EXPECT(tensor.shape[0] == 4 && tensor.shape[1] == 6 && tensor.stride[0] == 6 && tensor.stride[1] == 1);
    EXPECT(tensor.num_elements == 24 && tensor.bytes == 24);

    nk_tensor_view_3d_int8(bytes, 2, 3, 4, &tensor);
    EXPECT(tensor.data == bytes && tensor.dtype == NK_DTYPE_INT8 && tensor.rank == 3);
    EXPECT(tensor.shape[0] == 2 && tensor.shape[1] == 3 && tensor.shape[2] == 4 && tensor.shape[3] == 0);
    EXPECT(tensor.stride[0] == 12 && tensor.stride[1] == 4 && tensor.stride[2] == 1 && tensor.stride[3] == 0);
    EXPECT(tensor.num_elements == 24 && tensor.bytes == 24);
    EXPECT(nk_tensor_index_nhwc(&tensor, 0, 2, 0) == 8 && nk_tensor_index_nhwc(&tensor, 1, 2, 3) == 23);

    nk_tensor_view_1d_int32(words, 5, &tensor);
    EXPECT(tensor.data == words && tensor.dtype == NK_DTYPE_INT32 && tensor.rank == 2);
    EXPECT(tensor.shape[0] == 1 && tensor.shape[1] == 5 && tensor.stride[0] == 5 && tensor.stride[1] == 1);
    EXPECT(tensor.num_elements == 5 && tensor.bytes == 20);
}

static void views_of_nothing(void) {
    static float real;
    static int8_t byte;
    nk_tensor_t tensor;
    nk_tensor_view_2d(NULL, 2, 3, &tensor);
    EXPECT(tensor.data == NULL && tensor.num_elements == 6 && nk_tensor_data_f32(&tensor) == NULL);
    nk_tensor_view_2d_int8(&byte, 0, 3, &tensor);
    EXPECT(tensor.num_elements == 0 && tensor.bytes == 0);
    nk_tensor_view_2d(&real, 0x8000, 0x8000, &tensor);
    EXPECT(tensor.data == NULL && tensor.num_elements == 0 && tensor.bytes == 0);
    nk_tensor_view_3d_int8(&byte, 0x10000, 0x10000, 0x10000, &tensor);
    EXPECT(tensor.data == NULL && tensor.num_elements == 0 && tensor.bytes == 0);
    nk_tensor_view_2d_int8(&byte, 0xFFFF, 0x10001, &tensor);
    EXPECT(tensor.data == &byte && tensor.num_elements == 0xFFFFFFFFu && tensor.bytes == 0xFFFFFFFFu);
}

/* An accessor gives the elements of its own type only. */
static void accessors(void) {
    static float reals[2];
    static int8_t bytes[2];
    static int32_t words[2];
    nk_tensor_t tensor;
    nk_tensor_view_2d(reals, 1, 2, &tensor);
    EXPECT(nk_tensor_data_f32(&tensor) == reals && nk_tensor_data_f32_const(&tensor) == reals);
    EXPECT(nk_tensor_data_i8(&tensor) == NULL && nk_tensor_data_i8_const(&tensor) == NULL);
    EXPECT(nk_tensor_data_i32(&tensor) == NULL && nk_tensor_data_i32_const(&tensor) == NULL);
    nk_tensor_view_2d_int8(bytes, 1, 2, &tensor);
    EXPECT(nk_tensor_data_i8(&tensor) == bytes && nk_tensor_data_i8_const(&tensor) == bytes);
    EXPECT(nk_tensor_data_f32(&tensor) == NULL && nk_tensor_data_f32_const(&tensor) == NULL);
    EXPECT(nk_tensor_data_i32(&tensor) == NULL && nk_tensor_data_i32_const(&tensor) == NULL);
    nk_tensor_view_1d_int32(words, 2, &tensor);
    EXPECT(nk_tensor_data_i32(&tensor) == words && nk_tensor_data_i32_const(&tensor) == words);
    EXPECT(nk_tensor_data_f32(&tensor) == NULL && nk_tensor_data_i8(&tensor) == NULL);

    /* A compiler with enumerations of one byte leaves the others as they were. */
    const unsigned int dirty = 0xA5A5A500u | (unsigned int)NK_DTYPE_INT8;
    memcpy((unsigned char *)&tensor + offsetof(nk_tensor_t, dtype), &dirty, sizeof dirty);
    EXPECT(nk_tensor_data_i8(&tensor) == (int8_t *)words && nk_tensor_data_i32(&tensor) == NULL);
}

int main(int argc, char **argv) {
    if (argc == 1) {
        RUN(loads_and_runs);
        RUN(the_wrong_kind_of_run);
        RUN(wrong_counts_are_refused);
        RUN(public_networks);
        RUN(logits_on_demand);
        RUN(logits_have_their_own_scale);
        RUN(quantize_at_the_edges);
        RUN(dequantize_and_back);
        RUN(argmax);
        RUN(run_auto_is_refused);
        RUN(views);
        RUN(views_of_nothing);
        RUN(accessors);
    }
    for_each_model(argc, argv, "omit_and_back", omit_and_back);
    for_each_model(argc, argv, "run_auto", run_auto);
    return report();
}
