/* The number whose two's complement these bits are. */
static int32_t nk_signed(uint32_t bits) {
    return bits <= (uint32_t)INT32_MAX ? (int32_t)bits : -(int32_t)(UINT32_MAX - bits) - 1;
}

/* a * b / 2^31 rounded to the nearest integer, halves up; a and b are not both -2^31. */
static int32_t nk_high_product(int32_t a, int32_t b) {
    return (int32_t)(((int64_t)a * b + ((int64_t)1 << 30)) >> 31);
}

/* x * multiplier * 2^(shift - 31), rounded twice: the product with halves up, then what a negative shift divides
 * by with halves away from zero. A positive shift comes first. */
static int32_t nk_scaled(int32_t x, int32_t multiplier, int shift) {
    int32_t product, mask, threshold;

    if (shift > 0) {
        return nk_high_product(nk_signed((uint32_t)x << shift), multiplier);
    }
    product = nk_high_product(x, multiplier);
    mask = (int32_t)(((uint32_t)1 << -shift) - 1);
    threshold = (mask >> 1) + (product < 0);
    return (product >> -shift) + ((product & mask) > threshold);
}

/* The codes that a result may have. */
typedef struct {
    int32_t least, largest; /* before the zero point is added */
    int32_t zero_point;
} nk_codes;

static int8_t nk_code(const nk_codes *codes, int32_t value) {
    if (value < codes->least) {
        value = codes->least;
    }
    if (value > codes->largest) {
        value = codes->largest;
    }
    return (int8_t)(value + codes->zero_point);
}
