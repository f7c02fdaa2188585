/*
 * What the library is built for and how. Nothing in here has to be set: without any macro the target is a hosted CPU.
 *
 * Macros to set on the command line of the compiler, for all files of a program alike:
 *
 *   NETKIT_TARGET_...            one of the targets below; at most one
 *   NETKIT_GLOBAL_ARENA          CPU: 1 hides the heap arena
 *   NETKIT_HEAP_ARENA            MPU: 1 shows the heap arena
 *   NETKIT_DISABLE_IOSTREAM      CPU, MPU: tells that nothing is to be printed
 *   NK_ARENA_DEFAULT_CAPACITY    bytes, above 0
 *   NETKIT_USE_...               kernels of a vendor or memory mapping, 0 or 1, where the target allows them
 *
 * This library chooses its kernels and its use of mapped files by itself; the macros about them are there for programs
 * that set or test them, and are checked for contradictions.
 */
#ifndef NETKIT_CONFIG_H
#define NETKIT_CONFIG_H

/* ------------------------------------------------------------------------
 * Target: exactly one, CPU by default
 * ------------------------------------------------------------------------ */

#if defined(NETKIT_TARGET_CPU) + defined(NETKIT_TARGET_MCU_ARM) + defined(NETKIT_TARGET_MPU_ARM) +                     \
        defined(NETKIT_TARGET_MCU_RISC) + defined(NETKIT_TARGET_MPU_RISC) + defined(NETKIT_TARGET_MCU_ESP) >           \
    1
#error "define at most one NETKIT_TARGET_... macro"
#endif

#if defined(NETKIT_TARGET_MCU_ARM)
#define NETKIT_CLASS_MCU 1
#define NETKIT_ISA_ARM 1
#elif defined(NETKIT_TARGET_MCU_RISC)
#define NETKIT_CLASS_MCU 1
#define NETKIT_ISA_RISC 1
#elif defined(NETKIT_TARGET_MCU_ESP)
#define NETKIT_CLASS_MCU 1
#define NETKIT_ISA_ESP 1
#elif defined(NETKIT_TARGET_MPU_ARM)
#define NETKIT_CLASS_MPU 1
#define NETKIT_ISA_ARM 1
#elif defined(NETKIT_TARGET_MPU_RISC)
#define NETKIT_CLASS_MPU 1
#define NETKIT_ISA_RISC 1
#elif defined(NETKIT_TARGET_MCU)
#error "NETKIT_TARGET_MCU does not say which: use NETKIT_TARGET_MCU_ARM, _MCU_RISC or _MCU_ESP"
#elif defined(NETKIT_TARGET_MPU)
#error "NETKIT_TARGET_MPU does not say which: use NETKIT_TARGET_MPU_ARM or NETKIT_TARGET_MPU_RISC"
#else
#ifndef NETKIT_TARGET_CPU
#define NETKIT_TARGET_CPU 1
#endif
#ifndef NETKIT_DESKTOP
#define NETKIT_DESKTOP 1
#endif
#endif

#if defined(NETKIT_CLASS_MCU) && !defined(NETKIT_DISABLE_IOSTREAM)
#define NETKIT_DISABLE_IOSTREAM 1
#endif

/* ------------------------------------------------------------------------
 * Arena
 * ------------------------------------------------------------------------ */

#if defined(NETKIT_HEAP_ARENA) && defined(NETKIT_CLASS_MCU)
#if NETKIT_HEAP_ARENA
#error "NETKIT_HEAP_ARENA: microcontrollers have no heap arena"
#endif
#endif

#if defined(NETKIT_TARGET_CPU)
#if !defined(NETKIT_GLOBAL_ARENA)
#define NETKIT_ARENA_HEAP 1
#elif !NETKIT_GLOBAL_ARENA
#define NETKIT_ARENA_HEAP 1
#endif
#elif defined(NETKIT_CLASS_MPU) && defined(NETKIT_HEAP_ARENA)
#if NETKIT_HEAP_ARENA
#define NETKIT_ARENA_HEAP 1
#endif
#endif

/* Size of an arena for programs that do not care, in bytes; an unsigned int. */
#ifndef NK_ARENA_DEFAULT_CAPACITY
#ifdef NETKIT_CLASS_MCU
#define NK_ARENA_DEFAULT_CAPACITY (64U * 1024U)
#else
#define NK_ARENA_DEFAULT_CAPACITY (64U * 1024U * 1024U)
#endif
#endif
#if NK_ARENA_DEFAULT_CAPACITY <= 0
#error "NK_ARENA_DEFAULT_CAPACITY must be above 0"
#endif

/* ------------------------------------------------------------------------
 * Kernels of vendors and memory mapping: where they can be asked for
 * ------------------------------------------------------------------------ */

#if defined(NETKIT_TARGET_MCU_ARM) &&                                                                                  \
    (defined(ARM_MATH_CM0) || defined(ARM_MATH_CM0PLUS) || defined(ARM_MATH_CM0_FAMILY) || defined(ARM_MATH_CM1) ||    \
     defined(ARM_MATH_CM3) || defined(ARM_MATH_CM4) || defined(ARM_MATH_CM7) || defined(ARM_MATH_CM23) ||              \
     defined(ARM_MATH_CM33) || defined(ARM_MATH_CM35P) || defined(ARM_MATH_CM55) || defined(ARM_MATH_CM85) ||          \
     defined(ARM_MATH_ARMV8MBL) || defined(ARM_MATH_ARMV8MML) || defined(ARM_MATH_M55) || defined(ARM_MATH_M85) ||     \
     defined(ARMV8M) || defined(ARMV8MBL) || defined(ARMV8MML) || defined(M55) || defined(M85))
#define NETKIT_CMSIS_NN_ALLOWED 1
#else
#define NETKIT_CMSIS_NN_ALLOWED 0
#endif

#ifdef NETKIT_TARGET_MCU_ESP
#define NETKIT_ESP_NN_ALLOWED 1
#else
#define NETKIT_ESP_NN_ALLOWED 0
#endif

#ifdef NETKIT_TARGET_MCU_RISC
#define NETKIT_NMSIS_NN_ALLOWED 1
#else
#define NETKIT_NMSIS_NN_ALLOWED 0
#endif

#ifdef NETKIT_CLASS_MCU
#define NETKIT_XNNPACK_ALLOWED 0
#define NETKIT_MMAP_ALLOWED 0
#else
#define NETKIT_XNNPACK_ALLOWED 1
#define NETKIT_MMAP_ALLOWED 1
#endif

#if defined(NETKIT_USE_CMSIS_NN) && !NETKIT_CMSIS_NN_ALLOWED
#if NETKIT_USE_CMSIS_NN
#error "NETKIT_USE_CMSIS_NN needs NETKIT_TARGET_MCU_ARM and the ARM_MATH_... macro of a core"
#endif
#endif
#if defined(NETKIT_USE_ESP_NN) && !NETKIT_ESP_NN_ALLOWED
#if NETKIT_USE_ESP_NN
#error "NETKIT_USE_ESP_NN needs NETKIT_TARGET_MCU_ESP"
#endif
#endif
#if defined(NETKIT_USE_NMSIS_NN) && !NETKIT_NMSIS_NN_ALLOWED
#if NETKIT_USE_NMSIS_NN
#error "NETKIT_USE_NMSIS_NN needs NETKIT_TARGET_MCU_RISC"
#endif
#endif
#if defined(NETKIT_USE_XNNPACK) && !NETKIT_XNNPACK_ALLOWED
#if NETKIT_USE_XNNPACK
#error "NETKIT_USE_XNNPACK needs a CPU or MPU target"
#endif
#endif

#ifndef NETKIT_USE_MMAP
#if NETKIT_MMAP_ALLOWED && (defined(__APPLE__) || defined(__linux__) || defined(_WIN32))
#define NETKIT_USE_MMAP 1
#else
#define NETKIT_USE_MMAP 0
#endif
#endif
#if NETKIT_USE_MMAP != 0 && NETKIT_USE_MMAP != 1
#error "NETKIT_USE_MMAP must be 0 or 1"
#endif
#if NETKIT_USE_MMAP && !NETKIT_MMAP_ALLOWED
#error "NETKIT_USE_MMAP needs a CPU or MPU target"
#endif

/* ------------------------------------------------------------------------
 * Choices about kernels
 * ------------------------------------------------------------------------ */

#ifndef NETKIT_KERNELS_OPTIMIZED_FOR_SPEED
#define NETKIT_KERNELS_OPTIMIZED_FOR_SPEED 0
#endif
#if NETKIT_KERNELS_OPTIMIZED_FOR_SPEED != 0 && NETKIT_KERNELS_OPTIMIZED_FOR_SPEED != 1
#error "NETKIT_KERNELS_OPTIMIZED_FOR_SPEED must be 0 or 1"
#endif

#ifndef NETKIT_MCU_QUANT_ONLY
#define NETKIT_MCU_QUANT_ONLY 0
#endif

#ifndef NETKIT_IM2COL
#define NETKIT_IM2COL 0
#endif
#if NETKIT_IM2COL != 0 && NETKIT_IM2COL != 1 && NETKIT_IM2COL != 2
#error "NETKIT_IM2COL must be 0, 1 or 2"
#endif

#ifndef NETKIT_REFERENCE_QUANT_LOOPS
#define NETKIT_REFERENCE_QUANT_LOOPS 0
#endif
#if NETKIT_REFERENCE_QUANT_LOOPS != 0 && NETKIT_REFERENCE_QUANT_LOOPS != 1
#error "NETKIT_REFERENCE_QUANT_LOOPS must be 0 or 1"
#endif

#ifndef NETKIT_LOOP_UNROLL
#define NETKIT_LOOP_UNROLL 0
#endif
#if NETKIT_LOOP_UNROLL != 0 && NETKIT_LOOP_UNROLL != 1
#error "NETKIT_LOOP_UNROLL must be 0 or 1"
#endif

#if defined(NETKIT_CLASS_MCU) && !NETKIT_REFERENCE_QUANT_LOOPS
#define NETKIT_MCU_ACCEL_ONLY 1
#else
#define NETKIT_MCU_ACCEL_ONLY 0
#endif
#define NETKIT_MCU_CMSIS_ONLY NETKIT_MCU_ACCEL_ONLY

#endif /* NETKIT_CONFIG_H */
