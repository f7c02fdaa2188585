/* Makes a program believe that its CPU ends with AVX2 and FMA: loaded with LD_PRELOAD, it lets the kernel fault every
 * CPUID instruction and answers without AVX-512, VNNI, AMX and what came with them. Engines choose their kernels by
 * CPUID, so they run those of an AVX2 machine; only the speed of the instructions stays that of the machine at hand.
 *
 * Build: gcc -shared -fPIC -O2 avx2_only.c -Wl,-z,initfirst -o avx2_only.so (initfirst: before any library asks). */
#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Not in the headers of every C library. */
enum { ARCH_SET_CPUID = 0x1012, DENIED = 0, ALLOWED = 1 };

struct registers {
    uint32_t eax, ebx, ecx, edx;
};

static void may_ask(int allowed) {
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, allowed) != 0) {
        static const char text[] = "avx2_only: this kernel or CPU cannot fault CPUID\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(1);
    }
}

static uint32_t without(uint32_t value, const int *bits, size_t count) {
    for (size_t i = 0; i < count; i++) {
        value &= ~(UINT32_C(1) << bits[i]);
    }
    return value;
}

#define WITHOUT(value, ...) \
    without(value, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/* Bit numbers are those of Intel's manual. */
static struct registers answer(uint32_t leaf, uint32_t subleaf) {
    struct registers r;
    __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
    if (leaf == 7 && subleaf == 0) {
        /* No leaf 7.1, where AVX-VNNI, AVX-IFMA and more of AMX are. */
        r.eax = 0;
        /* AVX512F, DQ, IFMA, PF, ER, CD, BW, VL */
        r.ebx = WITHOUT(r.ebx, 16, 17, 21, 26, 27, 28, 30, 31);
        /* VBMI, VBMI2, GFNI, VAES, VPCLMULQDQ, VNNI, BITALG, VPOPCNTDQ */
        r.ecx = WITHOUT(r.ecx, 1, 6, 8, 9, 10, 11, 12, 14);
        /* 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, AVX512-FP16, AMX-TILE, AMX-INT8 */
        r.edx = WITHOUT(r.edx, 2, 3, 8, 22, 23, 24, 25);
    } else if (leaf == 7 || leaf == 0x1D || leaf == 0x1E || leaf == 0x24) {
        r = (struct registers){0, 0, 0, 0}; /* more features; AMX; AVX10 */
    } else if (leaf == 0xD && subleaf == 0) {
        r.eax &= 7; /* saved state: x87, SSE, AVX, which end at byte 832 */
        r.ebx = r.ecx = 832;
    } else if (leaf == 0xD && subleaf == 1) {
        r.ebx = 832;
    } else if (leaf == 0xD && subleaf > 2) {
        r = (struct registers){0, 0, 0, 0};
    }
    return r;
}

static void on_fault(int signal_number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    if (code[0] != 0x0F || code[1] != 0xA2) {
        signal(signal_number, SIG_DFL); /* a fault of the program's own: comes again and ends it */
        return;
    }
    may_ask(ALLOWED);
    struct registers r = answer((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX]);
    may_ask(DENIED);
    registers[REG_RAX] = r.eax;
    registers[REG_RBX] = r.ebx;
    registers[REG_RCX] = r.ecx;
    registers[REG_RDX] = r.edx;
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void start(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    may_ask(DENIED);
}
