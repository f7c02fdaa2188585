/* Mean 0 and variance 1 over the channels of each pixel, then a scale and a shift for each channel, in place. The
 * mean is subtracted before anything is squared, so that one far from 0 does not cancel the variance. */
static void nk_layernorm2d(float *data, size_t pixels, size_t channels, const float *gamma, const float *beta,
                           float eps) {
    size_t p, c;

    for (p = 0; p < pixels; p++) {
        float mean = 0.0f, variance = 0.0f, deviation;
        for (c = 0; c < channels; c++) {
            mean += data[c];
        }
        mean /= (float)channels;
        for (c = 0; c < channels; c++) {
            variance += (data[c] - mean) * (data[c] - mean);
        }
        deviation = sqrtf(variance / (float)channels + eps);
        for (c = 0; c < channels; c++) {
            data[c] = (data[c] - mean) / deviation * gamma[c] + beta[c];
        }
        data += channels;
    }
}
