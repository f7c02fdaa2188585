/* Numbers, texts and layouts that programs compiled earlier rely on. */
#include "check.h"

#define SAME(constant, value) _Static_assert((constant) == (value), #constant " is not " #value)

SAME(NK_VERSION_MAJOR, 0);
SAME(NK_VERSION_MINOR, 1);
SAME(NK_VERSION_PATCH, 0);
SAME(NK_MAX_TENSOR_RANK, 4);
SAME(NK_MAX_CASE_FLOATS, 16384);
SAME(NK_MAX_LAYERS, 100);
SAME(NK_MAX_PATH_LEN, 256);
SAME(NK_MAX_MESSAGE_LEN, 128);
SAME(NK_ARENA_STORAGE_BYTES, 64);
SAME(NK_MODEL_STORAGE_BYTES, 96);

SAME(NK_OK, 0);
SAME(NK_ERR_MODEL_OPEN, 1);
SAME(NK_ERR_MODEL_READ, 2);
SAME(NK_ERR_MODEL_PARSE, 3);
SAME(NK_ERR_UNSUPPORTED_NETWORK, 4);
SAME(NK_ERR_VERSION_MISMATCH, 5);
SAME(NK_ERR_LAYER_CONFIG, 6);
SAME(NK_ERR_WEIGHT_MISMATCH, 7);
SAME(NK_ERR_ARENA_OVERFLOW, 8);
SAME(NK_ERR_INVALID_ARGUMENT, 9);
SAME(NK_ERR_BUFFER_TOO_SMALL, 10);
SAME(NK_ERR_MODEL_NOT_LOADED, 11);
SAME(NK_ERR_NOT_INITIALIZED, 12);
SAME(NK_ERR_STOPPED, 100);

SAME(NK_NETWORK_UNKNOWN, 0);
SAME(NK_NETWORK_MLP, 1);
SAME(NK_NETWORK_CNN, 2);

SAME(NK_DTYPE_FLOAT32, 0);
SAME(NK_DTYPE_INT8, 1);
SAME(NK_DTYPE_UINT8, 2);
SAME(NK_DTYPE_INT16, 3);
SAME(NK_DTYPE_INT32, 4);

/* Offsets are written as (64-bit, 32-bit pointers). */
#define EITHER(wide, narrow) (sizeof(void *) == 8 ? (wide) : (narrow))
#define SIZE(type, wide, narrow) _Static_assert(sizeof(type) == EITHER(wide, narrow), "size of " #type)
#define ALIGNED(type, wide, narrow) _Static_assert(_Alignof(type) == EITHER(wide, narrow), "alignment of " #type)
#define AT(type, field, wide, narrow)                                                                                  \
    _Static_assert(offsetof(type, field) == EITHER(wide, narrow), "offset of " #field " in " #type)

SIZE(nk_arena_t, 64, 64);
SIZE(nk_model_t, 96, 96);
SIZE(struct nk_arena, 64, 64);
SIZE(struct nk_model, 96, 96);
#if defined(__x86_64__) || defined(__aarch64__) || defined(__arm__)
ALIGNED(nk_arena_t, 16, 8);
ALIGNED(nk_model_t, 16, 8);
#endif

SIZE(nk_arch_info_t, 64, 52);
AT(nk_arch_info_t, version, 0, 0);
AT(nk_arch_info_t, kind, 4, 4);
AT(nk_arch_info_t, input_shape, 8, 8);
AT(nk_arch_info_t, input_rank, 24, 24);
AT(nk_arch_info_t, num_layers, 28, 28);
AT(nk_arch_info_t, expected_weight_floats, 32, 32);
AT(nk_arch_info_t, weights_bytes, 40, 36);
AT(nk_arch_info_t, biases_bytes, 48, 40);
AT(nk_arch_info_t, input_elements, 56, 44);
AT(nk_arch_info_t, output_elements, 60, 48);

SIZE(nk_inspect_info_t, 104, 72);
AT(nk_inspect_info_t, arch, 0, 0);
AT(nk_inspect_info_t, weight_floats, 64, 52);
AT(nk_inspect_info_t, arena_bytes_after_load, 72, 56);
AT(nk_inspect_info_t, arena_bytes_after_forward, 80, 60);
AT(nk_inspect_info_t, arena_remaining, 88, 64);
AT(nk_inspect_info_t, flash_payload_bytes, 96, 68);

SIZE(nk_allocator_t, 32, 16);
AT(nk_allocator_t, alloc, 8, 4);
AT(nk_allocator_t, free_, 16, 8);
AT(nk_allocator_t, user, 24, 12);

AT(nk_layer_event_t, layer_index, 4, 4);
AT(nk_layer_event_t, type, 8, 8);
AT(nk_layer_event_t, phase, 12, 12);
AT(nk_layer_event_t, elapsed_ns, 16, 16);
AT(nk_layer_event_t, output, 24, 24);

AT(nk_layer_info_t, type, 4, 4);
AT(nk_layer_info_t, index, 8, 8);
AT(nk_layer_info_t, in_shape, 12, 12);
AT(nk_layer_info_t, out_shape, 28, 28);
AT(nk_layer_info_t, in_rank, 44, 44);
AT(nk_layer_info_t, out_rank, 48, 48);
AT(nk_layer_info_t, weight_bytes, 56, 52);
AT(nk_layer_info_t, macs, 64, 56);

SIZE(nk_test_summary_t, 8, 8);
AT(nk_test_summary_t, passed, 0, 0);
AT(nk_test_summary_t, failed, 4, 4);

SIZE(nk_tensor_t, 56, 52);
AT(nk_tensor_t, data, 0, 0);
AT(nk_tensor_t, dtype, 8, 4);
AT(nk_tensor_t, rank, 12, 8);
AT(nk_tensor_t, shape, 16, 12);
AT(nk_tensor_t, stride, 32, 28);
AT(nk_tensor_t, num_elements, 48, 44);
AT(nk_tensor_t, bytes, 52, 48);

SIZE(nk_quant_params_t, 8, 8);
AT(nk_quant_params_t, scale, 0, 0);
AT(nk_quant_params_t, zero_point, 4, 4);

AT(nk_error_info_t, struct_size, 0, 0);
AT(nk_memory_plan_t, struct_size, 0, 0);

static void texts(void) {
    static const char *const wanted[] = {
        "ok",
        "model file open failed",
        "model read failed",
        "model parse failed",
        "unsupported network",
        "version mismatch",
        "layer config error",
        "weight payload size mismatch",
        "arena overflow",
        "invalid argument",
        "buffer too small",
        "model not loaded",
        "not initialized",
    };
    for (int i = 0; i < (int)(sizeof wanted / sizeof wanted[0]); i++) {
        const char *found = nk_status_string((nk_status_t)i);
        if (EXPECT(found != NULL)) {
            EXPECT_THAT(strcmp(found, wanted[i]) == 0, "status %d is \"%s\"", i, found);
        }
    }
    const int outside[] = {13, 99, -1, 0x7FFFFFFF};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        EXPECT_THAT(strcmp(nk_status_string((nk_status_t)outside[i]), "unknown") == 0, "status %d", outside[i]);
    }
}

static void version(void) {
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%d.%d.%d", NK_VERSION_MAJOR, NK_VERSION_MINOR, NK_VERSION_PATCH);
    EXPECT(strcmp(nk_version_string(), wanted) == 0);
    EXPECT(nk_version_string() == nk_version_string());
}

/* A header and a library of different builds notice it. */
static void abi_handshake(void) {
    EXPECT(nk_abi_version() == NK_ABI_VERSION);
    EXPECT(nk_abi_ok());
    EXPECT(nk_check_abi(NK_ABI_VERSION + 1, sizeof(nk_arena_t), sizeof(nk_model_t), sizeof(nk_tensor_t)) != NK_OK);
    EXPECT(nk_check_abi(NK_ABI_VERSION, 32, sizeof(nk_model_t), sizeof(nk_tensor_t)) != NK_OK);
    EXPECT(nk_check_abi(NK_ABI_VERSION, sizeof(nk_arena_t), 104, sizeof(nk_tensor_t)) != NK_OK);
    EXPECT(nk_check_abi(NK_ABI_VERSION, sizeof(nk_arena_t), sizeof(nk_model_t), 1) != NK_OK);
}

static void last_error_text(void) {
    char copy[NK_MAX_MESSAGE_LEN];
    char small[6] = "~~~~~";
    nk_clear_last_error();
    EXPECT(nk_last_error() != NULL && nk_last_error()[0] == '\0');
    EXPECT_STATUS(nk_load("models/no_such_model.nk", NULL, NULL), NK_ERR_INVALID_ARGUMENT);
    nk_arch_info_t arch;
    EXPECT_STATUS(nk_parse_architecture("models/no_such_model.nk", &arch), NK_ERR_MODEL_OPEN);
    size_t length = strlen(nk_last_error());
    EXPECT(length > 0 && length < NK_MAX_MESSAGE_LEN);
    nk_last_error_copy(copy, sizeof copy);
    EXPECT(strcmp(copy, nk_last_error()) == 0);
    nk_last_error_copy(small, 5);
    EXPECT(strncmp(small, nk_last_error(), 4) == 0 && small[4] == '\0' && small[5] == '\0');
    nk_last_error_copy(NULL, 0);
    nk_clear_last_error();
    EXPECT(nk_last_error()[0] == '\0');
}

/* The structured form names the status, the amounts and the place. */
static void last_error_details(void) {
    static unsigned char memory[64];
    model_file file = need_model("models/test_mlp.nk");
    nk_arena_t arena;
    nk_model_t model;
    nk_error_info_t info;

    nk_arena_init(&arena, memory, sizeof memory);
    EXPECT_STATUS(nk_load_memory(file.bytes, file.size, &arena, &model), NK_ERR_ARENA_OVERFLOW);
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.status == NK_ERR_ARENA_OVERFLOW);
    EXPECT(info.needed > sizeof memory && info.available <= sizeof memory);
    EXPECT(info.message[0] != '\0');

    file.bytes[48] = 99; /* kind byte of the first layer */
    EXPECT_STATUS(nk_load_memory(file.bytes, file.size, &arena, &model), NK_ERR_MODEL_READ);
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.status == NK_ERR_MODEL_READ && info.layer_index == 0 && info.byte_offset == 48);
    free(file.bytes);
}

int main(void) {
    RUN(texts);
    RUN(version);
    RUN(abi_handshake);
    RUN(last_error_text);
    RUN(last_error_details);
    return report();
}
