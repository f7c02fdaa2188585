/* Softmax in fixed point: exponentials with 31 fraction bits by range reduction and a polynomial, divided by their
 * sum. */
typedef struct {
    size_t rows, features;
    int32_t multiplier;
    int shift;
    int32_t diff_min; /* differences from the largest code below this count as probability 0 */
} nk_softmax_step;

/* x / 2^exponent, halves away from zero. */
static int32_t nk_rounded_shift(int32_t x, unsigned exponent) {
    return (int32_t)(((int64_t)x - (x < 0) + ((int64_t)1 << (exponent - 1))) >> exponent);
}

static int32_t nk_saturated(int64_t x) {
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

/* exp(x) with 31 fraction bits of x in (-32, 0] with 26: a fraction in [-1/4, 0) goes through a polynomial around
 * -1/8, and each bit of the number of quarters below multiplies the result with its own exponential. */
static int32_t nk_exp(int32_t x) {
    static const int32_t powers[7] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int32_t quarter = (int32_t)1 << 24, start = 1895147668, third = 715827883;
    int32_t fraction, quarters, t, t2, t3, t4, tail, result;
    int i;

    if (x == 0) {
        return INT32_MAX;
    }
    fraction = (x & (quarter - 1)) - quarter;
    quarters = (fraction - x) >> 24;
    t = fraction * 32 + ((int32_t)1 << 28);
    t2 = nk_high_product(t, t);
    t3 = nk_high_product(t2, t);
    t4 = nk_high_product(t2, t2);
    tail = nk_rounded_shift(nk_high_product(nk_rounded_shift(t4, 2) + t3, third) + t2, 1);
    result = start + nk_high_product(start, t + tail);
    for (i = 0; i < 7; i++) {
        if ((quarters >> i & 1) != 0) {
            result = nk_high_product(result, powers[i]);
        }
    }
    return result;
}

/* 2^31 / (sum / 2^head) by three steps of Newton's method, where `head` zeros lead the sum. */
static int32_t nk_reciprocal(uint32_t sum, unsigned *head) {
    int32_t half, twice;
    int step;

    *head = 0;
    while ((sum & ((uint32_t)1 << 31)) == 0) {
        sum <<= 1;
        ++*head;
    }
    half = (int32_t)(sum >> 1);
    twice = 1515870810 + nk_high_product(half, -1010580540);
    for (step = 0; step < 3; step++) {
        const int32_t error = ((int32_t)1 << 29) - nk_high_product(half, twice);
        twice = nk_signed((uint32_t)twice + (uint32_t)nk_saturated((int64_t)nk_high_product(twice, error) * 4));
    }
    return nk_saturated((int64_t)twice * 2);
}

static int32_t nk_exp_of(const nk_softmax_step *s, int32_t difference) {
    const int32_t shifted = s->shift < 0 ? 0 : nk_signed((uint32_t)difference << s->shift);
    return nk_exp(nk_high_product(shifted, s->multiplier));
}

static void nk_softmax(const nk_softmax_step *s, int8_t *data) {
    size_t row, i;

    for (row = 0; row < s->rows; row++) {
        int32_t largest = INT8_MIN, reciprocal;
        uint32_t sum = 0;
        unsigned head;
        for (i = 0; i < s->features; i++) {
            largest = data[i] > largest ? data[i] : largest;
        }
        for (i = 0; i < s->features; i++) {
            if (data[i] - largest >= s->diff_min) {
                const uint32_t part = (uint32_t)nk_rounded_shift(nk_exp_of(s, data[i] - largest), 12);
                sum = sum > UINT32_MAX - part ? UINT32_MAX : sum + part;
            }
        }
        reciprocal = nk_reciprocal(sum, &head);
        for (i = 0; i < s->features; i++) {
            int32_t steps = -128;
            if (data[i] - largest >= s->diff_min) {
                steps += nk_rounded_shift(nk_high_product(reciprocal, nk_exp_of(s, data[i] - largest)), 35 - head);
            }
            data[i] = (int8_t)(steps > 127 ? 127 : steps);
        }
        data += s->features;
    }
}
