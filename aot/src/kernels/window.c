/* Geometry of a window that moves over a map of height, width and channels. */
typedef struct {
    size_t in_h, in_w, in_c;
    size_t out_h, out_w, out_c;
    size_t kernel_h, kernel_w, stride, pad_top, pad_left;
} nk_window;

/* The part of a kernel's height or width that lies inside the map at one place. */
typedef struct {
    size_t first; /* of the kernel */
    size_t count;
    size_t input; /* where the first one lies in the map */
} nk_axis;

static nk_axis nk_inside(size_t place, size_t stride, size_t pad, size_t kernel, size_t extent) {
    const size_t start = place * stride;
    size_t first = pad > start ? pad - start : 0;
    size_t end = extent + pad > start ? extent + pad - start : 0;
    nk_axis axis;

    if (end > kernel) {
        end = kernel;
    }
    if (first > end) {
        first = end;
    }
    axis.first = first;
    axis.count = end - first;
    axis.input = start + first > pad ? start + first - pad : 0;
    return axis;
}

static nk_axis nk_rows_at(const nk_window *w, size_t y) {
    return nk_inside(y, w->stride, w->pad_top, w->kernel_h, w->in_h);
}

static nk_axis nk_columns_at(const nk_window *w, size_t x) {
    return nk_inside(x, w->stride, w->pad_left, w->kernel_w, w->in_w);
}
