/* Layers, layer hook and clock, and where text goes. */
#include "check.h"

static unsigned char memory[64 * 1024];

static nk_layer_info_t layer_of(const nk_model_t *model, uint32_t index) {
    nk_layer_info_t info;
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_model_layer_info(model, index, &info));
    return info;
}

/* ---- the hook ---- */

typedef struct seen {
    const nk_model_t *model;
    uint32_t events;
    int32_t stop_at; /* event that gets a result other than 0 */
    uint64_t elapsed;
    unsigned char *last; /* output of the last layer */
    bool right;
} seen;

/* The output of a convolution is that of the max pool behind it where the library merges the two. */
static bool has_shape_of(const nk_tensor_t *output, const nk_model_t *model, uint32_t layer, nk_layer_info_t info) {
    if (info.out_rank != output->rank || memcmp(output->shape, info.out_shape, sizeof output->shape) != 0) {
        bool is_conv = info.type == NK_CNN_BLOCK_CONV2D || info.type == NK_CNN_BLOCK_DEPTHWISE_CONV2D;
        if (!is_conv || !nk_model_is_quantized(model) || layer + 1 >= nk_model_layer_count(model)) {
            return false;
        }
        info = layer_of(model, layer + 1);
        return info.type == NK_CNN_BLOCK_MAX_POOL2D && info.out_rank == output->rank &&
               memcmp(output->shape, info.out_shape, sizeof output->shape) == 0;
    }
    return true;
}

static int32_t watch(void *user, const nk_layer_event_t *event) {
    seen *mine = (seen *)user;
    nk_layer_info_t info = layer_of(mine->model, event->layer_index);
    mine->right = mine->right && event->struct_size == sizeof *event && event->layer_index == mine->events / 2 &&
                  event->phase == (int32_t)(mine->events % 2) && event->type == info.type;
    if (event->phase == 0) {
        mine->right = mine->right && event->output == NULL && event->elapsed_ns == 0;
    } else {
        const nk_tensor_t *output = event->output;
        mine->right = mine->right && output != NULL && output->data != NULL &&
                      has_shape_of(output, mine->model, event->layer_index, info) &&
                      output->dtype == nk_model_output_dtype(mine->model);
        mine->elapsed += event->elapsed_ns;
        if (mine->last != NULL && event->layer_index + 1 == nk_model_layer_count(mine->model)) {
            memcpy(mine->last, output->data, output->bytes);
        }
    }
    return (int32_t)mine->events++ == mine->stop_at ? -1 : 0;
}

/* Every layer twice, in order, as nk_model_layer_info tells; the last output is that of the run, which stays the same. */
static void each_layer_is_seen(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    unsigned char *room = (unsigned char *)must_alloc(plan.arena_bytes);
    nk_arena_t arena;
    nk_model_t model;
    nk_arena_init(&arena, room, plan.arena_bytes);
    if (!EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
        free(room);
        return;
    }
    size_t bytes = nk_model_output_bytes(&model);
    void *input = must_alloc(nk_model_input_bytes(&model));
    unsigned char *plain = (unsigned char *)must_alloc(bytes), *watched = (unsigned char *)must_alloc(bytes);
    seen mine = {&model, 0, -1, 0, (unsigned char *)must_alloc(bytes), true};
    fill_model_input(&model, input, 3);
    EXPECT_OK(run_model(&model, &arena, input, plain));
    EXPECT_OK(nk_model_set_layer_hook(&model, watch, &mine));
    EXPECT_OK(run_model(&model, &arena, input, watched));
    EXPECT(mine.right && mine.events == 2 * nk_model_layer_count(&model));
    EXPECT(memcmp(plain, watched, bytes) == 0);
    EXPECT(memcmp(plain, mine.last, bytes) == 0);

    EXPECT_OK(nk_model_set_layer_hook(&model, NULL, NULL));
    mine.events = 0;
    EXPECT_OK(run_model(&model, &arena, input, watched));
    EXPECT(mine.events == 0);
    free(mine.last);
    free(watched);
    free(plain);
    free(input);
    free(room);
}

/* The weights of the layers are the weights of the model, and shapes go from layer to layer. */
static void layers_make_up_the_model(const model_file *file) {
    nk_memory_plan_t plan = plan_of(file);
    unsigned char *room = (unsigned char *)must_alloc(plan.arena_bytes);
    nk_arena_t arena;
    nk_model_t model;
    size_t weights = 0;
    nk_arena_init(&arena, room, plan.arena_bytes);
    if (EXPECT_OK(nk_load_memory(file->bytes, file->size, &arena, &model))) {
        uint32_t count = nk_model_layer_count(&model), rank, shape[NK_MAX_TENSOR_RANK];
        nk_arch_info_t arch;
        EXPECT_OK(nk_model_get_arch(&model, &arch));
        EXPECT(count == arch.num_layers);
        nk_model_input_shape(&model, &rank, shape);
        for (uint32_t i = 0; i < count; i++) {
            nk_layer_info_t info = layer_of(&model, i);
            EXPECT(info.index == i && info.in_rank == rank && memcmp(info.in_shape, shape, sizeof shape) == 0);
            EXPECT((info.in_quant.scale > 0) == nk_model_is_quantized(&model));
            EXPECT((info.out_quant.scale > 0) == nk_model_is_quantized(&model));
            memcpy(shape, info.out_shape, sizeof shape);
            rank = info.out_rank;
            weights += info.weight_bytes;
        }
        uint32_t out_rank, out_shape[NK_MAX_TENSOR_RANK];
        nk_model_output_shape(&model, &out_rank, out_shape);
        EXPECT(out_rank == rank && memcmp(out_shape, shape, sizeof shape) == 0);
        EXPECT(round_up(weights, 4) == arch.weights_bytes + arch.biases_bytes ||
               weights + 3 >= arch.weights_bytes + arch.biases_bytes);
    }
    free(room);
}

static bool load(const char *path, nk_arena_t *arena, nk_model_t *model) {
    nk_arena_init(arena, memory, sizeof memory);
    return EXPECT_OK(nk_load(path, arena, model));
}

static void a_hook_stops_the_run(void) {
    nk_arena_t arena;
    nk_model_t model;
    float input[16] = {0}, output[4];
    if (!load("models/cnn_4x4_single.nk", &arena, &model)) {
        return;
    }
    uint32_t layers = nk_model_layer_count(&model);
    for (int32_t stop_at = 0; stop_at < (int32_t)(2 * layers); stop_at++) {
        seen mine = {&model, 0, stop_at, 0, NULL, true};
        nk_error_info_t info;
        size_t written = 77;
        memset(&info, 0, sizeof info);
        info.struct_size = (uint32_t)sizeof info;
        EXPECT_OK(nk_model_set_layer_hook(&model, watch, &mine));
        EXPECT_STATUS(nk_run(&model, input, sizeof input, output, sizeof output, &written), NK_ERR_STOPPED);
        EXPECT_OK(nk_last_error_info(&info));
        EXPECT(info.status == NK_ERR_STOPPED && info.layer_index == stop_at / 2);
        EXPECT(mine.right && (int32_t)mine.events == stop_at + 1 && written == 77);
    }
    EXPECT(strcmp(nk_status_string(NK_ERR_STOPPED), "stopped by hook") == 0);
    EXPECT_OK(nk_model_set_layer_hook(&model, NULL, NULL));
    EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL));
}

/* All ways to run a model tell that they were stopped, and no number of values; the next run is whole again. */
static void a_hook_stops_every_kind_of_run(void) {
    static _Alignas(64) unsigned char scratch[16 * 1024];
    static float floats[256], scores[10];
    static int8_t codes[256], code_scores[10];
    nk_arena_t arena;
    nk_model_t model;
    uint32_t count = 77;
    size_t written = 77;
    for (int is_int8 = 0; is_int8 < 2; is_int8++) {
        if (!load(is_int8 ? "models/digits_mlp_int8.nk" : "models/digits_mlp.nk", &arena, &model)) {
            return;
        }
        size_t in = nk_model_input_bytes(&model), out = nk_model_output_bytes(&model), used = nk_arena_used(&arena);
        seen mine = {&model, 0, 0, 0, NULL, true};
        EXPECT(nk_model_scratch_bytes(&model) <= sizeof scratch);
        EXPECT_OK(nk_model_set_layer_hook(&model, watch, &mine));
#define EXPECT_STOPPED(call) (mine.events = 0, EXPECT_ERROR(call, NK_ERR_STOPPED, "layer 0 (dense)"))
        if (is_int8) {
            EXPECT_STOPPED(nk_model_run_int8(&model, &arena, codes, 256, code_scores, 10, &count));
        } else {
            EXPECT_STOPPED(nk_model_run(&model, &arena, floats, 256, scores, 10, &count));
            EXPECT_STOPPED(nk_forward(&model, &arena, floats, 256, scores, 10, &count));
        }
        EXPECT_STOPPED(nk_model_run_auto(&model, &arena, floats, 256, scores, 10, &count));
        EXPECT_STOPPED(nk_run(&model, floats, in, scores, out, &written));
        EXPECT_STOPPED(nk_model_run_scratch(&model, scratch, sizeof scratch, floats, in, scores, out, &written));
        EXPECT(count == 77 && written == 77 && nk_arena_used(&arena) == used);
        mine.stop_at = -1;
        mine.events = 0;
        EXPECT_OK(nk_run(&model, floats, in, scores, out, &written));
        EXPECT(written == out);
        written = 77;
    }
}

/* All ways to run a model, and copies of its handle, share the hook; loading starts without one. */
static void a_hook_belongs_to_the_model(void) {
    static _Alignas(64) unsigned char scratch[16 * 1024];
    nk_arena_t arena;
    nk_model_t model, copy, other;
    static float input[256], output[10];
    static int8_t codes[256], scores[10];
    uint32_t count;
    if (!load("models/digits_mlp_int8.nk", &arena, &model)) {
        return;
    }
    copy = model;
    uint32_t events = 2 * nk_model_layer_count(&model);
    seen mine = {&model, 0, -1, 0, NULL, true};
    EXPECT_OK(nk_model_set_layer_hook(&copy, watch, &mine));
    EXPECT_OK(nk_model_run_int8(&model, &arena, codes, 256, scores, 10, &count));
    EXPECT(mine.right && mine.events == events);
    mine.events = 0;
    EXPECT_OK(nk_model_run_auto(&model, &arena, input, 256, output, 10, &count));
    EXPECT(mine.right && mine.events == events);
    mine.events = 0;
    EXPECT_OK(nk_model_run_scratch(&model, scratch, sizeof scratch, codes, 256, scores, 10, NULL));
    EXPECT(mine.right && mine.events == events);
    mine.events = 0;
    EXPECT_OK(nk_load("models/digits_mlp_int8.nk", &arena, &other));
    EXPECT_OK(nk_run(&other, codes, 256, scores, 10, NULL));
    EXPECT(mine.events == 0);
}

static void a_hook_needs_a_model(void) {
    nk_arena_t arena;
    nk_model_t model;
    memset(&model, 0xA5, sizeof model);
    EXPECT_ERROR(nk_model_set_layer_hook(NULL, watch, &model), NK_ERR_INVALID_ARGUMENT, "model is NULL");
    EXPECT_STATUS(nk_model_set_layer_hook(&model, watch, NULL), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_STATUS(nk_model_set_layer_hook(&model, NULL, NULL), NK_ERR_MODEL_NOT_LOADED);
    if (load("models/test_mlp.nk", &arena, &model)) {
        EXPECT_OK(nk_model_set_layer_hook(&model, NULL, &model));
        nk_arena_reset(&arena);
        EXPECT_ERROR(nk_model_set_layer_hook(&model, watch, NULL), NK_ERR_MODEL_NOT_LOADED, "the model ended");
    }
}

static uint64_t tick(void *user) {
    uint64_t *time = (uint64_t *)user;
    *time += 250;
    return *time;
}

static uint64_t backwards(void *user) {
    uint64_t *time = (uint64_t *)user;
    *time -= 250;
    return *time;
}

static void the_clock_times_layers(void) {
    nk_arena_t arena;
    nk_model_t model;
    float input[2] = {1, 2}, output[2];
    uint64_t time = 1000;
    if (!load("models/test_mlp.nk", &arena, &model)) {
        return;
    }
    seen mine = {&model, 0, -1, 0, NULL, true};
    EXPECT_OK(nk_model_set_layer_hook(&model, watch, &mine));
    nk_set_clock(tick, &time);
    EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL));
    EXPECT(mine.elapsed == 250u * nk_model_layer_count(&model));
    EXPECT(time == 1000 + 500u * nk_model_layer_count(&model));

    mine.elapsed = mine.events = 0;
    nk_set_clock(backwards, &time);
    EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL));
    EXPECT(mine.elapsed == 0);

    /* The clock of the system: some time passes in a hundred runs. */
    nk_set_clock(NULL, NULL);
    time = 0;
    mine.elapsed = 0;
    for (int i = 0; i < 100; i++) {
        mine.events = 0;
        EXPECT_OK(nk_run(&model, input, sizeof input, output, sizeof output, NULL));
    }
    EXPECT(mine.elapsed > 0 && mine.elapsed < 60000000000u && time == 0);
}

/* ---- functions that need no user pointer, and pointers without a function ---- */

static int calls_without_user;

static int32_t hook_without_user(void *user, const nk_layer_event_t *event) {
    EXPECT(event->struct_size == sizeof *event);
    calls_without_user += user == NULL;
    return 0;
}

static uint64_t clock_without_user(void *user) {
    calls_without_user += user == NULL;
    return 0;
}

static void log_without_user(void *user, int32_t level, const char *words, size_t length) {
    calls_without_user += user == NULL && level == NK_LOG_ERROR && strlen(words) >= length;
}

static void write_without_user(void *user, const char *words, size_t length) {
    calls_without_user += user == NULL && words != NULL && length > 0;
}

static void a_user_pointer_may_be_null(void) {
    nk_arena_t arena;
    nk_model_t model;
    float values[2] = {1, 2}, output[2];
    model_file file = need_model("models/test_mlp.nk");
    if (!load("models/test_mlp.nk", &arena, &model)) {
        return;
    }
    EXPECT_OK(nk_model_set_layer_hook(&model, hook_without_user, NULL));
    nk_set_clock(clock_without_user, NULL);
    EXPECT_OK(nk_run(&model, values, sizeof values, output, sizeof output, NULL));
    EXPECT(calls_without_user == 8); /* two layers, before and after, each with a look at the clock */
    nk_set_clock(NULL, &file);
    nk_set_log_callback(log_without_user, NULL);
    EXPECT_STATUS(nk_arch_print(NULL), NK_ERR_INVALID_ARGUMENT);
    nk_set_log_callback(NULL, &file);
    EXPECT_STATUS(nk_arch_print(NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT(calls_without_user == 9);
    EXPECT_OK(nk_arch_write(file.bytes, file.size, write_without_user, NULL));
    int written = calls_without_user;
    EXPECT(written > 10);
    nk_set_print_callback(write_without_user, NULL);
    EXPECT_OK(nk_arch_print("models/test_mlp.nk"));
    nk_set_print_callback(NULL, &file);
    EXPECT(calls_without_user > written);
    written = calls_without_user;
    EXPECT_OK(nk_arch_print("models/test_mlp.nk"));
    EXPECT(calls_without_user == written);
    free(file.bytes);
}

/* ---- layers ---- */

static void layer_questions(void) {
    nk_arena_t arena;
    nk_model_t model, none;
    nk_layer_info_t info;
    memset(&none, 0, sizeof none);
    memset(&info, 0, sizeof info);
    EXPECT(nk_model_layer_count(NULL) == 0 && nk_model_layer_count(&none) == 0);
    EXPECT_ERROR(nk_model_layer_info(&none, 0, &info), NK_ERR_INVALID_ARGUMENT,
                 "struct_size is 0"); /* no struct_size */
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_STATUS(nk_model_layer_info(&none, 0, &info), NK_ERR_MODEL_NOT_LOADED);
    EXPECT_STATUS(nk_model_layer_info(NULL, 0, &info), NK_ERR_INVALID_ARGUMENT);
    if (!load("models/test_mlp.nk", &arena, &model)) {
        return;
    }
    EXPECT_STATUS(nk_model_layer_info(&model, 0, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR(nk_model_layer_info(&model, nk_model_layer_count(&model), &info), NK_ERR_INVALID_ARGUMENT,
                 "layer index is 2, expected at most 1");
    EXPECT_ERROR(nk_model_layer_info(&model, UINT32_MAX, &info), NK_ERR_INVALID_ARGUMENT, "expected at most 1");
    EXPECT(info.macs == 0 && info.out_rank == 0);
    EXPECT_OK(nk_model_layer_info(&model, 0, &info));
    EXPECT(info.type == NK_CNN_BLOCK_DENSE && info.in_rank == 2 && info.in_shape[0] == 1 && info.in_shape[1] == 2);
    EXPECT(info.macs == (uint64_t)info.in_shape[1] * info.out_shape[1]);
    EXPECT(info.weight_bytes == 4 * (info.macs + info.out_shape[1]));
    EXPECT(info.in_quant.scale == 0 && info.in_quant.zero_point == 0 && info.out_quant.scale == 0);
    EXPECT(info.struct_size == sizeof info);
    nk_arena_reset(&arena);
    EXPECT_ERROR(nk_model_layer_info(&model, 0, &info), NK_ERR_MODEL_NOT_LOADED, "the model ended");
}

static void block_names(void) {
    static const char *const names[14] = {
        "conv2d", "depthwise_conv2d", "max_pool2d", "avg_pool2d", "batch_norm2d", "layernorm2d", "flatten", "dense",
        "convnextv2_block", "mobilenetv4_uib", "resnet_basic_block", "yolox_decoupled_head", "feature_tap",
        "yolox_pafpn_multiscale"};
    for (int i = 0; i < 14; i++) {
        EXPECT_THAT(strcmp(nk_block_type_string((nk_cnn_block_type_t)i), names[i]) == 0, "%d", i);
    }
    EXPECT(NK_CNN_BLOCK_CONV2D == 0 && NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD == 11);
    EXPECT(strcmp(nk_block_type_string((nk_cnn_block_type_t)14), "unknown") == 0);
    EXPECT(strcmp(nk_block_type_string((nk_cnn_block_type_t)-1), "unknown") == 0);
}

/* ---- text ---- */

typedef struct text {
    char bytes[16 * 1024];
    size_t length, calls;
    int32_t level;
} text;

static void collect(void *user, const char *piece, size_t length) {
    text *mine = (text *)user;
    mine->calls++;
    if (length < sizeof mine->bytes - mine->length) {
        memcpy(mine->bytes + mine->length, piece, length);
        mine->length += length;
        mine->bytes[mine->length] = '\0';
    }
}

static void collect_log(void *user, int32_t level, const char *piece, size_t length) {
    text *mine = (text *)user;
    mine->level = level;
    mine->length = 0;
    collect(user, piece, length);
}

static text *empty(text *mine) {
    memset(mine, 0, sizeof *mine);
    return mine;
}

static void the_log_gets_what_fails(void) {
    static text log;
    nk_arch_info_t arch;
    nk_set_log_callback(collect_log, empty(&log));
    log.level = 99;
    EXPECT_STATUS(nk_parse_architecture("models/no_such_model.nk", &arch), NK_ERR_MODEL_OPEN);
    EXPECT(log.calls == 1 && log.level == NK_LOG_ERROR && strcmp(log.bytes, nk_last_error()) == 0);
    EXPECT_OK(nk_parse_architecture("models/test_mlp.nk", &arch));
    EXPECT(log.calls == 1);
    EXPECT_STATUS(nk_run(NULL, &arch, 1, &arch, 1, NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT(log.calls == 2 && strcmp(log.bytes, "model is NULL") == 0);
    nk_set_log_callback(NULL, NULL);
    EXPECT_STATUS(nk_parse_architecture(NULL, &arch), NK_ERR_INVALID_ARGUMENT);
    EXPECT(log.calls == 2);
}

static void printed_text_goes_where_it_should(void) {
    static text printed;
    nk_set_print_callback(collect, empty(&printed));
    EXPECT_OK(nk_arch_print("models/test_mlp.nk"));
    EXPECT(strstr(printed.bytes, "Name        : test_mlp\n") != NULL);
    EXPECT(strstr(printed.bytes, "Output elements: 2\n") != NULL);
    EXPECT(printed.calls > 5 && strlen(printed.bytes) == printed.length);
    empty(&printed);
    EXPECT(nk_run_model_tests("models/test_mlp.nk").failed == 0);
    EXPECT(strstr(printed.bytes, "PASS ") != NULL);
    nk_set_print_callback(NULL, NULL);
    empty(&printed);
    EXPECT_OK(nk_arch_print("models/test_mlp.nk"));
    EXPECT(printed.calls == 0);
}

static void a_summary_goes_to_a_function(void) {
    static text summary;
    model_file file = need_model("models/cnn_4x4_single.nk");
    EXPECT_OK(nk_arch_write(file.bytes, file.size, collect, empty(&summary)));
    EXPECT(strstr(summary.bytes, "Name        : model\n") != NULL && strstr(summary.bytes, "[0] Conv2D ") != NULL);
    EXPECT(summary.bytes[summary.length - 1] == '\n');
    empty(&summary);
    EXPECT_STATUS(nk_arch_write(NULL, file.size, collect, &summary), NK_ERR_INVALID_ARGUMENT);
    EXPECT_ERROR(nk_arch_write(file.bytes, 0, collect, &summary), NK_ERR_INVALID_ARGUMENT, "size is 0");
    EXPECT_ERROR(nk_arch_write(file.bytes, file.size, NULL, &summary), NK_ERR_INVALID_ARGUMENT, "fn is NULL");
    EXPECT_STATUS(nk_arch_write(file.bytes, 60, collect, &summary), NK_ERR_MODEL_READ);
    file.bytes[0] = 'X';
    EXPECT_STATUS(nk_arch_write(file.bytes, file.size, collect, &summary), NK_ERR_MODEL_PARSE);
    EXPECT(summary.calls == 0);
    free(file.bytes);
}

static void build_info(void) {
    char version[32];
    snprintf(version, sizeof version, "netkit %d.%d.%d, ", NK_VERSION_MAJOR, NK_VERSION_MINOR, NK_VERSION_PATCH);
    EXPECT(strncmp(nk_build_info(), version, strlen(version)) == 0);
    EXPECT(strstr(nk_build_info(), "files and stdio") != NULL);
}

int main(int argc, char **argv) {
    RUN(a_hook_stops_the_run);
    RUN(a_hook_stops_every_kind_of_run);
    RUN(a_hook_belongs_to_the_model);
    RUN(a_hook_needs_a_model);
    RUN(the_clock_times_layers);
    RUN(a_user_pointer_may_be_null);
    RUN(layer_questions);
    RUN(block_names);
    RUN(the_log_gets_what_fails);
    RUN(printed_text_goes_where_it_should);
    RUN(a_summary_goes_to_a_function);
    RUN(build_info);
    for_each_model(argc, argv, "each_layer_is_seen", each_layer_is_seen);
    for_each_model(argc, argv, "layers_make_up_the_model", layers_make_up_the_model);
    return report();
}
