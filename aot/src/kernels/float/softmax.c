/* Softmax of each row, in place. */
static void nk_softmax(float *data, size_t rows, size_t features) {
    size_t row, i;

    for (row = 0; row < rows; row++) {
        float largest = -INFINITY, sum = 0.0f;
        for (i = 0; i < features; i++) {
            largest = data[i] > largest ? data[i] : largest;
        }
        for (i = 0; i < features; i++) {
            data[i] = expf(data[i] - largest);
            sum += data[i];
        }
        for (i = 0; i < features; i++) {
            data[i] *= 1.0f / sum;
        }
        data += features;
    }
}
