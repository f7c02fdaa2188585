/* A tensor that is read again after the copy has changed. */
static void nk_copy(void *output, const void *input, size_t bytes) {
    memcpy(output, input, bytes);
}
