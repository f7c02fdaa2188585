/* Rows times a matrix: dense layers, and convolutions of single pixels. The filters lie in blocks of four whose
 * elements alternate; what does not fill a block follows one by one. */
typedef struct {
    size_t rows, in_features, out_features;
    const float *weights, *bias;
    nk_epilogue epilogue;
    size_t pitch;  /* elements from one row of the output to the next */
    size_t column; /* of the first result in a row */
} nk_dense_step;

static void nk_dense_rows(const nk_dense_step *s, size_t rows, const float *input, float *output) {
    const size_t n = s->in_features, whole = s->out_features / 4 * 4;
    nk_taps taps;
    float sums[8];
    size_t o, row;

    taps.input = input;
    taps.rows = 1;
    taps.run = n;
    taps.input_pitch = n;
    taps.first = 0;
    taps.filter_pitch = n;
    for (o = 0; o < whole; o += 4) {
        memcpy(sums, s->bias + o, 4 * sizeof *sums);
        memcpy(sums + 4, s->bias + o, 4 * sizeof *sums);
        if (rows == 2) {
            nk_tile_pair(&taps, n, s->weights + o * n, sums);
            nk_finish(&s->epilogue, sums + 4, 4, output + s->pitch + o);
        } else {
            nk_tile(&taps, s->weights + o * n, sums);
        }
        nk_finish(&s->epilogue, sums, 4, output + o);
    }
    for (o = whole; o < s->out_features; o++) {
        for (row = 0; row < rows; row++) {
            taps.input = input + row * n;
            sums[0] = nk_dot(&taps, s->weights + o * n, s->bias[o]);
            nk_finish(&s->epilogue, sums, 1, output + row * s->pitch + o);
        }
    }
}

static void nk_dense(const nk_dense_step *s, const float *input, float *output) {
    size_t row;

    output += s->column;
    for (row = 0; row < s->rows; row += 2) {
        nk_dense_rows(s, s->rows - row > 1 ? 2 : 1, input + row * s->in_features, output + row * s->pitch);
    }
}
