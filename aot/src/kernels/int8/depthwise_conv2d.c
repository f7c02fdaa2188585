/* Convolution of each channel with a kernel of its own, padded with the zero point. The weights lie as a map of
 * kernel height, width and channels. */
typedef struct {
    nk_window window;
    const int8_t *weights;
    const int32_t *bias;
    int32_t input_zero_point;
    size_t pool;     /* 2: the largest of every 2 x 2 results is the output; else 1 */
    int keeps_order; /* a larger sum never has a smaller code */
    nk_channels output;
} nk_depthwise_conv2d_step;

/* Adds the products of four channels. */
static void nk_depthwise_tile(const nk_window *w, const nk_place *place, int32_t zero_point, const int8_t *x,
                              const int8_t *weights, uint32_t sums[4]) {
    const size_t channels = w->in_c;
    uint32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    size_t row, column, i;

    for (row = 0; row < place->rows.count; row++) {
        for (column = 0, i = 0; column < place->columns.count; column++, i += channels) {
            const int8_t *a = x + i, *b = weights + i;
            sum0 += (uint32_t)((a[0] - zero_point) * b[0]);
            sum1 += (uint32_t)((a[1] - zero_point) * b[1]);
            sum2 += (uint32_t)((a[2] - zero_point) * b[2]);
            sum3 += (uint32_t)((a[3] - zero_point) * b[3]);
        }
        x += w->in_w * channels;
        weights += w->kernel_w * channels;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}

/* Adds the products of one channel. */
static uint32_t nk_depthwise_dot(const nk_window *w, const nk_place *place, int32_t zero_point, const int8_t *x,
                                 const int8_t *weights, uint32_t sum) {
    const size_t channels = w->in_c;
    size_t row, column;

    for (row = 0; row < place->rows.count; row++) {
        for (column = 0; column < place->columns.count; column++) {
            sum += (uint32_t)((x[column * channels] - zero_point) * weights[column * channels]);
        }
        x += w->in_w * channels;
        weights += w->kernel_w * channels;
    }
    return sum;
}

static void nk_depthwise_sums(const nk_depthwise_conv2d_step *s, const nk_place *place, size_t c, size_t lanes,
                              uint32_t *sums) {
    const nk_window *w = &s->window;
    const int8_t *x = place->corner + c;
    const int8_t *weights = s->weights + (place->rows.first * w->kernel_w + place->columns.first) * w->in_c + c;
    size_t i;

    for (i = 0; i < lanes; i++) {
        sums[i] = (uint32_t)s->bias[c + i];
    }
    if (lanes == 4) {
        nk_depthwise_tile(w, place, s->input_zero_point, x, weights, sums);
    } else {
        sums[0] = nk_depthwise_dot(w, place, s->input_zero_point, x, weights, sums[0]);
    }
}

/* The results of some channels; where places are pooled, the largest of each. */
static void nk_depthwise_lanes(const nk_depthwise_conv2d_step *s, const nk_place *places, size_t c, size_t lanes,
                               int8_t *output) {
    int32_t largest[4] = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    uint32_t sums[4];
    size_t place, i;

    for (place = 0; place < s->pool * s->pool; place++) {
        nk_depthwise_sums(s, &places[place], c, lanes, sums);
        for (i = 0; i < lanes; i++) {
            const int32_t sum = nk_signed(sums[i]);
            largest[i] = nk_larger(largest[i], s->keeps_order ? sum : nk_requantize(&s->output, c + i, sum));
        }
    }
    for (i = 0; i < lanes; i++) {
        output[i] = s->keeps_order ? nk_requantize(&s->output, c + i, largest[i]) : (int8_t)largest[i];
    }
}

static void nk_depthwise_conv2d(const nk_depthwise_conv2d_step *s, const int8_t *input, int8_t *output) {
    const nk_window *w = &s->window;
    const size_t pool = s->pool;
    nk_place places[4];
    size_t y, x, i, c, lanes;

    for (y = 0; y < w->out_h / pool; y++) {
        for (x = 0; x < w->out_w / pool; x++) {
            for (i = 0; i < pool * pool; i++) {
                places[i] = nk_place_at(w, input, y * pool + i / pool, x * pool + i % pool);
            }
            for (c = 0; c < w->out_c; c += lanes) {
                lanes = w->out_c - c < 4 ? 1 : 4;
                nk_depthwise_lanes(s, places, c, lanes, output + c);
            }
            output += w->out_c;
        }
    }
}
