/* Adds to the sums of four filters, whose elements alternate in memory. */
static void nk_tile(const nk_taps *t, const float *weights, float sums[4]) {
    const float *input = t->input;
    float sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    size_t row, i;

    weights += 4 * t->first;
    for (row = 0; row < t->rows; row++) {
        const float *w = weights;
        for (i = 0; i < t->run; i++) {
            const float x = input[i];
            sum0 += x * w[0];
            sum1 += x * w[1];
            sum2 += x * w[2];
            sum3 += x * w[3];
            w += 4;
        }
        input += t->input_pitch;
        weights += 4 * t->filter_pitch;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}
