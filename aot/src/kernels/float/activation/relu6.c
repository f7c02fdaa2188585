static float nk_relu6(float x) {
    return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x;
}
