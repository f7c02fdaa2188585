/* sum / count, halves away from zero; 0 for nothing. */
static int32_t nk_mean(int32_t sum, int32_t count) {
    if (count == 0) {
        return 0;
    }
    return sum < 0 ? -((count / 2 - sum) / count) : (sum + count / 2) / count;
}

/* The mean of the codes under the window, of those inside the map; the zero point where there is none. Halves are
 * rounded away from the zero point. */
static void nk_avg_pool2d(const nk_window *w, int32_t zero_point, const int8_t *input, int8_t *output) {
    const size_t channels = w->in_c;
    size_t y, x, row, column, c;

    for (y = 0; y < w->out_h; y++) {
        const nk_axis rows = nk_rows_at(w, y);
        for (x = 0; x < w->out_w; x++) {
            const nk_axis columns = nk_columns_at(w, x);
            const int32_t taps = (int32_t)(rows.count * columns.count);
            for (c = 0; c < channels; c++) {
                const int8_t *pixel = input + (rows.input * w->in_w + columns.input) * channels + c;
                int32_t sum = -zero_point * taps;
                for (row = 0; row < rows.count; row++) {
                    for (column = 0; column < columns.count; column++) {
                        sum += pixel[column * channels];
                    }
                    pixel += w->in_w * channels;
                }
                output[c] = (int8_t)(nk_mean(sum, taps) + zero_point);
            }
            output += channels;
        }
    }
}
