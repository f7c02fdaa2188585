static float nk_silu(float x) {
    return x / (1.0f + expf(-x));
}
