/* A tensor of a sum: how it comes to the common scale. */
typedef struct {
    int32_t multiplier;
    int shift;
    int32_t zero_point;
} nk_term;

/* The sum of two tensors with scales of their own, in the place of the first. */
typedef struct {
    nk_term own, other;
    int32_t multiplier;
    int shift;
    nk_codes codes;
} nk_add_step;

/* Twenty bits to the left keep fractions of a step. */
static int32_t nk_common(int8_t code, const nk_term *term) {
    return nk_scaled((code - term->zero_point) * ((int32_t)1 << 20), term->multiplier, term->shift);
}

static void nk_add(const nk_add_step *s, int8_t *data, const int8_t *other, size_t count) {
    size_t i;

    for (i = 0; i < count; i++) {
        const int32_t sum = nk_common(data[i], &s->own) + nk_common(other[i], &s->other);
        data[i] = nk_code(&s->codes, nk_scaled(sum, s->multiplier, s->shift));
    }
}
