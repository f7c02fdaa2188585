/* Adds the products of one filter. */
static float nk_dot(const nk_taps *t, const float *weights, float sum) {
    const float *input = t->input;
    size_t row, i;

    weights += t->first;
    for (row = 0; row < t->rows; row++) {
        for (i = 0; i < t->run; i++) {
            sum += input[i] * weights[i];
        }
        input += t->input_pitch;
        weights += t->filter_pitch;
    }
    return sum;
}
