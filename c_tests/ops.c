/* Operations on tensors: values from the formulas, shapes and types that do not fit, results over operands, strides. */
#include "capture.h"

enum { MOST = 100 };

static nk_tensor_t tensor_of(float *values, uint32_t rank, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3) {
    const uint32_t shape[4] = {d0, d1, d2, d3};
    nk_tensor_t tensor;
    memset(&tensor, 0, sizeof tensor);
    EXPECT_OK(nk_tensor_view_nd(values, NK_DTYPE_FLOAT32, rank, shape, &tensor));
    return tensor;
}

static nk_tensor_t matrix(float *values, uint32_t rows, uint32_t columns) {
    return tensor_of(values, 2, rows, columns, 0, 0);
}

/* ---- all operations in one form ---- */

typedef void (*binary_fn)(const nk_tensor_t *, const nk_tensor_t *, nk_tensor_t *);
typedef void (*unary_fn)(const nk_tensor_t *, nk_tensor_t *);

static void mul_scalar(const nk_tensor_t *a, nk_tensor_t *c) { nk_ops_mul_scalar(a, -1.5f, c); }
static void leaky_relu(const nk_tensor_t *a, nk_tensor_t *c) { nk_ops_leaky_relu(a, c, 0.1f); }

static double sum(double x, double y) { return x + y; }
static double product(double x, double y) { return x * y; }
static double scaled(double x) { return -1.5 * x; }
static double relu(double x) { return x > 0 ? x : 0; }
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double leaky(double x) { return x > 0 ? x : (double)0.1f * x; }
static double relu6(double x) { return x < 0 ? 0 : x > 6 ? 6 : x; }

static const struct binary_op {
    const char *name, *mismatch;
    binary_fn call;
    double (*formula)(double, double);
    bool checks_c, is_2d;
} binary_ops[] = {
    {"Mul", "Mul error: shape mismatch\n", nk_ops_mul, product, false, false},
    {"MulND", "MulND shape mismatch\n", nk_ops_mul_nd, product, true, false},
    {"Add", "Shape mismatch in Add()\n", nk_ops_mat_add, sum, true, true},
    {"AddND", "Shape mismatch in AddND()\n", nk_ops_mat_add_nd, sum, true, false},
};

static const struct unary_op {
    const char *name, *mismatch;
    unary_fn call;
    double (*formula)(double);
    bool checks_shape;
} unary_ops[] = {
    {"MulScalar", "MulScalar shape mismatch\n", mul_scalar, scaled, false},
    {"ReLU", "ReLU shape mismatch\n", nk_ops_relu, relu, true},
    {"Sigmoid", "Sigmoid shape mismatch\n", nk_ops_sigmoid, sigmoid, true},
    {"Tanh", "Tanh shape mismatch\n", nk_ops_tanh, tanh, true},
    {"LeakyReLU", "LeakyReLU shape mismatch\n", leaky_relu, leaky, true},
    {"ReLU6", "ReLU6 shape mismatch\n", nk_ops_relu6, relu6, true},
    {"Softmax", "Softmax shape mismatch\n", nk_ops_softmax, NULL, false},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- checks ---- */

static void shape_checks(void) {
    static const struct {
        uint32_t ranks[3], shapes[3][4];
        bool first_two, all_2d, all_nd, matmul;
    } cases[] = {
        {{2, 2, 2}, {{2, 3}, {2, 3}, {2, 3}}, true, true, true, false},
        {{2, 2, 2}, {{2, 2}, {2, 2}, {2, 2}}, true, true, true, true},
        {{2, 2, 2}, {{2, 3}, {3, 4}, {2, 4}}, false, false, false, true},
        {{2, 2, 2}, {{2, 3}, {3, 4}, {4, 2}}, false, false, false, false},
        {{2, 2, 2}, {{2, 3}, {4, 3}, {2, 3}}, false, false, false, false},
        {{2, 2, 2}, {{2, 3}, {2, 3}, {3, 2}}, true, false, false, false},
        {{2, 2, 3}, {{2, 2}, {2, 2}, {2, 2, 1}}, true, false, false, false},
        {{3, 3, 3}, {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}}, true, false, true, false},
        {{4, 4, 4}, {{2, 3, 4, 5}, {2, 3, 4, 5}, {2, 3, 4, 6}}, true, false, false, false},
        {{1, 1, 1}, {{6}, {6}, {6}}, true, false, true, false},
        {{1, 2, 1}, {{6}, {1, 6}, {6}}, false, false, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        nk_tensor_t t[3];
        for (int j = 0; j < 3; j++) {
            EXPECT_OK(nk_tensor_view_nd(NULL, NK_DTYPE_FLOAT32, cases[i].ranks[j], cases[i].shapes[j], &t[j]));
        }
        EXPECT_THAT(nk_ops_is_elementwise_valid(&t[0], &t[1]) == cases[i].first_two, "case %zu", i);
        EXPECT_THAT(nk_ops_is_unary_op_valid(&t[0], &t[1]) == cases[i].first_two, "case %zu", i);
        EXPECT_THAT(nk_ops_check_same_shape_2d(&t[0], &t[1], &t[2]) == cases[i].all_2d, "case %zu", i);
        EXPECT_THAT(nk_ops_check_same_shape_nd(&t[0], &t[1], &t[2]) == cases[i].all_nd, "case %zu", i);
        EXPECT_THAT(nk_ops_is_elementwise_valid_nd(&t[0], &t[1], &t[2]) == cases[i].all_nd, "case %zu", i);
        EXPECT_THAT(nk_ops_is_matmul_valid(&t[0], &t[1], &t[2]) == cases[i].matmul, "case %zu", i);
    }
}

static void checks_without_tensors(void) {
    float values[4];
    nk_tensor_t t = matrix(values, 2, 2);
    EXPECT(nk_ops_is_elementwise_valid(&t, &t) && nk_ops_is_unary_op_valid(&t, &t));
    EXPECT(!nk_ops_is_elementwise_valid(NULL, &t) && !nk_ops_is_elementwise_valid(&t, NULL));
    EXPECT(!nk_ops_is_unary_op_valid(NULL, &t) && !nk_ops_is_unary_op_valid(&t, NULL));
    bool (*const ternary[])(const nk_tensor_t *, const nk_tensor_t *, const nk_tensor_t *) = {
        nk_ops_check_same_shape_2d, nk_ops_check_same_shape_nd, nk_ops_is_matmul_valid, nk_ops_is_elementwise_valid_nd};
    for (size_t i = 0; i < COUNT_OF(ternary); i++) {
        EXPECT_THAT(ternary[i](&t, &t, &t), "check %zu", i);
        EXPECT_THAT(!ternary[i](NULL, &t, &t) && !ternary[i](&t, NULL, &t), "check %zu", i);
        EXPECT_THAT(!ternary[i](&t, &t, NULL), "check %zu", i);
    }
}

/* ---- values ---- */

/* Every number of elements around the block and vector sizes, the result apart and over each operand. */
static void binary_values(void) {
    for (size_t i = 0; i < COUNT_OF(binary_ops); i++) {
        for (uint32_t n = 1; n <= MOST; n++) {
            for (int place = 0; place < 4; place++) {
                float a[MOST], b[MOST], c[MOST + 1], x[MOST], y[MOST];
                fill_input(a, n, n);
                fill_input(b, n, n + 1000);
                memcpy(x, a, sizeof x);
                memcpy(y, place == 3 ? a : b, sizeof y);
                c[n] = 7.0f;
                nk_tensor_t ta = matrix(a, 1, n), tb = matrix(place == 3 ? a : b, 1, n), tc = matrix(c, 1, n);
                float *result = place == 0 ? c : place == 2 ? b : a;
                tc.data = result;
                binary_ops[i].call(&ta, &tb, &tc);
                for (uint32_t k = 0; k < n; k++) {
                    float wanted = (float)binary_ops[i].formula((double)x[k], (double)y[k]);
                    if (!EXPECT_THAT(result[k] == wanted, "%s place %d: [%u of %u] is %g, not %g", binary_ops[i].name,
                                     place, (unsigned)k, (unsigned)n, (double)result[k], (double)wanted)) {
                        return;
                    }
                }
                EXPECT(c[n] == 7.0f);
            }
        }
    }
}

static double softmax_value(const float *x, uint32_t n, uint32_t step, uint32_t k) {
    double total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += exp((double)x[i * step] - (double)x[k * step]);
    }
    return 1 / total;
}

/* The result apart, over the operand, and overlapping it. */
static void unary_values(void) {
    for (size_t i = 0; i < COUNT_OF(unary_ops); i++) {
        for (uint32_t n = 1; n <= MOST; n++) {
            for (int place = 0; place < 3; place++) {
                float values[MOST + 3], c[MOST + 1], x[MOST], *a = values + 1;
                fill_input(a, n, n);
                for (uint32_t k = 0; k < n; k++) {
                    x[k] = a[k] *= 8.0f;
                }
                c[n] = 7.0f;
                float *result = place == 0 ? c : place == 1 ? a : a + 1;
                nk_tensor_t ta = matrix(a, 1, n), tc = matrix(result, 1, n);
                unary_ops[i].call(&ta, &tc);
                for (uint32_t k = 0; k < n; k++) {
                    double wanted = unary_ops[i].formula != NULL ? unary_ops[i].formula((double)x[k])
                                                                 : softmax_value(x, n, 1, k);
                    if (!EXPECT_THAT(is_close(result[k], (float)wanted), "%s place %d: [%u of %u] is %g, not %g",
                                     unary_ops[i].name, place, (unsigned)k, (unsigned)n, (double)result[k], wanted)) {
                        return;
                    }
                }
                EXPECT(c[n] == 7.0f);
            }
        }
    }
}

static void special_values(void) {
    float a[5] = {NAN, INFINITY, -INFINITY, -0.0f, 6.5f}, c[5];
    nk_tensor_t ta = matrix(a, 1, 5), tc = matrix(c, 1, 5);
    nk_ops_relu(&ta, &tc);
    EXPECT(c[0] == 0.0f && c[1] == INFINITY && c[2] == 0.0f && c[3] == 0.0f && c[4] == 6.5f);
    nk_ops_relu6(&ta, &tc);
    EXPECT(isnan(c[0]) && c[1] == 6.0f && c[2] == 0.0f && c[4] == 6.0f);
    nk_ops_sigmoid(&ta, &tc);
    EXPECT(isnan(c[0]) && c[1] == 1.0f && c[2] == 0.0f && c[3] == 0.5f);
    nk_ops_tanh(&ta, &tc);
    EXPECT(isnan(c[0]) && c[1] == 1.0f && c[2] == -1.0f && c[3] == 0.0f);
    nk_ops_leaky_relu(&ta, &tc, 0.5f);
    EXPECT(isnan(c[0]) && c[1] == INFINITY && c[2] == -INFINITY && c[4] == 6.5f);
    /* A product of zero keeps its sign, and infinity times zero is NaN. */
    nk_ops_mul_scalar(&ta, 0.0f, &tc);
    EXPECT(isnan(c[0]) && isnan(c[1]) && isnan(c[2]) && c[3] == 0.0f && signbit(c[3]) && !signbit(c[4]));
    float large[3] = {1000.0f, 1000.0f, -1000.0f};
    nk_tensor_t tl = matrix(large, 1, 3);
    nk_ops_softmax(&tl, &tl);
    EXPECT(large[0] == 0.5f && large[1] == 0.5f && large[2] == 0.0f);
}

/* ---- matrices ---- */

static void products_by_hand(void) {
    float a[4] = {1, 2, 3, 4}, identity[4] = {1, 0, 0, 1}, b[6] = {1, 2, 3, 4, 5, 6}, c[6];
    nk_tensor_t ta = matrix(a, 2, 2), ti = matrix(identity, 2, 2), tb = matrix(b, 2, 3), tc = matrix(c, 2, 2);
    nk_ops_mat_mul(&ta, &ti, &tc);
    EXPECT(c[0] == 1.0f && c[1] == 2.0f && c[2] == 3.0f && c[3] == 4.0f);
    tc = matrix(c, 2, 3);
    nk_ops_mat_mul(&ta, &tb, &tc);
    EXPECT(c[0] == 9.0f && c[1] == 12.0f && c[2] == 15.0f && c[3] == 19.0f && c[4] == 26.0f && c[5] == 33.0f);
}

static float at(const nk_tensor_t *t, uint32_t i, uint32_t j) {
    return ((const float *)t->data)[i * t->stride[0] + j * t->stride[1]];
}

/* A matrix inside a larger one, or lying transposed: bit 0 of `how`, bit 1. */
static nk_tensor_t strided(float *values, uint32_t rows, uint32_t columns, int how) {
    nk_tensor_t t = matrix(values, rows, columns);
    uint32_t gap = how & 1 ? 2 : 0, step = how & 1 ? 2 : 1;
    t.stride[0] = how & 2 ? step : step * columns + gap;
    t.stride[1] = how & 2 ? step * rows + gap : step;
    return t;
}

/* Elements of the buffer that belong to no matrix element must stay. */
static void matrices_with_strides(void) {
    enum { ROOM = 4096 };
    static float a[ROOM], b[ROOM], c[ROOM];
    static const uint32_t sizes[][3] = {{1, 1, 1}, {2, 3, 4}, {5, 8, 4}, {3, 9, 5}, {4, 17, 33}, {7, 40, 3}, {2, 0, 3}};
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        uint32_t m = sizes[s][0], n = sizes[s][1], p = sizes[s][2];
        for (int how = 0; how < 64; how++) {
            fill_input(a, ROOM, 1);
            fill_input(b, ROOM, 2);
            for (int i = 0; i < ROOM; i++) {
                c[i] = 7.0f;
            }
            nk_tensor_t ta = strided(a, m, n, how & 3), tb = strided(b, n, p, how >> 2 & 3);
            nk_tensor_t tc = strided(c, m, p, how >> 4);
            nk_ops_mat_mul(&ta, &tb, &tc);
            for (uint32_t i = 0; i < m; i++) {
                for (uint32_t j = 0; j < p; j++) {
                    double wanted = 0;
                    for (uint32_t k = 0; k < n; k++) {
                        wanted += (double)at(&ta, i, k) * (double)at(&tb, k, j);
                    }
                    EXPECT_THAT(is_close(at(&tc, i, j), (float)wanted), "[%u][%u] of %u x %u x %u, strides %d",
                                (unsigned)i, (unsigned)j, (unsigned)m, (unsigned)n, (unsigned)p, how);
                    c[i * tc.stride[0] + j * tc.stride[1]] = 7.0f;
                }
            }
            ta = strided(a, m, p, how & 3), tb = strided(b, m, p, how >> 2 & 3);
            bool is_outside_kept = true;
            for (int i = 0; i < ROOM; i++) {
                is_outside_kept = is_outside_kept && c[i] == 7.0f;
            }
            EXPECT_THAT(is_outside_kept, "strides %d of a product", how);
            nk_ops_mat_add(&ta, &tb, &tc);
            for (uint32_t i = 0; i < m; i++) {
                for (uint32_t j = 0; j < p; j++) {
                    EXPECT_THAT(at(&tc, i, j) == at(&ta, i, j) + at(&tb, i, j), "sum [%u][%u], strides %d", (unsigned)i,
                                (unsigned)j, how);
                    c[i * tc.stride[0] + j * tc.stride[1]] = 7.0f;
                }
            }
            for (int i = 0; i < ROOM; i++) {
                is_outside_kept = is_outside_kept && c[i] == 7.0f;
            }
            EXPECT_THAT(is_outside_kept, "strides %d of a sum", how);
        }
    }
}

static void products_are_refused(void) {
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, 5, 6}, c[6];
    memset(c, 0xA5, sizeof c);
    nk_tensor_t ta = matrix(a, 2, 3), tb = matrix(b, 3, 2), tc = matrix(c, 2, 2), t;
    const char *mismatch = "MatMul shape mismatch\n";
    EXPECT_PRINTS(nk_ops_mat_mul(NULL, &tb, &tc), "");
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, NULL, &tc), "");
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, NULL), "");
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &ta, &tc), mismatch);
    t = matrix(c, 1, 2);
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), mismatch);
    t = tensor_of(c, 3, 2, 2, 1, 0);
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), mismatch);
    t = matrix(b, 2, 2);
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), "MatMul: the output overlaps an operand\n");
    t = matrix(a + 5, 2, 2);
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), "MatMul: the output overlaps an operand\n");
    t = tc;
    t.dtype = NK_DTYPE_INT32;
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), "MatMul: the tensor is not of type float32\n");
    t = tc;
    t.data = NULL;
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t), "MatMul: the tensor has no values\n");
    t.data = (unsigned char *)c + 3;
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &tb, &t),
                  "MatMul: the tensor's values lie at an address that is no multiple of 4\n");
    t = ta, t.dtype = NK_DTYPE_INT8;
    EXPECT_PRINTS(nk_ops_mat_mul(&t, &tb, &tc), "MatMul: the tensor is not of type float32\n");
    t = tb, t.data = NULL;
    EXPECT_PRINTS(nk_ops_mat_mul(&ta, &t, &tc), "MatMul: the tensor has no values\n");
    EXPECT(all_bytes(c, sizeof c, 0xA5) && a[5] == 6.0f && b[0] == 1.0f);
}

/* ---- what does not fit ---- */

static void binary_is_refused(void) {
    float a[6], b[6], c[6];
    char text[96];
    memset(c, 0xA5, sizeof c);
    fill_input(a, 6, 1);
    fill_input(b, 6, 2);
    for (size_t i = 0; i < COUNT_OF(binary_ops); i++) {
        const struct binary_op *op = &binary_ops[i];
        nk_tensor_t ta = matrix(a, 2, 3), tb = matrix(b, 2, 3), tc = matrix(c, 2, 3), t;
        EXPECT_PRINTS(op->call(NULL, &tb, &tc), "");
        EXPECT_PRINTS(op->call(&ta, NULL, &tc), "");
        EXPECT_PRINTS(op->call(&ta, &tb, NULL), "");
        t = matrix(b, 3, 2);
        EXPECT_PRINTS(op->call(&ta, &t, &tc), op->mismatch);
        t = tensor_of(b, 3, 2, 3, 1, 0);
        EXPECT_PRINTS(op->call(&ta, &t, &tc), op->mismatch);
        t = matrix(c, 1, 5);
        EXPECT_PRINTS(op->call(&ta, &tb, &t), op->mismatch);
        if (op->checks_c) {
            t = matrix(c, 3, 2);
            EXPECT_PRINTS(op->call(&ta, &tb, &t), op->mismatch);
        }
        for (int which = 0; which < 3; which++) {
            nk_tensor_t bad[3] = {ta, tb, tc};
            bad[which].dtype = NK_DTYPE_INT8;
            snprintf(text, sizeof text, "%s: the tensor is not of type float32\n", op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1], &bad[2]), text);
            bad[which].dtype = NK_DTYPE_FLOAT32;
            bad[which].data = NULL;
            snprintf(text, sizeof text, "%s: the tensor has no values\n", op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1], &bad[2]), text);
            bad[which].data = (unsigned char *)c + 1;
            snprintf(text, sizeof text, "%s: the tensor's values lie at an address that is no multiple of 4\n",
                     op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1], &bad[2]), text);
        }
        EXPECT_THAT(all_bytes(c, sizeof c, 0xA5), "%s writes", op->name);
        /* Rank 3 is right for all but the sum of matrices. */
        ta = tensor_of(a, 3, 1, 2, 3, 0), tb = tensor_of(b, 3, 1, 2, 3, 0), tc = tensor_of(c, 3, 1, 2, 3, 0);
        EXPECT_PRINTS(op->call(&ta, &tb, &tc), op->is_2d ? op->mismatch : "");
        EXPECT_THAT(all_bytes(c, sizeof c, 0xA5) == op->is_2d, "%s with rank 3", op->name);
        memset(c, 0xA5, sizeof c);
    }
}

static void unary_is_refused(void) {
    float a[6], c[6];
    char text[96];
    fill_input(a, 6, 1);
    for (size_t i = 0; i < COUNT_OF(unary_ops); i++) {
        const struct unary_op *op = &unary_ops[i];
        nk_tensor_t ta = matrix(a, 2, 3), tc = matrix(c, 2, 3), t;
        memset(c, 0xA5, sizeof c);
        EXPECT_PRINTS(op->call(NULL, &tc), "");
        EXPECT_PRINTS(op->call(&ta, NULL), "");
        t = matrix(c, 1, 5);
        EXPECT_PRINTS(op->call(&ta, &t), op->mismatch);
        for (int which = 0; which < 2; which++) {
            nk_tensor_t bad[2] = {ta, tc};
            bad[which].dtype = NK_DTYPE_INT8;
            snprintf(text, sizeof text, "%s: the tensor is not of type float32\n", op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1]), text);
            bad[which].dtype = NK_DTYPE_FLOAT32;
            bad[which].data = NULL;
            snprintf(text, sizeof text, "%s: the tensor has no values\n", op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1]), text);
            bad[which].data = (unsigned char *)c + 1;
            snprintf(text, sizeof text, "%s: the tensor's values lie at an address that is no multiple of 4\n",
                     op->name);
            EXPECT_PRINTS(op->call(&bad[0], &bad[1]), text);
        }
        EXPECT_THAT(all_bytes(c, sizeof c, 0xA5), "%s writes", op->name);
        t = matrix(c, 3, 2);
        EXPECT_PRINTS(op->call(&ta, &t), op->checks_shape ? op->mismatch : "");
        EXPECT_THAT(all_bytes(c, sizeof c, 0xA5) == op->checks_shape, "%s with another shape", op->name);
    }
}

/* Tensors without elements are no error. */
static void nothing_to_do(void) {
    float one = 5.0f;
    nk_tensor_t none = matrix(&one, 0, 3);
    for (size_t i = 0; i < COUNT_OF(binary_ops); i++) {
        EXPECT_PRINTS(binary_ops[i].call(&none, &none, &none), "");
    }
    for (size_t i = 0; i < COUNT_OF(unary_ops); i++) {
        EXPECT_PRINTS(unary_ops[i].call(&none, &none), "");
    }
    EXPECT_OK(nk_ops_softmax_axis(&none, &none, 1));
    EXPECT(one == 5.0f);
}

/* Strides that no memory holds are refused before anything is read. */
static void strides_beyond_memory(void) {
    float values[4] = {1, 2, 3, 4};
    nk_tensor_t t = matrix(values, 2, 2), far_away = t;
    far_away.shape[0] = far_away.shape[1] = far_away.stride[0] = far_away.stride[1] = 0xFFFFFFFFu;
    EXPECT_PRINTS(nk_ops_mat_add(&far_away, &far_away, &far_away), "Add: the strides reach further than memory does\n");
    EXPECT_PRINTS(nk_ops_mat_mul(&far_away, &far_away, &far_away),
                  "MatMul: the strides reach further than memory does\n");
}

/* ---- softmax along a dimension ---- */

static void softmax_axis_values(void) {
    enum { D0 = 3, D1 = 4, D2 = 5, ALL = D0 * D1 * D2 };
    static const uint32_t extents[3] = {D0, D1, D2}, steps[3] = {D1 * D2, D2, 1};
    for (int32_t axis = -3; axis < 3; axis++) {
        for (int place = 0; place < 2; place++) {
            float x[ALL], a[ALL], c[ALL], *result = place == 0 ? c : a;
            fill_input(x, ALL, 5);
            memcpy(a, x, sizeof a);
            nk_tensor_t ta = tensor_of(a, 3, D0, D1, D2, 0), tc = tensor_of(result, 3, D0, D1, D2, 0);
            EXPECT_OK(nk_ops_softmax_axis(&ta, &tc, axis));
            uint32_t n = extents[(axis + 3) % 3], step = steps[(axis + 3) % 3];
            for (uint32_t k = 0; k < ALL; k++) {
                uint32_t index = k / step % n;
                double wanted = softmax_value(x + (k - index * step), n, step, index);
                EXPECT_THAT(is_close(result[k], (float)wanted), "axis %d: [%u] is %g, not %g", (int)axis, (unsigned)k,
                            (double)result[k], wanted);
            }
        }
    }
}

static void softmax_axis_is_refused(void) {
    float a[6] = {0}, c[6];
    nk_tensor_t ta = matrix(a, 2, 3), tc = matrix(c, 2, 3), t;
    memset(c, 0xA5, sizeof c);
#define EXPECT_REFUSED(call, words) EXPECT_ERROR(call, NK_ERR_INVALID_ARGUMENT, words)
    EXPECT_REFUSED(nk_ops_softmax_axis(NULL, &tc, 0), "a or c is NULL");
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, NULL, 0), "a or c is NULL");
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &tc, 2), "axis: the tensor has no such dimension");
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &tc, -3), "axis");
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &tc, INT32_MIN), "axis");
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &tc, INT32_MAX), "axis");
    t = matrix(c, 3, 2);
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &t, 0), "do not have the same shape");
    t = ta;
    t.num_elements = 5;
    EXPECT_REFUSED(nk_ops_softmax_axis(&t, &tc, 0), "num_elements");
    t = tc;
    t.dtype = NK_DTYPE_INT8;
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &t, 0), "not of type float32");
    t = tc;
    t.data = NULL;
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &t, 0), "has no values");
    t.data = (unsigned char *)c + 2;
    EXPECT_REFUSED(nk_ops_softmax_axis(&ta, &t, 0), "no multiple of 4");
    t = ta;
    t.dtype = NK_DTYPE_INT8;
    EXPECT_REFUSED(nk_ops_softmax_axis(&t, &tc, 0), "not of type float32");
    EXPECT(all_bytes(c, sizeof c, 0xA5));
}

int main(void) {
    RUN(shape_checks);
    RUN(checks_without_tensors);
    RUN(binary_values);
    RUN(unary_values);
    RUN(special_values);
    RUN(products_by_hand);
    RUN(matrices_with_strides);
    RUN(products_are_refused);
    RUN(binary_is_refused);
    RUN(unary_is_refused);
    RUN(nothing_to_do);
    RUN(strides_beyond_memory);
    RUN(softmax_axis_values);
    RUN(softmax_axis_is_refused);
    return report();
}
