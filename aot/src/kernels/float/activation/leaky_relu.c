static float nk_leaky_relu(float x, float alpha) {
    return x > 0.0f ? x : alpha * x;
}
