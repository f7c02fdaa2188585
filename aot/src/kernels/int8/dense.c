/* Rows times a matrix: dense layers, and convolutions of single pixels. The filters lie in blocks of four whose
 * elements alternate; what does not fill a block follows one by one. The bias has the zero point of the input in
 * it. */
typedef struct {
    size_t rows, in_features, out_features;
    const int8_t *weights;
    const int32_t *bias;
    int32_t weight_zero_point;
    nk_channels output;
} nk_dense_step;

/* What the zero point of the weights takes from every sum of a row. */
static uint32_t nk_dense_offset(const nk_dense_step *s, const int8_t *input) {
    uint32_t offset = 0;
    size_t i;

    for (i = 0; s->weight_zero_point != 0 && i < s->in_features; i++) {
        offset -= (uint32_t)(input[i] * s->weight_zero_point);
    }
    return offset;
}

static void nk_dense(const nk_dense_step *s, const int8_t *input, int8_t *output) {
    const size_t n = s->in_features, whole = s->out_features / 4 * 4;
    nk_taps taps;
    size_t row, o, i;

    taps.rows = 1;
    taps.run = n;
    taps.input_pitch = n;
    taps.first = 0;
    taps.filter_pitch = n;
    for (row = 0; row < s->rows; row++) {
        const uint32_t offset = nk_dense_offset(s, input);
        taps.input = input;
        for (o = 0; o < whole; o += 4) {
            uint32_t sums[4];
            for (i = 0; i < 4; i++) {
                sums[i] = (uint32_t)s->bias[o + i] + offset;
            }
            nk_tile(&taps, s->weights + o * n, sums);
            for (i = 0; i < 4; i++) {
                output[o + i] = nk_requantize(&s->output, o + i, nk_signed(sums[i]));
            }
        }
        for (o = whole; o < s->out_features; o++) {
            const uint32_t sum = nk_dot(&taps, 0, s->weights + o * n, (uint32_t)s->bias[o] + offset);
            output[o] = nk_requantize(&s->output, o, nk_signed(sum));
        }
        input += n;
        output += s->out_features;
    }
}
