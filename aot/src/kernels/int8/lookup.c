/* Replaces each code by its entry in a table. */
static void nk_lookup(int8_t *data, size_t count, const int8_t table[256]) {
    size_t i;

    for (i = 0; i < count; i++) {
        data[i] = table[data[i] + 128];
    }
}
