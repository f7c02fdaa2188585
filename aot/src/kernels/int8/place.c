/* A place of a window on a map. */
typedef struct {
    nk_axis rows, columns;
    const int8_t *corner; /* the first element under it */
    int is_at_edge;       /* part of it lies outside the map */
} nk_place;

static nk_place nk_place_at(const nk_window *w, const int8_t *input, size_t y, size_t x) {
    nk_place place;

    place.rows = nk_rows_at(w, y);
    place.columns = nk_columns_at(w, x);
    place.corner = input + (place.rows.input * w->in_w + place.columns.input) * w->in_c;
    place.is_at_edge = place.rows.count < w->kernel_h || place.columns.count < w->kernel_w;
    return place;
}

/* The largest of the values at one or at four places: convolutions that end with a max pool. */
static int32_t nk_larger(int32_t a, int32_t b) {
    return a > b ? a : b;
}
