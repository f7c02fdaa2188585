/* Adds a map of half the height and width, each of its pixels to four. */
static void nk_add_upsampled2x(float *data, const float *half, size_t half_h, size_t half_w, size_t channels) {
    size_t y, x, c;

    for (y = 0; y < 2 * half_h; y++) {
        for (x = 0; x < 2 * half_w; x++) {
            const float *pixel = half + (y / 2 * half_w + x / 2) * channels;
            for (c = 0; c < channels; c++) {
                data[c] += pixel[c];
            }
            data += channels;
        }
    }
}
