static void nk_add(float *data, const float *other, size_t count) {
    size_t i;

    for (i = 0; i < count; i++) {
        data[i] += other[i];
    }
}
