/* Convolution, padded with the zero point. The filters and the bias are as those of nk_dense. */
typedef struct {
    nk_window window;
    const int8_t *weights;
    const int32_t *bias, *bias_at_edge; /* with and without the zero point of the input in it */
    int32_t input_zero_point;
    size_t pool;     /* 2: the largest of every 2 x 2 results is the output; else 1 */
    int keeps_order; /* a larger sum never has a smaller code */
    nk_channels output;
} nk_conv2d_step;

/* A place of the window, and what the filters meet there. */
typedef struct {
    nk_taps taps;
    int is_at_edge;
} nk_conv2d_place;

static nk_conv2d_place nk_conv2d_place_at(const nk_window *w, const int8_t *input, size_t y, size_t x) {
    const nk_place place = nk_place_at(w, input, y, x);
    nk_conv2d_place result;

    result.taps.input = place.corner;
    result.taps.rows = place.rows.count;
    result.taps.run = place.columns.count * w->in_c;
    result.taps.input_pitch = w->in_w * w->in_c;
    result.taps.first = (place.rows.first * w->kernel_w + place.columns.first) * w->in_c;
    result.taps.filter_pitch = w->kernel_w * w->in_c;
    result.is_at_edge = place.is_at_edge;
    return result;
}

static void nk_conv2d_sums(const nk_conv2d_step *s, const nk_conv2d_place *place, size_t o, size_t lanes,
                           uint32_t *sums) {
    const nk_window *w = &s->window;
    const int8_t *weights = s->weights + o * w->kernel_h * w->kernel_w * w->in_c;
    const int32_t *bias = place->is_at_edge ? s->bias_at_edge : s->bias;
    const int32_t zero_point = place->is_at_edge ? s->input_zero_point : 0;
    size_t i;

    for (i = 0; i < lanes; i++) {
        sums[i] = (uint32_t)bias[o + i];
    }
    if (lanes < 4) {
        sums[0] = nk_dot(&place->taps, zero_point, weights, sums[0]);
    } else if (place->is_at_edge) {
        nk_tile_at_edge(&place->taps, zero_point, weights, sums);
    } else {
        nk_tile(&place->taps, weights, sums);
    }
}

/* The results of some output channels; where places are pooled, the largest of each. */
static void nk_conv2d_lanes(const nk_conv2d_step *s, const nk_conv2d_place *places, size_t o, size_t lanes,
                            int8_t *output) {
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
    nk_conv2d_place places[4];
    size_t y, x, i, o, lanes;

    for (y = 0; y < w->out_h / pool; y++) {
        for (x = 0; x < w->out_w / pool; x++) {
            for (i = 0; i < pool * pool; i++) {
                places[i] = nk_conv2d_place_at(w, input, y * pool + i / pool, x * pool + i % pool);
            }
            for (o = 0; o < w->out_c; o += lanes) {
                lanes = w->out_c - o < 4 ? 1 : 4;
                nk_conv2d_lanes(s, places, o, lanes, output + o);
            }
            output += w->out_c;
        }
    }
}
