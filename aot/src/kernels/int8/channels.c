/* How the sums of each output channel become codes. */
typedef struct {
    const int32_t *multipliers;
    const int8_t *shifts;
    nk_codes codes;
} nk_channels;

static int8_t nk_requantize(const nk_channels *r, size_t channel, int32_t sum) {
    return nk_code(&r->codes, nk_scaled(sum, r->multipliers[channel], r->shifts[channel]));
}
