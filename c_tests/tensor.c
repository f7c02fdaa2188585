/* Tensors: made in an arena, made over values of any type, filled, printed. Views and accessors are in int8.c. */
#include "capture.h"

static _Alignas(16) unsigned char memory[1024];

/* A tensor that no failing call may touch. */
static nk_tensor_t untouched(void) {
    nk_tensor_t tensor;
    memset(&tensor, 0xA5, sizeof tensor);
    return tensor;
}

#define EXPECT_REFUSED(call, status, words, out)                                                                       \
    (EXPECT_ERROR(call, status, words), EXPECT_THAT(all_bytes(&(out), sizeof(out), 0xA5), #call " writes"))

static void create_2d(void) {
    nk_arena_t arena;
    nk_tensor_t tensor = untouched();
    nk_arena_init(&arena, memory, sizeof memory);
    memset(memory, 0x5A, sizeof memory);
    EXPECT(nk_arena_alloc(&arena, 1, 1) != NULL);
    EXPECT_OK(nk_tensor_create_2d(&arena, 2, 3, &tensor));
    EXPECT((unsigned char *)tensor.data >= memory + 1 && (uintptr_t)tensor.data % 4 == 0);
    EXPECT(nk_arena_used(&arena) == (size_t)((unsigned char *)tensor.data - memory) + 24);
    EXPECT(tensor.dtype == NK_DTYPE_FLOAT32 && tensor.rank == 2);
    EXPECT(tensor.shape[0] == 2 && tensor.shape[1] == 3 && tensor.shape[2] == 0 && tensor.shape[3] == 0);
    EXPECT(tensor.stride[0] == 3 && tensor.stride[1] == 1 && tensor.stride[2] == 0 && tensor.stride[3] == 0);
    EXPECT(tensor.num_elements == 6 && tensor.bytes == 24);
    EXPECT(all_bytes(memory, sizeof memory, 0x5A));
}

static void create_nd(void) {
    static const struct {
        uint32_t rank, shape[4], stride[4], elements;
    } cases[] = {
        {1, {5, 0, 0, 0}, {1, 0, 0, 0}, 5},
        {2, {3, 4, 0, 0}, {4, 1, 0, 0}, 12},
        {3, {4, 4, 1, 0}, {4, 1, 1, 0}, 16},
        {4, {2, 3, 4, 5}, {60, 20, 5, 1}, 120},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nk_arena_t arena;
        nk_tensor_t tensor = untouched();
        nk_arena_init(&arena, memory, sizeof memory);
        EXPECT_OK(nk_tensor_create_nd(&arena, cases[i].rank, cases[i].shape, &tensor));
        EXPECT_THAT(tensor.rank == cases[i].rank && tensor.dtype == NK_DTYPE_FLOAT32, "case %zu", i);
        EXPECT_THAT(memcmp(tensor.shape, cases[i].shape, sizeof tensor.shape) == 0, "case %zu", i);
        EXPECT_THAT(memcmp(tensor.stride, cases[i].stride, sizeof tensor.stride) == 0, "case %zu", i);
        EXPECT_THAT(tensor.num_elements == cases[i].elements && tensor.bytes == 4 * cases[i].elements, "case %zu", i);
    }
}

static void create_is_refused(void) {
    static const uint32_t shape[5] = {1, 2, 3, 4, 5}, with_zero[2] = {3, 0};
    static const uint32_t huge[4] = {0x10000, 0x10000, 0x10000, 0x10000};
    nk_arena_t arena, never;
    nk_tensor_t out = untouched();
    nk_error_info_t info;
    memset(&never, 0x55, sizeof never);
    nk_arena_init(&arena, memory, 64);

    EXPECT_REFUSED(nk_tensor_create_2d(NULL, 1, 1, &out), NK_ERR_INVALID_ARGUMENT, "arena is NULL", out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 1, 1, NULL), NK_ERR_INVALID_ARGUMENT, "out is NULL", out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 0, 1, &out), NK_ERR_ARENA_OVERFLOW, "extent is 0, expected at least 1",
                   out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 1, 0, &out), NK_ERR_ARENA_OVERFLOW, "extent is 0, expected at least 1",
                   out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 1, 17, &out), NK_ERR_ARENA_OVERFLOW, "is 64, expected at least 68", out);
    memset(&info, 0, sizeof info);
    info.struct_size = (uint32_t)sizeof info;
    EXPECT_OK(nk_last_error_info(&info));
    EXPECT(info.needed == 68 && info.available == 64);
    /* Products that are small when cut to 32 bits. */
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 0x10000, 0x10000, &out), NK_ERR_INVALID_ARGUMENT, "32 bits", out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 0x8000, 0x8000, &out), NK_ERR_INVALID_ARGUMENT, "32 bits", out);
    EXPECT_REFUSED(nk_tensor_create_2d(&arena, 0xFFFFFFFFu, 0xFFFFFFFFu, &out), NK_ERR_INVALID_ARGUMENT, "32 bits",
                   out);
    EXPECT_REFUSED(nk_tensor_create_2d(&never, 1, 1, &out), NK_ERR_ARENA_OVERFLOW, "never initialised", out);

    EXPECT_REFUSED(nk_tensor_create_nd(NULL, 2, shape, &out), NK_ERR_INVALID_ARGUMENT, "arena is NULL", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 2, NULL, &out), NK_ERR_INVALID_ARGUMENT, "shape is NULL", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 2, shape, NULL), NK_ERR_INVALID_ARGUMENT, "out is NULL", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 0, shape, &out), NK_ERR_INVALID_ARGUMENT,
                   "rank is 0, expected at least 1", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 5, shape, &out), NK_ERR_INVALID_ARGUMENT,
                   "rank is 5, expected at most 4", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 0xFFFFFFFFu, shape, &out), NK_ERR_INVALID_ARGUMENT, "rank is 4294967295",
                   out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 2, with_zero, &out), NK_ERR_ARENA_OVERFLOW, "extent is 0", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 4, shape, &out), NK_ERR_ARENA_OVERFLOW, "expected at least 96", out);
    EXPECT_REFUSED(nk_tensor_create_nd(&arena, 4, huge, &out), NK_ERR_INVALID_ARGUMENT, "32 bits", out);
    EXPECT(nk_arena_used(&arena) == 0);
    /* What is needed includes the bytes in front that alignment costs. */
    EXPECT(nk_arena_alloc(&arena, 3, 1) != NULL);
    nk_arena_t odd;
    nk_arena_init(&odd, memory + 1, 62);
    EXPECT_REFUSED(nk_tensor_create_2d(&odd, 1, 15, &out), NK_ERR_ARENA_OVERFLOW, "is 62, expected at least 63", out);
    EXPECT_OK(nk_tensor_create_2d(&arena, 1, 15, &out));
}

static void view_nd(void) {
    static const struct {
        nk_dtype_t dtype;
        uint32_t bytes;
    } types[] = {
        {NK_DTYPE_FLOAT32, 4}, {NK_DTYPE_INT8, 1}, {NK_DTYPE_UINT8, 1}, {NK_DTYPE_INT16, 2}, {NK_DTYPE_INT32, 4},
    };
    static const uint32_t shape[4] = {2, 3, 4, 5}, with_zero[2] = {3, 0};
    nk_tensor_t tensor;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        tensor = untouched();
        EXPECT_OK(nk_tensor_view_nd(memory, types[i].dtype, 4, shape, &tensor));
        EXPECT_THAT(tensor.data == memory && tensor.dtype == types[i].dtype && tensor.rank == 4, "type %zu", i);
        EXPECT_THAT(memcmp(tensor.shape, shape, sizeof shape) == 0, "type %zu", i);
        EXPECT_THAT(tensor.num_elements == 120 && tensor.bytes == 120 * types[i].bytes, "type %zu", i);
        EXPECT_THAT(tensor.stride[0] == 60 && tensor.stride[1] == 20 && tensor.stride[2] == 5 && tensor.stride[3] == 1,
                    "type %zu", i);
    }
    tensor = untouched();
    EXPECT_OK(nk_tensor_view_nd(NULL, NK_DTYPE_INT16, 1, shape, &tensor));
    EXPECT(tensor.data == NULL && tensor.num_elements == 2 && tensor.shape[1] == 0 && tensor.stride[1] == 0);
    EXPECT_OK(nk_tensor_view_nd(memory, NK_DTYPE_INT16, 2, with_zero, &tensor));
    EXPECT(tensor.num_elements == 0 && tensor.bytes == 0);
}

static void view_nd_is_refused(void) {
    static const uint32_t shape[5] = {2, 3, 4, 5, 6}, halves[2] = {0x8000, 0x10000}, quarters[2] = {0x8000, 0x8000};
    nk_tensor_t out = untouched();
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_INT8, 2, NULL, &out), NK_ERR_INVALID_ARGUMENT, "shape is NULL",
                   out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_INT8, 2, shape, NULL), NK_ERR_INVALID_ARGUMENT, "out is NULL",
                   out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_INT8, 0, shape, &out), NK_ERR_INVALID_ARGUMENT,
                   "rank is 0, expected at least 1", out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_INT8, 5, shape, &out), NK_ERR_INVALID_ARGUMENT,
                   "rank is 5, expected at most 4", out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, (nk_dtype_t)5, 2, shape, &out), NK_ERR_INVALID_ARGUMENT,
                   "dtype is not one of nk_dtype_t", out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_INT16, 2, halves, &out), NK_ERR_INVALID_ARGUMENT, "32 bits", out);
    EXPECT_REFUSED(nk_tensor_view_nd(memory, NK_DTYPE_FLOAT32, 2, quarters, &out), NK_ERR_INVALID_ARGUMENT, "32 bits",
                   out);
    EXPECT_OK(nk_tensor_view_nd(memory, NK_DTYPE_INT8, 2, halves, &out));
}

static void fill(void) {
    static const float values[6] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
    float reals[6] = {9.0f, 9.0f, 9.0f, 9.0f, 9.0f, 9.0f};
    nk_tensor_t tensor;
    nk_tensor_view_2d(reals, 2, 3, &tensor);
    EXPECT_OK(nk_tensor_fill(&tensor, values, 2));
    EXPECT(reals[0] == 1.0f && reals[1] == 2.0f && reals[2] == 9.0f);
    EXPECT_OK(nk_tensor_fill(&tensor, values, 6));
    EXPECT(memcmp(reals, values, sizeof values) == 0);
    EXPECT_OK(nk_tensor_fill(&tensor, reals + 1, 5));
    EXPECT(reals[0] == 2.0f && reals[4] == 6.0f && reals[5] == 6.0f);
}

static void fill_is_refused(void) {
    static const float values[7] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f};
    float reals[6];
    nk_tensor_t tensor, other;
    memset(reals, 0xA5, sizeof reals);
    nk_tensor_view_2d(reals, 2, 3, &tensor);
    EXPECT_REFUSED(nk_tensor_fill(NULL, values, 1), NK_ERR_INVALID_ARGUMENT, "tensor is NULL", reals);
    EXPECT_REFUSED(nk_tensor_fill(&tensor, NULL, 1), NK_ERR_INVALID_ARGUMENT, "values is NULL", reals);
    EXPECT_REFUSED(nk_tensor_fill(&tensor, values, 0), NK_ERR_INVALID_ARGUMENT, "count is 0, expected at least 1",
                   reals);
    EXPECT_REFUSED(nk_tensor_fill(&tensor, values, 7), NK_ERR_INVALID_ARGUMENT, "count is 7, expected at most 6",
                   reals);
    nk_tensor_view_2d(NULL, 2, 3, &other);
    EXPECT_REFUSED(nk_tensor_fill(&other, values, 6), NK_ERR_INVALID_ARGUMENT, "the tensor has no values", reals);
    nk_tensor_view_2d_int8((int8_t *)(void *)reals, 2, 3, &other);
    EXPECT_REFUSED(nk_tensor_fill(&other, values, 6), NK_ERR_INVALID_ARGUMENT, "not of type float32", reals);
    /* A tensor of zeros has no elements, and floats lie at multiples of 4. */
    memset(&other, 0, sizeof other);
    EXPECT_REFUSED(nk_tensor_fill(&other, values, 1), NK_ERR_INVALID_ARGUMENT, "count is 1, expected at most 0", reals);
    nk_tensor_view_2d((float *)(void *)((unsigned char *)reals + 2), 1, 3, &other);
    EXPECT_REFUSED(nk_tensor_fill(&other, values, 3), NK_ERR_INVALID_ARGUMENT, "no multiple of 4", reals);
}

static void print_floats(void) {
    float reals[6] = {1.0f, 2.5f, -3.0f, 4.0f, 5.0f, 6.0f}, special[4] = {NAN, INFINITY, -INFINITY, 0.00004f};
    static float many[300];
    nk_tensor_t tensor;
    nk_tensor_view_2d(reals, 2, 3, &tensor);
    EXPECT_PRINTS(nk_tensor_print_labeled("Lbl", &tensor),
                  "Lbl: shape=[2, 3] values=[1.0000, 2.5000, -3.0000, 4.0000, 5.0000, 6.0000]\n");
    EXPECT_PRINTS(nk_tensor_print(&tensor),
                  "Tensor: shape=[2, 3] values=[1.0000, 2.5000, -3.0000, 4.0000, 5.0000, 6.0000]\n");
    EXPECT_PRINTS(nk_tensor_print_labeled(NULL, &tensor),
                  "Tensor: shape=[2, 3] values=[1.0000, 2.5000, -3.0000, 4.0000, 5.0000, 6.0000]\n");
    nk_tensor_view_2d(special, 1, 4, &tensor);
    EXPECT_PRINTS(nk_tensor_print_labeled("", &tensor), ": shape=[1, 4] values=[nan, inf, -inf, 0.0000]\n");
    EXPECT_PRINTS(nk_tensor_print_labeled("caf\xC3\xA9\xFFignored", &tensor),
                  "caf\xC3\xA9: shape=[1, 4] values=[nan, inf, -inf, 0.0000]\n");
    nk_tensor_view_2d(many, 1, 300, &tensor);
    capture_begin();
    nk_tensor_print(&tensor);
    EXPECT(strlen(capture_end()) == strlen("Tensor: shape=[1, 300] values=[]\n") + 300 * 6 + 299 * 2);
}

static void print_integers(void) {
    int8_t bytes[4] = {-128, 0, 127, 5};
    uint8_t unsigned_bytes[2] = {0, 255};
    int16_t shorts[2] = {-32768, 32767};
    int32_t words[2] = {INT32_MIN, INT32_MAX};
    const uint32_t two = 2;
    nk_tensor_t tensor;
    nk_tensor_view_2d_int8(bytes, 1, 4, &tensor);
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[1, 4] values=[-128, 0, 127, 5]\n");
    EXPECT_OK(nk_tensor_view_nd(unsigned_bytes, NK_DTYPE_UINT8, 1, &two, &tensor));
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[2] values=[0, 255]\n");
    EXPECT_OK(nk_tensor_view_nd(shorts, NK_DTYPE_INT16, 1, &two, &tensor));
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[2] values=[-32768, 32767]\n");
    nk_tensor_view_1d_int32(words, 2, &tensor);
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[1, 2] values=[-2147483648, 2147483647]\n");
}

static void print_nothing(void) {
    float reals[1] = {1.0f};
    nk_tensor_t tensor;
    EXPECT_PRINTS(nk_tensor_print(NULL), "");
    EXPECT_PRINTS(nk_tensor_print_labeled("Lbl", NULL), "");
    EXPECT_PRINTS(nk_tensor_print_labeled(NULL, NULL), "");
    nk_tensor_view_2d(NULL, 2, 2, &tensor);
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[2, 2] values=[empty]\n");
    nk_tensor_view_2d(reals, 0, 2, &tensor);
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[0, 2] values=[empty]\n");
    nk_tensor_view_2d(reals, 1, 1, &tensor);
    tensor.dtype = (nk_dtype_t)7;
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[1, 1] values=[empty]\n");
    /* A rank that no tensor has shows what there is. */
    nk_tensor_view_2d(reals, 1, 1, &tensor);
    tensor.rank = 1000;
    EXPECT_PRINTS(nk_tensor_print(&tensor), "Tensor: shape=[1, 1, 0, 0] values=[1.0000]\n");
}

int main(void) {
    RUN(create_2d);
    RUN(create_nd);
    RUN(create_is_refused);
    RUN(view_nd);
    RUN(view_nd_is_refused);
    RUN(fill);
    RUN(fill_is_refused);
    RUN(print_floats);
    RUN(print_integers);
    RUN(print_nothing);
    return report();
}
