/* Adds the products of one filter with codes from which a zero point is subtracted: 0 where that is in the bias. */
static uint32_t nk_dot(const nk_taps *t, int32_t zero_point, const int8_t *weights, uint32_t sum) {
    const int8_t *input = t->input;
    size_t row, i;

    weights += t->first;
    for (row = 0; row < t->rows; row++) {
        for (i = 0; i < t->run; i++) {
            sum += (uint32_t)((input[i] - zero_point) * weights[i]);
        }
        input += t->input_pitch;
        weights += t->filter_pitch;
    }
    return sum;
}
