/* @file@ as data for netkit, made by `netkit aot` @version@. */
#include "@header@"

@headers@#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "models are little-endian and are read where they lie: generate this file with --mode lowered for this processor"
#endif

/* A negative length stops the compiler where this does not hold. */
typedef char nk_words_have_4_bytes[sizeof(uint32_t) == 4 && sizeof(unsigned char) == 1 ? 1 : -1];
typedef char nk_words_hold_the_model[sizeof @symbol@_aot_nk_words - @SYMBOL@_AOT_NK_BYTES < 4 ? 1 : -1];

const size_t @symbol@_aot_nk_size = @SYMBOL@_AOT_NK_BYTES;

const uint32_t @symbol@_aot_nk_words[@words@] = {
@elements@
};
@selftest@@main@
