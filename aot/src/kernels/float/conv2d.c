/* Convolution. The filters lie as those of nk_dense do. */
typedef struct {
    nk_window window;
    const float *weights, *bias;
    nk_epilogue epilogue;
    size_t pitch;  /* elements from one pixel of the output to the next */
    size_t column; /* of the first result in a pixel */
} nk_conv2d_step;

/* One pixel, or two beside each other that meet the same part of the filters. */
static void nk_conv2d_pixels(const nk_conv2d_step *s, size_t pixels, nk_taps taps, float *output) {
    const nk_window *w = &s->window;
    const size_t kernel = w->kernel_h * w->kernel_w * w->in_c;
    const size_t step = w->stride * w->in_c, whole = w->out_c / 4 * 4;
    float sums[8];
    size_t o, pixel;

    for (o = 0; o < whole; o += 4) {
        memcpy(sums, s->bias + o, 4 * sizeof *sums);
        memcpy(sums + 4, s->bias + o, 4 * sizeof *sums);
        if (pixels == 2) {
            nk_tile_pair(&taps, step, s->weights + o * kernel, sums);
            nk_finish(&s->epilogue, sums + 4, 4, output + s->pitch + o);
        } else {
            nk_tile(&taps, s->weights + o * kernel, sums);
        }
        nk_finish(&s->epilogue, sums, 4, output + o);
    }
    for (o = whole; o < w->out_c; o++) {
        nk_taps own = taps;
        for (pixel = 0; pixel < pixels; pixel++) {
            sums[0] = nk_dot(&own, s->weights + o * kernel, s->bias[o]);
            nk_finish(&s->epilogue, sums, 1, output + pixel * s->pitch + o);
            own.input += step;
        }
    }
}

static void nk_conv2d(const nk_conv2d_step *s, const float *input, float *output) {
    const nk_window *w = &s->window;
    size_t y, x, pixels;

    output += s->column;
    for (y = 0; y < w->out_h; y++) {
        const nk_axis rows = nk_rows_at(w, y);
        for (x = 0; x < w->out_w; x += pixels) {
            const nk_axis columns = nk_columns_at(w, x);
            const int is_inside = columns.count == w->kernel_w;
            nk_taps taps;
            pixels = is_inside && x + 1 < w->out_w && nk_columns_at(w, x + 1).count == w->kernel_w ? 2 : 1;
            taps.input = input + (rows.input * w->in_w + columns.input) * w->in_c;
            taps.rows = rows.count;
            taps.run = columns.count * w->in_c;
            taps.input_pitch = w->in_w * w->in_c;
            taps.first = (rows.first * w->kernel_w + columns.first) * w->in_c;
            taps.filter_pitch = w->kernel_w * w->in_c;
            nk_conv2d_pixels(s, pixels, taps, output + (y * w->out_w + x) * s->pitch);
        }
    }
}
