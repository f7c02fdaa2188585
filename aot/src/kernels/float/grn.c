/* Global response normalisation, in place: each channel is scaled by its norm over all pixels, relative to the
 * mean of these norms. The squares are added up as double: a map has thousands of pixels, and float would lose the
 * small ones. */
static void nk_grn(float *data, size_t pixels, size_t channels, const float *gamma, const float *beta, float eps,
                   float *norms) {
    float mean = 0.0f;
    size_t p, c;

    for (c = 0; c < channels; c++) {
        double squares = 0.0;
        for (p = 0; p < pixels; p++) {
            const double x = (double)data[p * channels + c];
            squares += x * x;
        }
        norms[c] = sqrtf((float)squares);
        mean += norms[c];
    }
    mean /= (float)channels;
    for (c = 0; c < channels; c++) {
        norms[c] /= mean + eps;
    }
    for (p = 0; p < pixels; p++) {
        for (c = 0; c < channels; c++) {
            const float x = data[c];
            data[c] = gamma[c] * (x * norms[c]) + beta[c] + x;
        }
        data += channels;
    }
}
