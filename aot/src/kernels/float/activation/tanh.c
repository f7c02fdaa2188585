static float nk_tanh(float x) {
    return tanhf(x);
}
