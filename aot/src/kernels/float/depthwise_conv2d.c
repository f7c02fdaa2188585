/* Convolution of each channel with a kernel of its own. The weights lie as a map of kernel height, width and
 * channels. */
typedef struct {
    nk_window window;
    const float *weights, *bias;
    nk_epilogue epilogue;
} nk_depthwise_conv2d_step;

static void nk_depthwise_pixel(const nk_depthwise_conv2d_step *s, nk_axis rows, nk_axis columns, const float *input,
                               float *output) {
    const nk_window *w = &s->window;
    const size_t channels = w->in_c;
    float sums[4];
    size_t c, lanes, row, column, i;

    for (c = 0; c < channels; c += lanes) {
        const float *x = input + c;
        const float *weights = s->weights + (rows.first * w->kernel_w + columns.first) * channels + c;
        lanes = channels - c < 4 ? 1 : 4;
        memcpy(sums, s->bias + c, lanes * sizeof *sums);
        for (row = 0; row < rows.count; row++) {
            if (lanes == 4) {
                float sum0 = sums[0], sum1 = sums[1], sum2 = sums[2], sum3 = sums[3];
                for (column = 0, i = 0; column < columns.count; column++, i += channels) {
                    sum0 += x[i] * weights[i];
                    sum1 += x[i + 1] * weights[i + 1];
                    sum2 += x[i + 2] * weights[i + 2];
                    sum3 += x[i + 3] * weights[i + 3];
                }
                sums[0] = sum0;
                sums[1] = sum1;
                sums[2] = sum2;
                sums[3] = sum3;
            } else {
                for (column = 0, i = 0; column < columns.count; column++, i += channels) {
                    sums[0] += x[i] * weights[i];
                }
            }
            x += w->in_w * channels;
            weights += w->kernel_w * channels;
        }
        nk_finish(&s->epilogue, sums, lanes, output + c);
    }
}

static void nk_depthwise_conv2d(const nk_depthwise_conv2d_step *s, const float *input, float *output) {
    const nk_window *w = &s->window;
    size_t y, x;

    for (y = 0; y < w->out_h; y++) {
        const nk_axis rows = nk_rows_at(w, y);
        for (x = 0; x < w->out_w; x++) {
            const nk_axis columns = nk_columns_at(w, x);
            const float *corner = input + (rows.input * w->in_w + columns.input) * w->in_c;
            nk_depthwise_pixel(s, rows, columns, corner, output);
            output += w->out_c;
        }
    }
}
