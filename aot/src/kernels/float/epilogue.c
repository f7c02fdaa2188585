/* What happens to a sum on its way to the output. */
typedef struct {
    int accumulates; /* adds what the output holds */
    int activation;
    float alpha;
} nk_epilogue;

static void nk_finish(const nk_epilogue *e, const float *sums, size_t count, float *output) {
    size_t i;

    for (i = 0; i < count; i++) {
        const float value = e->accumulates ? sums[i] + output[i] : sums[i];
        output[i] = nk_activate(e->activation, e->alpha, value);
    }
}
