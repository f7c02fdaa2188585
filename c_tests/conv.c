/* Convolutions by themselves, against the sums of their definition, and what does not fit. */
#include "capture.h"

static nk_tensor_t map(float *values, uint32_t h, uint32_t w, uint32_t c) {
    const uint32_t shape[3] = {h, w, c};
    nk_tensor_t tensor;
    memset(&tensor, 0, sizeof tensor);
    EXPECT_OK(nk_tensor_view_nd(values, NK_DTYPE_FLOAT32, 3, shape, &tensor));
    return tensor;
}

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- the smallest examples ---- */

static void centre_of_a_kernel(void) {
    float input[16], output[16], weights[9] = {0, 0, 0, 0, 1, 0, 0, 0, 0}, bias[1] = {0};
    for (int i = 0; i < 16; i++) {
        input[i] = (float)(i + 1);
    }
    nk_conv2d_t conv = {.kernel_size = 3, .stride = 1, .pad_h = 1, .pad_w = 1, .pad_h_end = NK_PAD_MIRROR,
                        .pad_w_end = NK_PAD_MIRROR, .in_channels = 1, .out_channels = 1, .weights = weights,
                        .bias = bias};
    nk_tensor_t in = map(input, 4, 4, 1), out = map(output, 4, 4, 1);
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "");
    EXPECT(memcmp(input, output, sizeof input) == 0);
}

static void depthwise_with_one_weight(void) {
    float input[9], output[9], weights[1] = {1}, bias[1] = {0};
    for (int i = 0; i < 9; i++) {
        input[i] = (float)(i + 1);
    }
    nk_depthwise_conv2d_t conv = {.kernel_h = 1, .kernel_w = 1, .stride = 1, .pad_h = 0, .pad_w = 0,
                                  .pad_h_end = NK_PAD_MIRROR, .pad_w_end = NK_PAD_MIRROR, .channels = 1,
                                  .weights = weights, .bias = bias};
    nk_tensor_t in = map(input, 3, 3, 1), out = map(output, 3, 3, 1);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "");
    EXPECT(memcmp(input, output, sizeof input) == 0 && output[4] == 5.0f);
}

/* ---- the definition ---- */

enum { ROOM = 70000 };
static float input[ROOM], weights[ROOM], bias[ROOM], output[ROOM];

static bool is_near(float found, double wanted, double terms) {
    return fabs((double)found - wanted) <= sqrt(terms) * (1e-5 + 1e-5 * fabs(wanted));
}

/* {kernel, stride, pad above, left, in h, w, channels, out h, w, channels}. Kernels small and large, for which there are
 * different loops, channels around the vector sizes, outputs that reach into the padding and beyond it. */
static const int conv_cases[][10] = {
    {1, 1, 0, 0, 5, 4, 3, 5, 4, 7},    {3, 1, 1, 1, 6, 5, 1, 6, 5, 2},     {3, 2, 0, 1, 7, 6, 4, 3, 3, 5},
    {3, 1, 1, 1, 5, 5, 16, 5, 5, 8},   {5, 1, 2, 2, 4, 4, 3, 4, 4, 9},     {2, 3, 1, 0, 9, 8, 2, 4, 3, 33},
    {1, 2, 0, 0, 5, 5, 70, 3, 3, 65},  {3, 1, 4, 4, 2, 2, 3, 9, 9, 4},     {4, 1, 0, 0, 3, 3, 2, 5, 5, 3},
    {7, 1, 3, 3, 1, 1, 1, 1, 1, 1},    {3, 4, 1, 1, 20, 20, 6, 6, 6, 12},  {1, 1, 0, 0, 1, 1, 200, 1, 1, 100},
    {3, 1, 1, 1, 12, 12, 5, 12, 12, 1}, {1, 1, 2, 2, 0, 0, 3, 4, 4, 2},
};

static void conv2d_is_its_definition(void) {
    for (size_t i = 0; i < COUNT_OF(conv_cases); i++) {
        const int *c = conv_cases[i];
        int k = c[0], s = c[1], ph = c[2], pw = c[3];
        int ih = c[4], iw = c[5], ic = c[6], oh = c[7], ow = c[8], oc = c[9];
        for (int has_bias = 0; has_bias < 2; has_bias++) {
            fill_input(input, (size_t)(ih * iw * ic), 1);
            fill_input(weights, (size_t)(oc * k * k * ic), 2);
            fill_input(bias, (size_t)oc, 3);
            memset(output, 0x5A, sizeof output);
            nk_conv2d_t conv = {k, s, ph, pw, NK_PAD_MIRROR, 0, ic, oc, weights, has_bias ? bias : NULL};
            nk_tensor_t in = map(input, (uint32_t)ih, (uint32_t)iw, (uint32_t)ic);
            nk_tensor_t out = map(output, (uint32_t)oh, (uint32_t)ow, (uint32_t)oc);
            EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "");
            for (int at = 0; at < oh * ow * oc; at++) {
                int o = at % oc, x = at / oc % ow, y = at / oc / ow;
                double wanted = has_bias ? (double)bias[o] : 0;
                for (int tap = 0; tap < k * k * ic; tap++) {
                    int row = y * s + tap / ic / k - ph, column = x * s + tap / ic % k - pw;
                    if (row >= 0 && row < ih && column >= 0 && column < iw) {
                        double value = (double)input[(row * iw + column) * ic + tap % ic];
                        wanted += value * (double)weights[o * k * k * ic + tap];
                    }
                }
                EXPECT_THAT(is_near(output[at], wanted, k * k * ic), "case %zu bias %d: [%d][%d][%d] is %g, not %g", i,
                            has_bias, y, x, o, (double)output[at], wanted);
            }
            EXPECT(all_bytes(output + oh * ow * oc, 4 * (size_t)(ROOM - oh * ow * oc), 0x5A));
        }
    }
}

/* {kernel h, w, stride, pad above, left, in h, w, channels, out h, w}. */
static const int depthwise_cases[][10] = {
    {1, 1, 1, 0, 0, 5, 4, 3, 5, 4},   {3, 3, 1, 1, 1, 6, 5, 1, 6, 5},   {3, 3, 2, 1, 0, 7, 6, 33, 4, 3},
    {5, 3, 1, 2, 1, 4, 6, 16, 4, 6},  {2, 4, 3, 0, 2, 9, 8, 8, 3, 3},   {7, 7, 1, 3, 3, 7, 7, 40, 7, 7},
    {3, 3, 1, 5, 5, 2, 2, 4, 11, 11}, {17, 16, 1, 8, 8, 9, 9, 3, 9, 9}, {1, 300, 1, 0, 0, 2, 310, 2, 2, 11},
};

static void depthwise_is_its_definition(void) {
    for (size_t i = 0; i < COUNT_OF(depthwise_cases); i++) {
        const int *c = depthwise_cases[i];
        int kh = c[0], kw = c[1], s = c[2], ph = c[3], pw = c[4], ih = c[5], iw = c[6], ch = c[7], oh = c[8], ow = c[9];
        for (int has_bias = 0; has_bias < 2; has_bias++) {
            fill_input(input, (size_t)(ih * iw * ch), 1);
            fill_input(weights, (size_t)(ch * kh * kw), 2);
            fill_input(bias, (size_t)ch, 3);
            memset(output, 0x5A, sizeof output);
            nk_depthwise_conv2d_t conv = {kh, kw, s, ph, pw, 0, NK_PAD_MIRROR, ch, weights, has_bias ? bias : NULL};
            nk_tensor_t in = map(input, (uint32_t)ih, (uint32_t)iw, (uint32_t)ch);
            nk_tensor_t out = map(output, (uint32_t)oh, (uint32_t)ow, (uint32_t)ch);
            EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "");
            for (int at = 0; at < oh * ow * ch; at++) {
                int o = at % ch, x = at / ch % ow, y = at / ch / ow;
                double wanted = has_bias ? (double)bias[o] : 0;
                for (int tap = 0; tap < kh * kw; tap++) {
                    int row = y * s + tap / kw - ph, column = x * s + tap % kw - pw;
                    if (row >= 0 && row < ih && column >= 0 && column < iw) {
                        wanted += (double)input[(row * iw + column) * ch + o] * (double)weights[o * kh * kw + tap];
                    }
                }
                EXPECT_THAT(is_near(output[at], wanted, kh * kw), "case %zu bias %d: [%d][%d][%d] is %g, not %g", i,
                            has_bias, y, x, o, (double)output[at], wanted);
            }
            EXPECT(all_bytes(output + oh * ow * ch, 4 * (size_t)(ROOM - oh * ow * ch), 0x5A));
        }
    }
}

/* ---- what does not fit ---- */

static nk_conv2d_t good_conv(void) {
    nk_conv2d_t conv = {3, 1, 1, 1, NK_PAD_MIRROR, NK_PAD_MIRROR, 2, 4, weights, bias};
    return conv;
}

static void conv2d_is_refused(void) {
    const nk_conv2d_t good = good_conv();
    nk_conv2d_t conv;
    nk_tensor_t in = map(input, 5, 5, 2), out = map(output, 5, 5, 4), t;
    fill_input(input, 50, 1);
    memset(output, 0xA5, sizeof output);
    EXPECT_PRINTS(nk_conv2d_forward(NULL, &in, &out), "");
    EXPECT_PRINTS(nk_conv2d_forward(&good, NULL, &out), "");
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, NULL), "");

    const char *mismatch = "Conv2D shape mismatch\n";
    t = map(input, 5, 5, 3);
    EXPECT_PRINTS(nk_conv2d_forward(&good, &t, &out), mismatch);
    t = map(output, 5, 5, 5);
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), mismatch);
    nk_tensor_view_2d(input, 25, 2, &t);
    EXPECT_PRINTS(nk_conv2d_forward(&good, &t, &out), mismatch);
    nk_tensor_view_2d(output, 25, 4, &t);
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), mismatch);
    t = out;
    t.num_elements = 99;
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), mismatch);
    conv = good, conv.in_channels = -2;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), mismatch);
    conv = good, conv.out_channels = 0;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), mismatch);

    conv = good, conv.kernel_size = 0;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the kernel has no rows\n");
    conv = good, conv.stride = 0;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the stride is less than 1\n");
    conv = good, conv.stride = -1;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the stride is less than 1\n");
    conv = good, conv.pad_h = -1;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the padding above is negative\n");
    conv = good, conv.pad_w = -1;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the padding to the left is negative\n");
    conv = good, conv.kernel_size = 0x7FFFFFFF;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the convolution is too large\n");
    conv = good, conv.stride = 0x7FFFFFFF;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the convolution is too large\n");
    conv = good, conv.pad_h = 0x7FFFFFFF;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the convolution is too large\n");
    conv = good, conv.weights = NULL;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "Conv2D: the weights are NULL\n");
    const char *odd = "Conv2D: weights or bias lie at an address that is no multiple of 4\n";
    conv = good, conv.bias = (float *)(void *)((unsigned char *)bias + 2);
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), odd);
    conv = good, conv.weights = (float *)(void *)((unsigned char *)weights + 1);
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), odd);
    const char *odd_tensor = "Conv2D: the tensor's values lie at an address that is no multiple of 4\n";
    t = in, t.data = (unsigned char *)input + 1;
    EXPECT_PRINTS(nk_conv2d_forward(&good, &t, &out), odd_tensor);
    t = out, t.data = (unsigned char *)output + 2;
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), odd_tensor);

    t = out, t.dtype = NK_DTYPE_INT8;
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), "Conv2D: the tensor is not of type float32\n");
    t = in, t.data = NULL;
    EXPECT_PRINTS(nk_conv2d_forward(&good, &t, &out), "Conv2D: the tensor has no values\n");
    const char *overlap = "Conv2D: the output overlaps the input, the weights or the bias\n";
    t = map(input + 49, 5, 5, 4);
    EXPECT_PRINTS(nk_conv2d_forward(&good, &in, &t), overlap);
    conv = good, conv.weights = output + 99;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), overlap);
    conv = good, conv.bias = output;
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), overlap);
    EXPECT(all_bytes(output, sizeof output, 0xA5));
}

static void depthwise_is_refused(void) {
    const nk_depthwise_conv2d_t good = {3, 3, 1, 1, 1, NK_PAD_MIRROR, NK_PAD_MIRROR, 4, weights, bias};
    nk_depthwise_conv2d_t conv;
    nk_tensor_t in = map(input, 5, 5, 4), out = map(output, 5, 5, 4), t;
    fill_input(input, 100, 1);
    memset(output, 0xA5, sizeof output);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(NULL, &in, &out), "");
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, NULL, &out), "");
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &in, NULL), "");
    const char *mismatch = "DepthwiseConv2D shape mismatch\n";
    t = map(input, 5, 5, 3);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &t, &out), mismatch);
    t = map(output, 5, 5, 5);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &in, &t), mismatch);
    conv = good, conv.channels = -4;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), mismatch);
    conv = good, conv.kernel_h = -3;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the kernel has no rows\n");
    conv = good, conv.kernel_w = 0;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the kernel has no columns\n");
    conv = good, conv.stride = 0;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the stride is less than 1\n");
    conv = good, conv.pad_h = -2;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the padding above is negative\n");
    conv = good, conv.pad_w = -2;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out),
                  "DepthwiseConv2D: the padding to the left is negative\n");
    conv = good, conv.kernel_h = conv.kernel_w = 0x7FFFFFFF;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the convolution is too large\n");
    conv = good, conv.weights = NULL;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), "DepthwiseConv2D: the weights are NULL\n");
    const char *odd = "DepthwiseConv2D: weights or bias lie at an address that is no multiple of 4\n";
    conv = good, conv.bias = (float *)(void *)((unsigned char *)bias + 2);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), odd);
    conv = good, conv.weights = (float *)(void *)((unsigned char *)weights + 1);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), odd);
    const char *odd_tensor = "DepthwiseConv2D: the tensor's values lie at an address that is no multiple of 4\n";
    t = in, t.data = (unsigned char *)input + 3;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &t, &out), odd_tensor);
    nk_tensor_view_2d(input, 25, 4, &t);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &t, &out), mismatch);
    nk_tensor_view_2d(output, 25, 4, &t);
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &in, &t), mismatch);
    t = in, t.dtype = NK_DTYPE_INT32;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &t, &out),
                  "DepthwiseConv2D: the tensor is not of type float32\n");
    t = out, t.data = NULL;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &in, &t), "DepthwiseConv2D: the tensor has no values\n");
    const char *overlap = "DepthwiseConv2D: the output overlaps the input, the weights or the bias\n";
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&good, &in, &in), overlap);
    conv = good, conv.weights = output + 99;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), overlap);
    conv = good, conv.bias = output;
    EXPECT_PRINTS(nk_depthwise_conv2d_forward(&conv, &in, &out), overlap);
    EXPECT(all_bytes(output, sizeof output, 0xA5));
}

/* No output elements, no work. */
static void nothing_to_do(void) {
    nk_conv2d_t conv = good_conv();
    nk_tensor_t in = map(input, 5, 5, 2), out = map(output, 0, 5, 4);
    memset(output, 0xA5, sizeof output);
    EXPECT_PRINTS(nk_conv2d_forward(&conv, &in, &out), "");
    EXPECT(all_bytes(output, sizeof output, 0xA5));
}

int main(void) {
    RUN(centre_of_a_kernel);
    RUN(depthwise_with_one_weight);
    RUN(conv2d_is_its_definition);
    RUN(depthwise_is_its_definition);
    RUN(conv2d_is_refused);
    RUN(depthwise_is_refused);
    RUN(nothing_to_do);
    return report();
}
