/* The 157 checks, in 20 groups, that the C test of netkit makes of its interface: what passes there has to pass here, with
 * the same source and nothing but the name of the archive changed. In the dialect of such programs: nullptr, designated
 * initialisers, handles that nobody initialises, arrays of bytes as models.
 *
 * It runs where models/ holds the models that the groups name; see docs/migrating-from-netkit.md. */
#include "netkit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARENA_BYTES (4u * 1024u * 1024u)
#define TOLERANCE 1e-5f

alignas(64) static unsigned char arena_memory[ARENA_BYTES];
static int checks = 0;
static int failures = 0;

static bool check(bool holds, const char* label) {
    checks++;
    if (holds) {
        printf("PASS %s\n", label);
    } else {
        failures++;
        fprintf(stderr, "FAIL %s (last error: %s)\n", label, nk_last_error());
    }
    return holds;
}

static bool check_ok(nk_status_t status, const char* label) {
    if (status != NK_OK) {
        fprintf(stderr, "%s: %s\n", label, nk_status_string(status));
    }
    return check(status == NK_OK, label);
}

static bool is_near(float found, float wanted) {
    return fabsf(found - wanted) <= TOLERANCE;
}

static size_t read_bytes(const char* path, uint8_t* bytes, size_t capacity) {
    FILE* file = fopen(path, "rb");
    size_t size;
    if (file == nullptr) {
        return 0;
    }
    size = fread(bytes, 1, capacity, file);
    fclose(file);
    return size;
}

/* ---- arenas ---- */

static void test_arena(void) {
    alignas(max_align_t) unsigned char memory[256];
    nk_arena_t arena;
    nk_arena_init(&arena, memory, sizeof memory);
    check(nk_arena_capacity(&arena) == 256, "arena: capacity");
    check(nk_arena_used(&arena) == 0, "arena: empty");
    check(nk_arena_alloc(&arena, 64, 8) != nullptr, "arena: alloc");
    check(nk_arena_used(&arena) == 64, "arena: used to the byte");
    check(nk_arena_remaining(&arena) == 192, "arena: remaining");
    nk_arena_reset(&arena);
    check(nk_arena_used(&arena) == 0, "arena: reset");
}

static void test_arena_heap(void) {
#if defined(NETKIT_ARENA_HEAP)
    nk_arena_t arena;
    check_ok(nk_arena_init_heap(&arena, 4096), "heap arena: init");
    check(nk_arena_capacity(&arena) == 4096, "heap arena: capacity");
    check(nk_arena_alloc(&arena, 128, 8) != nullptr, "heap arena: alloc");
    nk_arena_destroy_heap(&arena);
    check(nk_arena_capacity(&arena) == 0, "heap arena: destroyed");
#endif
}

static void test_arena_alignment(void) {
    alignas(max_align_t) unsigned char memory[512];
    nk_arena_t arena;
    void* first;
    void* second;
    nk_arena_init(&arena, memory, sizeof memory);
    first = nk_arena_alloc(&arena, 28, 4);
    second = nk_arena_alloc(&arena, 32, 8);
    check(first != nullptr, "alignment: first");
    check(second != nullptr, "alignment: second");
    check((uintptr_t)second % 8 == 0, "alignment: multiple of 8");
    check(nk_arena_used(&arena) > 28, "alignment: padding counts");
}

/* ---- tensors and operations ---- */

static void test_tensor_ops(void) {
    alignas(max_align_t) unsigned char memory[1024];
    const float left[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    const float identity[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    nk_arena_t arena;
    nk_tensor_t a, b, c;
    const float* result;
    nk_arena_init(&arena, memory, sizeof memory);
    check_ok(nk_tensor_create_2d(&arena, 2, 2, &a), "ops: create a");
    check_ok(nk_tensor_create_2d(&arena, 2, 2, &b), "ops: create b");
    check_ok(nk_tensor_create_2d(&arena, 2, 2, &c), "ops: create c");
    check_ok(nk_tensor_fill(&a, left, 4), "ops: fill a");
    check_ok(nk_tensor_fill(&b, identity, 4), "ops: fill b");
    check(nk_ops_is_matmul_valid(&a, &b, &c), "ops: matmul is valid");
    nk_ops_mat_mul(&a, &b, &c);
    result = nk_tensor_data_f32_const(&c);
    for (int i = 0; i < 4; i++) {
        check(result != nullptr && is_near(result[i], left[i]), "ops: product");
    }
}

static void test_conv2d(void) {
    static unsigned char memory[4096];
    const uint32_t shape[3] = {4, 4, 1};
    static float kernel[9] = {0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    static float bias[1] = {0.0f};
    float values[16];
    nk_arena_t arena;
    nk_tensor_t input, output;
    nk_conv2d_t conv = {
        .kernel_size = 3,
        .stride = 1,
        .pad_h = 1,
        .pad_w = 1,
        .pad_h_end = NK_PAD_MIRROR,
        .pad_w_end = NK_PAD_MIRROR,
        .in_channels = 1,
        .out_channels = 1,
        .weights = kernel,
        .bias = bias,
    };
    for (int i = 0; i < 16; i++) {
        values[i] = (float)(i + 1);
    }
    nk_arena_init(&arena, memory, sizeof memory);
    check_ok(nk_tensor_create_nd(&arena, 3, shape, &input), "conv2d: create input");
    check_ok(nk_tensor_create_nd(&arena, 3, shape, &output), "conv2d: create output");
    check_ok(nk_tensor_fill(&input, values, 16), "conv2d: fill");
    nk_conv2d_forward(&conv, &input, &output);
    check(is_near(nk_tensor_data_f32(&output)[0], 1.0f), "conv2d: centre kernel");
}

static void test_depthwise(void) {
    static unsigned char memory[4096];
    const uint32_t shape[3] = {3, 3, 1};
    const float values[9] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f};
    static float weight[1] = {1.0f};
    static float bias[1] = {0.0f};
    nk_arena_t arena;
    nk_tensor_t input, output;
    nk_depthwise_conv2d_t conv = {
        .kernel_h = 1,
        .kernel_w = 1,
        .stride = 1,
        .pad_h = 0,
        .pad_w = 0,
        .pad_h_end = NK_PAD_MIRROR,
        .pad_w_end = NK_PAD_MIRROR,
        .channels = 1,
        .weights = weight,
        .bias = bias,
    };
    nk_arena_init(&arena, memory, sizeof memory);
    check_ok(nk_tensor_create_nd(&arena, 3, shape, &input), "depthwise: create input");
    check_ok(nk_tensor_create_nd(&arena, 3, shape, &output), "depthwise: create output");
    check_ok(nk_tensor_fill(&input, values, 9), "depthwise: fill");
    nk_depthwise_conv2d_forward(&conv, &input, &output);
    check(is_near(nk_tensor_data_f32(&output)[4], 5.0f), "depthwise: identity");
}

/* ---- what a file says ---- */

static void test_parse(void) {
    nk_arch_info_t info;
    check_ok(nk_parse_architecture("models/test_mlp.nk", &info), "parse: test_mlp");
    check(info.version == 3, "parse: version");
    check(info.kind == NK_NETWORK_MLP, "parse: mlp");
    check(info.input_elements == 2, "parse: mlp inputs");
    check(info.output_elements == 2, "parse: mlp outputs");
    check_ok(nk_parse_architecture("models/mnist_cnn.nk", &info), "parse: mnist_cnn");
    check(info.kind == NK_NETWORK_CNN, "parse: cnn");
    check(info.input_elements == 784, "parse: cnn inputs");
    check(info.output_elements == 10, "parse: cnn outputs");
}

static void test_arch_print(void) {
    check_ok(nk_arch_print("models/test_mlp.nk"), "arch print: test_mlp");
    check(nk_arch_print(nullptr) == NK_ERR_INVALID_ARGUMENT, "arch print: NULL");
}

static void test_metadata(void) {
    nk_arena_t arena;
    nk_model_t model;
    nk_arch_info_t info;
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_model_load("models/test_mlp.nk", &arena, &model), "metadata: load");
    check(nk_model_kind(&model) == NK_NETWORK_MLP, "metadata: kind");
    check(nk_model_input_count(&model) == 2, "metadata: input count");
    check(nk_model_output_count(&model) == 2, "metadata: output count");
    check_ok(nk_model_get_arch(&model, &info), "metadata: get arch");
    check(info.version == 3, "metadata: version");
    check(info.input_elements == 2, "metadata: inputs");
    check(info.output_elements == 2, "metadata: outputs");
}

/* Three networks from arrays of bytes, which begin wherever the linker puts them: here at odd addresses. */
static void test_buffer_load(void) {
    static uint8_t mlp_file[1 + 8192];
    static uint8_t cnn_file[1 + 16384];
    const uint8_t* mlp_bytes = mlp_file + 1;
    const uint8_t* cnn_bytes = cnn_file + 1;
    size_t mlp_size = read_bytes("models/test_mlp.nk", mlp_file + 1, 8192);
    size_t cnn_size = read_bytes("models/test_cnn.nk", cnn_file + 1, 16384);
    nk_arena_t arena;
    nk_mlp_t mlp;
    nk_cnn_t cnn;
    nk_model_t model;
    check(mlp_size > 0, "buffers: read test_mlp");
    check(cnn_size > 0, "buffers: read test_cnn");
    if (mlp_size == 0 || cnn_size == 0) {
        goto done;
    }
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_mlp_load_memory(mlp_bytes, mlp_size, &arena, &mlp, nullptr), "buffers: mlp");
    check(nk_mlp_is_valid(&mlp), "buffers: mlp is valid");
    check(!nk_mlp_is_quantized(&mlp), "buffers: mlp is float");
    check_ok(nk_model_load_memory(mlp_bytes, mlp_size, &arena, &model), "buffers: model");
    check(nk_model_kind(&model) == NK_NETWORK_MLP, "buffers: model kind");
    check(!nk_model_is_quantized(&model), "buffers: model is float");
    check_ok(nk_cnn_load_memory(cnn_bytes, cnn_size, &arena, &cnn, nullptr), "buffers: cnn");
    check(nk_cnn_is_valid(&cnn), "buffers: cnn is valid");
    check(!nk_cnn_is_quantized(&cnn), "buffers: cnn is float");
    nk_cnn_set_omit_final_softmax(&cnn, true);
    check(!nk_cnn_omit_final_softmax(&cnn), "buffers: a float cnn keeps its end");
    check(nk_cnn_kernel_workspace_bytes(&cnn) < ARENA_BYTES, "buffers: workspace");
    check(nk_arena_used(&arena) > 0, "buffers: arena");
done:
    return;
}

/* ---- int8 ---- */

static void test_int8_tensors(void) {
    static int8_t map[12];
    static int8_t row[4];
    static int32_t sums[4];
    nk_tensor_t matrix, volume, vector;
    nk_tensor_view_2d_int8(row, 1, 4, &matrix);
    check(matrix.dtype == NK_DTYPE_INT8, "int8: matrix type");
    check(matrix.rank == 2, "int8: matrix rank");
    check(matrix.shape[0] == 1 && matrix.shape[1] == 4, "int8: matrix shape");
    check(nk_tensor_data_i8(&matrix) == row, "int8: matrix data");
    check(nk_tensor_data_f32(&matrix) == nullptr, "int8: no floats");
    nk_tensor_view_3d_int8(map, 2, 3, 2, &volume);
    check(volume.rank == 3, "int8: volume rank");
    check(volume.shape[0] == 2 && volume.shape[1] == 3 && volume.shape[2] == 2, "int8: volume shape");
    check(nk_tensor_data_i8_const(&volume) == map, "int8: volume data");
    check(nk_tensor_index_nhwc(&volume, 1, 1, 0) == 8, "int8: index");
    nk_tensor_view_1d_int32(sums, 4, &vector);
    check(vector.dtype == NK_DTYPE_INT32, "int8: vector type");
    check(nk_tensor_data_i32(&vector) == sums, "int8: vector data");
    check(nk_tensor_data_i32_const(&vector) == sums, "int8: vector data, const");
    check(nk_tensor_data_i8(&vector) == nullptr, "int8: no int8");
}

static void test_int8(void) {
    static uint8_t blob[512 * 1024];
    static int8_t input[784];
    static int8_t output[10];
    const int8_t codes[3] = {-3, 7, 2};
    const float values[4] = {-1.0f, 0.5f, 2.0f, 1.5f};
    size_t size = read_bytes("models/mnist_mlp_int8.nk", blob, sizeof blob);
    uint32_t written = 0;
    nk_arena_t arena;
    nk_model_t model;
    nk_status_t status;
    test_int8_tensors();
    if (size == 0) {
        printf("int8: models/mnist_mlp_int8.nk is not there\n");
        goto done;
    }
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_model_load_memory(blob, size, &arena, &model), "int8: load");
    check(nk_model_is_quantized(&model), "int8: is quantized");
    check(nk_model_kind(&model) == NK_NETWORK_MLP, "int8: kind");
    nk_model_set_omit_final_softmax(&model, true);
    check(nk_model_omit_final_softmax(&model), "int8: softmax left out");
    nk_model_set_omit_final_softmax(&model, false);
    check(!nk_model_omit_final_softmax(&model), "int8: softmax back");
    check(nk_model_input_count(&model) == 784, "int8: input count");
    check(nk_model_output_count(&model) == 10, "int8: output count");
    /* Four bytes as 784 floats, as the output and as the count: nobody may look at them. */
    status = nk_model_run(&model, &arena, (const float*)&written, 784, (float*)&written, 10, &written);
    check(status == NK_ERR_INVALID_ARGUMENT, "int8: refuses floats");
    check_ok(nk_model_run_int8(&model, &arena, input, 784, output, 10, &written), "int8: run");
    check(written == 10, "int8: written");
done:
    check(nk_argmax_i8(codes, 3) == 1, "int8: argmax");
    check(nk_argmax_f32(values, 4) == 2, "int8: argmax of floats");
    check(nk_argmax_i8(nullptr, 3) == 0, "int8: argmax of nothing");
}

/* ---- loading, measuring, running ---- */

static void test_inspect(void) {
    nk_arena_t arena;
    nk_inspect_info_t info = {0};
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_inspect_model("models/test_mlp.nk", &arena, &info), "inspect: test_mlp");
    check(info.arch.input_elements == 2, "inspect: inputs");
    check(info.weight_floats > 0, "inspect: weight floats");
    check(info.arena_bytes_after_load > 0, "inspect: after load");
    check(info.arena_bytes_after_forward >= info.arena_bytes_after_load, "inspect: after forward");
    check(info.arch.weights_bytes > 0, "inspect: weights bytes");
    check(info.flash_payload_bytes > 0, "inspect: payload");
    check(info.flash_payload_bytes == info.arch.weights_bytes + info.arch.biases_bytes, "inspect: payload is the sum");
}

static void test_mnist_cnn_load(void) {
    nk_arena_t arena;
    nk_cnn_t cnn;
    nk_arch_info_t info = {0};
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_cnn_load("models/mnist_cnn.nk", &arena, &cnn, &info), "mnist_cnn: load");
    check(nk_cnn_is_valid(&cnn), "mnist_cnn: valid");
    check(info.output_elements == 10, "mnist_cnn: outputs");
}

static void test_load_run(void) {
    const float pair[2] = {1.0f, 2.0f};
    float ones[16];
    float output[16] = {0};
    uint32_t count = 0;
    nk_arena_t arena;
    nk_model_t model;
    for (int i = 0; i < 16; i++) {
        ones[i] = 1.0f;
    }
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_model_load("models/test_mlp.nk", &arena, &model), "run: load test_mlp");
    check_ok(nk_model_run(&model, &arena, pair, 2, output, 16, &count), "run: test_mlp");
    check(count == 2, "run: test_mlp count");
    check(is_near(output[0], 3.0f), "run: test_mlp output 0");
    check(is_near(output[1], 3.0f), "run: test_mlp output 1");
    nk_arena_reset(&arena);
    check_ok(nk_model_load("models/cnn_4x4_single.nk", &arena, &model), "run: load cnn_4x4_single");
    check_ok(nk_model_run(&model, &arena, ones, 16, output, 16, &count), "run: cnn_4x4_single");
    check(count == 4, "run: cnn_4x4_single count");
    for (int i = 0; i < 4; i++) {
        check(is_near(output[i], 4.0f), "run: cnn_4x4_single output");
    }
}

/* ---- networks by hand ---- */

static void test_manual_mlp(void) {
    static float identity[4] = {1.0f, 0.0f, 0.0f, 1.0f};
    static float zeros[2] = {0.0f, 0.0f};
    static float values[2] = {1.0f, 2.0f};
    static float results[2];
    nk_arena_t arena;
    nk_mlp_t mlp;
    nk_tensor_t weights, bias, input, output;
    nk_tensor_view_2d(identity, 2, 2, &weights);
    nk_tensor_view_2d(zeros, 1, 2, &bias);
    nk_tensor_view_2d(values, 1, 2, &input);
    nk_tensor_view_2d(results, 1, 2, &output);
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_mlp_create(&arena, 2, &mlp), "manual mlp: create");
    check_ok(nk_mlp_init_layer(&mlp, 0, &weights, &bias, NK_ACTIVATION_NONE, 0.0f), "manual mlp: layer 0");
    check_ok(nk_mlp_init_layer(&mlp, 1, &weights, &bias, NK_ACTIVATION_NONE, 0.0f), "manual mlp: layer 1");
    check(!nk_mlp_has_activation_buffers(&mlp), "manual mlp: no buffers yet");
    check(nk_mlp_forward(&mlp, &arena, &input, &output) == NK_ERR_NOT_INITIALIZED, "manual mlp: needs buffers");
    check_ok(nk_mlp_init_activation_buffers(&mlp, &arena, 1), "manual mlp: buffers");
    check(nk_mlp_has_activation_buffers(&mlp), "manual mlp: has buffers");
    check_ok(nk_mlp_forward(&mlp, &arena, &input, &output), "manual mlp: forward");
    check(is_near(results[0], 1.0f), "manual mlp: output 0");
    check(is_near(results[1], 2.0f), "manual mlp: output 1");
}

static void test_cnn_load_buffers(void) {
    nk_arena_t arena;
    nk_cnn_t cnn;
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_cnn_load("models/cnn_4x4_single.nk", &arena, &cnn, nullptr), "cnn buffers: load");
    check(nk_cnn_has_activation_buffers(&cnn), "cnn buffers: ready");
}

static void test_extended_ops(void) {
    static float input[16];
    float output[2] = {0};
    uint32_t count = 0;
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check_ok(nk_model_load("models/cnn_extended_ops.nk", &arena, &model), "extended ops: load");
    check_ok(nk_model_run(&model, &arena, input, 16, output, 2, &count), "extended ops: run");
    check(count == 2, "extended ops: count");
}

/* One array of zeros serves as every weight and every bias. */
static void test_yolox_head(void) {
    static float zeros[1024];
    float* convs[1] = {zeros};
    const uint32_t shape[3] = {2, 2, 4};
    nk_arena_t arena;
    nk_cnn_t cnn;
    nk_tensor_t input, output;
    nk_arena_init(&arena, arena_memory, sizeof arena_memory);
    check(NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD == 11, "yolox: block type");
    check_ok(nk_cnn_create(&arena, 1, &cnn), "yolox: create");
    check_ok(nk_cnn_init_yolox_decoupled_head_layer(&cnn, &arena, 0, 2, 2, 4, 8, 2, 1, zeros, zeros, convs, convs, convs,
                                                    convs, zeros, zeros, zeros, zeros, zeros, zeros),
             "yolox: init");
    check(nk_cnn_init_yolox_decoupled_head_layer(nullptr, &arena, 0, 2, 2, 4, 8, 2, 1, zeros, zeros, convs, convs, convs,
                                                 convs, zeros, zeros, zeros, zeros, zeros,
                                                 zeros) == NK_ERR_INVALID_ARGUMENT,
          "yolox: no network");
    check_ok(nk_cnn_init_activation_buffers(&cnn, &arena, 2, 2, 4), "yolox: buffers");
    check(nk_cnn_has_activation_buffers(&cnn), "yolox: has buffers");
    check_ok(nk_tensor_create_nd(&arena, 3, shape, &input), "yolox: create input");
    nk_tensor_fill(&input, zeros, 16);
    check_ok(nk_cnn_forward(&cnn, &arena, &input, &output), "yolox: forward");
    check(output.rank == 3, "yolox: output rank");
    check(output.num_elements == 28, "yolox: output elements");
}

/* ---- test cases inside the models ---- */

static void test_composite_models(void) {
    static const char* const paths[] = {
        "models/resnet18_basic_block.nk",
        "models/import_resnet_basic_block.nk",
        "models/import_mobilenet_uib.nk",
        "models/import_mobilenet_uib_skip.nk",
        "models/import_convnextv2_block.nk",
        "models/import_asym_depthwise_conv.nk",
        "models/yolox_mnv4_small.nk",
        "models/yolox_pafpn_taps.nk",
    };
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        nk_test_summary_t summary = nk_run_model_tests(paths[i]);
        check(summary.failed == 0, paths[i]);
        check(summary.passed >= 1, paths[i]);
    }
}

static void test_regression(void) {
    nk_test_summary_t summary = nk_run_all_tests();
    printf("regression: %u passed, %u failed\n", summary.passed, summary.failed);
    check(summary.failed == 0, "regression: none failed");
    check(summary.passed == 89, "regression: 89 passed");
}

int main(void) {
    static const struct {
        const char* name;
        void (*run)(void);
        int checks;
    } groups[] = {
        {"arena", test_arena, 6},
        {"arena heap", test_arena_heap, 4},
        {"alignment", test_arena_alignment, 4},
        {"tensor ops", test_tensor_ops, 10},
        {"conv2d", test_conv2d, 4},
        {"depthwise", test_depthwise, 4},
        {"parse", test_parse, 9},
        {"arch print", test_arch_print, 2},
        {"metadata", test_metadata, 8},
        {"buffer load", test_buffer_load, 14},
        {"int8", test_int8, 26},
        {"inspect", test_inspect, 8},
        {"mnist cnn load", test_mnist_cnn_load, 3},
        {"load and run", test_load_run, 12},
        {"manual mlp", test_manual_mlp, 10},
        {"cnn load buffers", test_cnn_load_buffers, 2},
        {"extended ops", test_extended_ops, 3},
        {"yolox head", test_yolox_head, 10},
        {"composite models", test_composite_models, 16},
        {"regression", test_regression, 2},
    };
    int total = 0;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        int before = checks;
        groups[i].run();
        total += groups[i].checks;
        if (checks - before != groups[i].checks) {
            failures++;
            fprintf(stderr, "FAIL group %s made %d checks, not %d\n", groups[i].name, checks - before, groups[i].checks);
        }
    }
    printf("Checks: %d of %d\nFailures: %d\n", checks, total, failures);
    return failures == 0 ? 0 : 1;
}
