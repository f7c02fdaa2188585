static float nk_relu(float x) {
    return x > 0.0f ? x : 0.0f;
}
