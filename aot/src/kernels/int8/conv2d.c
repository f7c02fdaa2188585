/* Convolution, padded with the zero point. The filters and the bias are as those of nk_dense. */
typedef struct {
    nk_window window;
    const int8_t *weights;
    const int32_t *bias;
    int32_t input_zero_point;
    size_t pool;     /* 2: the largest of every 2 x 2 results is the output; else 1 */
    int keeps_order; /* a larger sum never has a smaller code */
    nk_channels output;
} nk_conv2d_step;

/* Adds the products of what lies outside the map, which are in the bias with the opposite sign. */
static void nk_conv2d_outside(const nk_conv2d_step *s, const nk_place *place, const int8_t *weights, size_t lanes,
                              uint32_t *sums) {
    const nk_window *w = &s->window;
    size_t row, column, i, lane;

    for (row = 0; row < w->kernel_h; row++) {
        for (column = 0; column < w->kernel_w; column++) {
            for (i = 0; nk_is_outside(place, row, column) && i < w->in_c; i++) {
                for (lane = 0; lane < lanes; lane++) {
                    sums[lane] += (uint32_t)(s->input_zero_point * weights[i * lanes + lane]);
                }
            }
            weights += w->in_c * lanes;
        }
    }
}

static void nk_conv2d_sums(const nk_conv2d_step *s, const nk_place *place, size_t o, size_t lanes, uint32_t *sums) {
    const nk_window *w = &s->window;
    const int8_t *weights = s->weights + o * w->kernel_h * w->kernel_w * w->in_c;
    nk_taps taps;
    size_t i;

    taps.input = place->corner;
    taps.rows = place->rows.count;
    taps.run = place->columns.count * w->in_c;
    taps.input_pitch = w->in_w * w->in_c;
    taps.first = (place->rows.first * w->kernel_w + place->columns.first) * w->in_c;
    taps.filter_pitch = w->kernel_w * w->in_c;
    for (i = 0; i < lanes; i++) {
        sums[i] = (uint32_t)s->bias[o + i];
    }
    if (lanes == 4) {
        nk_tile(&taps, weights, sums);
    } else {
        sums[0] = nk_dot(&taps, weights, sums[0]);
    }
    if (place->is_cut && s->input_zero_point != 0) {
        nk_conv2d_outside(s, place, weights, lanes, sums);
    }
}

/* The results of some output channels; where places are pooled, the largest of each. */
static void nk_conv2d_lanes(const nk_conv2d_step *s, const nk_place *places, size_t o, size_t lanes, int8_t *output) {
    int32_t largest[4] = {INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN};
    uint32_t sums[4];
    size_t place, i;

    for (place = 0; place < s->pool * s->pool; place++) {
        nk_conv2d_sums(s, &places[place], o, lanes, sums);
        for (i = 0; i < lanes; i++) {
            const int32_t sum = nk_signed(sums[i]);
            largest[i] = nk_larger(largest[i], s->keeps_order ? sum : nk_requantize(&s->output, o + i, sum));
        }
    }
    for (i = 0; i < lanes; i++) {
        output[i] = s->keeps_order ? nk_requantize(&s->output, o + i, largest[i]) : (int8_t)largest[i];
    }
}

static void nk_conv2d(const nk_conv2d_step *s, const int8_t *input, int8_t *output) {
    const nk_window *w = &s->window;
    const size_t pool = s->pool;
    nk_place places[4];
    size_t y, x, i, o, lanes;

    for (y = 0; y < w->out_h / pool; y++) {
        for (x = 0; x < w->out_w / pool; x++) {
            for (i = 0; i < pool * pool; i++) {
                places[i] = nk_place_at(w, input, y * pool + i / pool, x * pool + i % pool);
            }
            for (o = 0; o < w->out_c; o += lanes) {
                lanes = w->out_c - o < 4 ? 1 : 4;
                nk_conv2d_lanes(s, places, o, lanes, output + o);
            }
            output += w->out_c;
        }
    }
}
