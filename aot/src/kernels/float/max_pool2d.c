/* The largest element under the window; -FLT_MAX where there is none. NaN is never the largest. */
static void nk_max_pool2d(const nk_window *w, const float *input, float *output) {
    const size_t channels = w->in_c;
    size_t y, x, row, column, c;

    for (y = 0; y < w->out_h; y++) {
        const nk_axis rows = nk_rows_at(w, y);
        for (x = 0; x < w->out_w; x++) {
            const nk_axis columns = nk_columns_at(w, x);
            for (c = 0; c < channels; c++) {
                output[c] = -FLT_MAX;
            }
            for (row = 0; row < rows.count; row++) {
                const float *pixel = input + ((rows.input + row) * w->in_w + columns.input) * channels;
                for (column = 0; column < columns.count; column++) {
                    for (c = 0; c < channels; c++) {
                        output[c] = pixel[c] > output[c] ? pixel[c] : output[c];
                    }
                    pixel += channels;
                }
            }
            output += channels;
        }
    }
}
