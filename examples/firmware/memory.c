/* What compilers call for memory; a product has it from its C library. Words where both ends allow it, else bytes. */
#include <stddef.h>
#include <stdint.h>

#define IS_ALIGNED(pointer) (((uintptr_t)(pointer) & 3u) == 0)

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if (IS_ALIGNED(target) && IS_ALIGNED(source)) {
        for (; size >= 4; size -= 4, target += 4, source += 4) {
            *(uint32_t __attribute__((may_alias)) *)target = *(const uint32_t __attribute__((may_alias)) *)source;
        }
    }
    while (size-- > 0) {
        *target++ = *source++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if ((uintptr_t)target - (uintptr_t)source >= size) {
        return memcpy(to, from, size);
    }
    while (size-- > 0) {
        target[size] = source[size];
    }
    return to;
}

void *memset(void *to, int value, size_t size) {
    unsigned char *target = to;
    if (IS_ALIGNED(target)) {
        for (; size >= 4; size -= 4, target += 4) {
            *(uint32_t __attribute__((may_alias)) *)target = (unsigned char)value * 0x01010101u;
        }
    }
    while (size-- > 0) {
        *target++ = (unsigned char)value;
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t size) {
    const unsigned char *a = left, *b = right;
    for (; size > 0; size--, a++, b++) {
        if (*a != *b) {
            return *a - *b;
        }
    }
    return 0;
}

#ifdef __ARM_EABI__
/* The names that the ABI of Arm has for them. */
#define ALIAS(function, ...)                                                                                       \
    void __aeabi_##function(__VA_ARGS__);                                                                          \
    void __aeabi_##function##4(__VA_ARGS__);                                                                       \
    void __aeabi_##function##8(__VA_ARGS__);                                                                       \
    void __aeabi_##function##4(__VA_ARGS__) __attribute__((alias("__aeabi_" #function)));                          \
    void __aeabi_##function##8(__VA_ARGS__) __attribute__((alias("__aeabi_" #function)));                          \
    void __aeabi_##function(__VA_ARGS__)

ALIAS(memcpy, void *to, const void *from, size_t size) {
    memcpy(to, from, size);
}

ALIAS(memmove, void *to, const void *from, size_t size) {
    memmove(to, from, size);
}

ALIAS(memset, void *to, size_t size, int value) {
    memset(to, value, size);
}

ALIAS(memclr, void *to, size_t size) {
    memset(to, 0, size);
}
#endif
