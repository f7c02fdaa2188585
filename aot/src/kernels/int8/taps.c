/* What a filter meets at one place of a map: rows of elements that follow each other. */
typedef struct {
    const int8_t *input;
    size_t rows;
    size_t run;          /* elements of a row */
    size_t input_pitch;  /* from one row to the next, in the map */
    size_t first;        /* element of the filter that meets the first one */
    size_t filter_pitch; /* from one row to the next, in the filter */
} nk_taps;
