/* The tanh form: 0.5 (1 + tanh u) is 1 / (1 + exp(-2 u)), which does not cancel for negative x. */
static float nk_gelu(float x) {
    const float twice_u = 1.5957692f * (x + 0.044715f * x * x * x);
    return x / (1.0f + expf(-twice_u));
}
