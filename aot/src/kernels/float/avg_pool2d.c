/* The mean of the elements under the window, of those inside the map; 0 where there is none. */
static void nk_avg_pool2d(const nk_window *w, const float *input, float *output) {
    const size_t channels = w->in_c;
    size_t y, x, row, column, c;

    for (y = 0; y < w->out_h; y++) {
        const nk_axis rows = nk_rows_at(w, y);
        for (x = 0; x < w->out_w; x++) {
            const nk_axis columns = nk_columns_at(w, x);
            const float taps = (float)(rows.count * columns.count);
            for (c = 0; c < channels; c++) {
                output[c] = 0.0f;
            }
            for (row = 0; row < rows.count; row++) {
                const float *pixel = input + ((rows.input + row) * w->in_w + columns.input) * channels;
                for (column = 0; column < columns.count; column++) {
                    for (c = 0; c < channels; c++) {
                        output[c] += pixel[c];
                    }
                    pixel += channels;
                }
            }
            for (c = 0; c < channels && taps > 0.0f; c++) {
                output[c] /= taps;
            }
            output += channels;
        }
    }
}
