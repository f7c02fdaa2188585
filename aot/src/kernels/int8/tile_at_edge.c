/* The same at the edge of a map, where the zero point cannot be in the bias: it belongs to the taps inside only. */
static void nk_tile_at_edge(const nk_taps *t, int32_t zero_point, const int8_t *weights, uint32_t sums[4]) {
    const int8_t *input = t->input;
    uint32_t sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
    size_t row;

    weights += 4 * t->first;
    for (row = 0; row < t->rows; row++) {
        const int8_t *x = input, *end = input + t->run;
        const int8_t *w = weights;
        for (; x != end; x++, w += 4) {
            const int32_t value = *x - zero_point;
            sum0 += (uint32_t)(value * w[0]);
            sum1 += (uint32_t)(value * w[1]);
            sum2 += (uint32_t)(value * w[2]);
            sum3 += (uint32_t)(value * w[3]);
        }
        input += t->input_pitch;
        weights += 4 * t->filter_pitch;
    }
    sums[0] = sum0;
    sums[1] = sum1;
    sums[2] = sum2;
    sums[3] = sum3;
}
