/* The same for two places whose elements are `step` apart: each weight is loaded once for both. */
static void nk_tile_pair(const nk_taps *t, size_t step, const float *weights, float sums[8]) {
    const float *input = t->input;
    float a0 = sums[0], a1 = sums[1], a2 = sums[2], a3 = sums[3];
    float b0 = sums[4], b1 = sums[5], b2 = sums[6], b3 = sums[7];
    size_t row, i;

    weights += 4 * t->first;
    for (row = 0; row < t->rows; row++) {
        const float *w = weights;
        for (i = 0; i < t->run; i++) {
            const float a = input[i], b = input[i + step];
            a0 += a * w[0];
            a1 += a * w[1];
            a2 += a * w[2];
            a3 += a * w[3];
            b0 += b * w[0];
            b1 += b * w[1];
            b2 += b * w[2];
            b3 += b * w[3];
            w += 4;
        }
        input += t->input_pitch;
        weights += 4 * t->filter_pitch;
    }
    sums[0] = a0;
    sums[1] = a1;
    sums[2] = a2;
    sums[3] = a3;
    sums[4] = b0;
    sums[5] = b1;
    sums[6] = b2;
    sums[7] = b3;
}
