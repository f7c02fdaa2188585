/* Numbers and texts that programs compiled earlier rely on. Layouts are in layout.c. */
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
SAME(NK_MLP_STORAGE_BYTES, 16);
SAME(NK_CNN_STORAGE_BYTES, 16);
SAME(NK_PAD_MIRROR, -1);

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

SAME(NK_ACTIVATION_NONE, 0);
SAME(NK_ACTIVATION_RELU, 1);
SAME(NK_ACTIVATION_SIGMOID, 2);
SAME(NK_ACTIVATION_TANH, 3);
SAME(NK_ACTIVATION_LEAKY_RELU, 4);
SAME(NK_ACTIVATION_RELU6, 5);
SAME(NK_ACTIVATION_SOFTMAX, 6);

SAME(NK_CONV_ACTIVATION_NONE, 0);
SAME(NK_CONV_ACTIVATION_RELU, 1);
SAME(NK_CONV_ACTIVATION_SIGMOID, 2);
SAME(NK_CONV_ACTIVATION_TANH, 3);
SAME(NK_CONV_ACTIVATION_LEAKY_RELU, 4);
SAME(NK_CONV_ACTIVATION_RELU6, 5);
SAME(NK_CONV_ACTIVATION_SOFTMAX, 6);

SAME(NK_CNN_BLOCK_CONV2D, 0);
SAME(NK_CNN_BLOCK_DEPTHWISE_CONV2D, 1);
SAME(NK_CNN_BLOCK_MAX_POOL2D, 2);
SAME(NK_CNN_BLOCK_AVG_POOL2D, 3);
SAME(NK_CNN_BLOCK_BATCH_NORM2D, 4);
SAME(NK_CNN_BLOCK_LAYERNORM2D, 5);
SAME(NK_CNN_BLOCK_FLATTEN, 6);
SAME(NK_CNN_BLOCK_DENSE, 7);
SAME(NK_CNN_BLOCK_CONVNEXTV2_BLOCK, 8);
SAME(NK_CNN_BLOCK_MOBILENETV4_UIB, 9);
SAME(NK_CNN_BLOCK_RESNET_BASIC_BLOCK, 10);
SAME(NK_CNN_BLOCK_YOLOX_DECOUPLED_HEAD, 11);
SAME(NK_CNN_BLOCK_FEATURE_TAP, 12);
SAME(NK_CNN_BLOCK_YOLOX_PAFPN_MULTISCALE, 13);

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
    const nk_status_t mismatch = NK_ERR_VERSION_MISMATCH;
    const size_t arena = sizeof(nk_arena_t), model = sizeof(nk_model_t), tensor = sizeof(nk_tensor_t);
    EXPECT_OK(nk_check_abi(NK_ABI_VERSION, arena, model, tensor));
    EXPECT_ERROR(nk_check_abi(NK_ABI_VERSION + 1, arena, model, tensor), mismatch, "header is 2, expected 1");
    EXPECT_ERROR(nk_check_abi(NK_ABI_VERSION, 32, model, tensor), mismatch, "sizeof(nk_arena_t) is 32, expected 64");
    EXPECT_ERROR(nk_check_abi(NK_ABI_VERSION, arena, 104, tensor), mismatch, "sizeof(nk_model_t) is 104, expected 96");
    EXPECT_ERROR(nk_check_abi(NK_ABI_VERSION, arena, model, 1), mismatch, "sizeof(nk_tensor_t) is 1");
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
    /* The length is that of the whole text, however much of it was copied. */
    memset(copy, '~', sizeof copy);
    EXPECT(nk_last_error_copy(copy, sizeof copy) == length);
    EXPECT(strcmp(copy, nk_last_error()) == 0 && all_bytes(copy + length + 1, sizeof copy - length - 1, '~'));
    EXPECT(nk_last_error_copy(small, 5) == length);
    EXPECT(strncmp(small, nk_last_error(), 4) == 0 && small[4] == '\0' && small[5] == '\0');
    memset(small, '~', sizeof small);
    EXPECT(nk_last_error_copy(small, 1) == length && small[0] == '\0' && small[1] == '~');
    small[0] = '~';
    EXPECT(nk_last_error_copy(small, 0) == length && small[0] == '~');
    EXPECT(nk_last_error_copy(NULL, 0) == length && nk_last_error_copy(NULL, 16) == length);
    /* The exact size is enough. */
    EXPECT(nk_last_error_copy(copy, length + 1) == length && strcmp(copy, nk_last_error()) == 0);
    nk_clear_last_error();
    EXPECT(nk_last_error()[0] == '\0');
    EXPECT(nk_last_error_copy(copy, sizeof copy) == 0 && copy[0] == '\0');
}

/* A wrong size is refused without a look at the rest, and the question leaves the last error alone. */
static void last_error_info_is_refused(void) {
    nk_error_info_t info;
    nk_arch_info_t arch;
    static const uint32_t sizes[] = {0, 4, (uint32_t)sizeof info - 1, 0xA5A5A5A5u, UINT32_MAX};
    EXPECT_STATUS(nk_parse_architecture(NULL, &arch), NK_ERR_INVALID_ARGUMENT);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        memset(&info, 0xA5, sizeof info);
        info.struct_size = sizes[i];
        EXPECT_STATUS(nk_last_error_info(&info), NK_ERR_INVALID_ARGUMENT);
        EXPECT(all_bytes(&info.status, sizeof info - sizeof info.struct_size, 0xA5) && info.struct_size == sizes[i]);
        EXPECT(strcmp(nk_last_error(), "path is NULL") == 0);
    }
    EXPECT_STATUS(nk_last_error_info(NULL), NK_ERR_INVALID_ARGUMENT);
    EXPECT(strcmp(nk_last_error(), "path is NULL") == 0);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.status == NK_ERR_INVALID_ARGUMENT && strcmp(info.message, "path is NULL") == 0);
    EXPECT(info.layer_index == -1 && info.byte_offset == 0xFFFFFFFFu && info.needed == 0 && info.available == 0);
    /* After a success there is nothing to tell. */
    EXPECT_OK(nk_parse_architecture("models/test_mlp.nk", &arch));
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.status == NK_OK && info.message[0] == '\0');
    EXPECT(info.layer_index == -1 && info.byte_offset == 0xFFFFFFFFu && info.needed == 0 && info.available == 0);
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
    RUN(last_error_info_is_refused);
    RUN(last_error_details);
    return report();
}
