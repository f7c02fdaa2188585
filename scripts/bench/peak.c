/* Prints what one core of this machine can do at most, one line `NAME VALUE` for each kind of arithmetic: multiply-adds
 * of registers without any memory, in 10^9 operations a second, where a multiply-add counts as two.
 *
 * Each kernel runs in bursts of about 0.3 ms, shorter than what a scheduler gives to others; the best of 300 counts. */
#define _POSIX_C_SOURCE 200809L
#include <immintrin.h>
#include <stdio.h>
#include <time.h>

enum { BURSTS = 300, BURST_NS = 300000, SUMS = 12 };

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

/* A function that repeats: each of 12 independent sums gets one product. In assembly, because a compiler spills. */
#define KERNEL(NAME, TARGET, TYPE, STEP)                                                         \
    __attribute__((target(TARGET))) static void NAME(long long rounds) {                         \
        TYPE sums[SUMS] = {0}, factor = {0}, product;                                            \
        for (long long round = 0; round < rounds; round++) {                                     \
            _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) {                            \
                __asm__ volatile(STEP : "+v"(sums[i]), "=&v"(product) : "v"(factor));            \
            }                                                                                    \
        }                                                                                        \
    }

#define FMA "vfmadd231ps %2, %2, %0"
#define MADD "vpmaddwd %2, %2, %1\n\tvpaddd %1, %0, %0"
#define DPB "vpdpbusd %2, %2, %0"
#define DPB_VEX "%{vex%} vpdpbusd %2, %2, %0"

KERNEL(f32_avx2, "avx2,fma", __m256, FMA)
KERNEL(f32_avx512, "avx512f", __m512, FMA)
KERNEL(madd_avx2, "avx2", __m256i, MADD)
KERNEL(madd_avx512, "avx512f,avx512bw", __m512i, MADD)
KERNEL(dpbusd_avx, "avx2,avxvnni", __m256i, DPB_VEX)
KERNEL(dpbusd_avx512, "avx512f,avx512vnni", __m512i, DPB)

static void report(const char *name, void (*kernel)(long long), int operations) {
    long long rounds = 1000, best = 0;
    for (int burst = 0; burst < BURSTS; burst++) {
        long long start = now();
        kernel(rounds);
        long long elapsed = now() - start;
        if (best == 0 || elapsed * 2 < BURST_NS) { /* still finding out how long a burst is */
            rounds = rounds * BURST_NS / (elapsed > 0 ? elapsed : 1);
            best = 1LL << 60;
        } else {
            long long scaled = elapsed * 1000000 / rounds;
            best = scaled < best ? scaled : best;
        }
    }
    printf("%s %.1f\n", name, (double)SUMS * operations * 1e6 / (double)best);
}

int main(void) {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        report("f32_fma_avx2", f32_avx2, 16);
        report("int8_vpmaddwd_avx2", madd_avx2, 32);
    }
    if (__builtin_cpu_supports("avx512bw")) {
        report("f32_fma_avx512", f32_avx512, 32);
        report("int8_vpmaddwd_avx512", madd_avx512, 64);
    }
    if (__builtin_cpu_supports("avxvnni")) {
        report("int8_vpdpbusd_avx", dpbusd_avx, 64);
    }
    if (__builtin_cpu_supports("avx512vnni")) {
        report("int8_vpdpbusd_avx512", dpbusd_avx512, 128);
    }
    return 0;
}
