/* Adds the products of one filter. */
static uint32_t nk_dot(const nk_taps *t, const int8_t *weights, uint32_t sum) {
    const int8_t *input = t->input;
    size_t row, i;

    weights += t->first;
    for (row = 0; row < t->rows; row++) {
        for (i = 0; i < t->run; i++) {
            sum += (uint32_t)((int32_t)input[i] * weights[i]);
        }
        input += t->input_pitch;
        weights += t->filter_pitch;
    }
    return sum;
}
