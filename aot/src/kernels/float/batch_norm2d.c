/* A scale and a shift for each channel, in place. */
static void nk_batch_norm2d(float *data, size_t pixels, size_t channels, const float *scale, const float *shift) {
    size_t p, c;

    for (p = 0; p < pixels; p++) {
        for (c = 0; c < channels; c++) {
            data[c] = data[c] * scale[c] + shift[c];
        }
        data += channels;
    }
}
