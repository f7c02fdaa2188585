/* What netkit_config.h derives from the target, which programs test with #if: one column a target. */
#include "netkit.h"

#if defined(NETKIT_TARGET_MCU_ARM)
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) mcu_arm
#elif defined(NETKIT_TARGET_MCU_RISC)
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) mcu_risc
#elif defined(NETKIT_TARGET_MCU_ESP)
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) mcu_esp
#elif defined(NETKIT_TARGET_MPU_ARM)
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) mpu_arm
#elif defined(NETKIT_TARGET_MPU_RISC)
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) mpu_risc
#else
#define COLUMN(cpu, mcu_arm, mcu_risc, mcu_esp, mpu_arm, mpu_risc) cpu
#endif

#define SAME(found, ...) _Static_assert((found) == COLUMN(__VA_ARGS__), #found)

/* Macros that are 1 or not there: their names say which it is. */
#define TEXT_OF(macro) #macro
#define TEXT(macro) TEXT_OF(macro)
#define IS_1(macro) (sizeof(TEXT(macro)) == sizeof "1")

/*                                                CPU MCU: Arm RISC ESP MPU: Arm RISC */
SAME(IS_1(NETKIT_DESKTOP), /*                  */ 1, 0, 0, 0, 0, 0);
SAME(IS_1(NETKIT_ARENA_HEAP), /*               */ 1, 0, 0, 0, 0, 0);
SAME(IS_1(NETKIT_CLASS_MCU), /*                */ 0, 1, 1, 1, 0, 0);
SAME(IS_1(NETKIT_CLASS_MPU), /*                */ 0, 0, 0, 0, 1, 1);
SAME(IS_1(NETKIT_ISA_ARM), /*                  */ 0, 1, 0, 0, 1, 0);
SAME(IS_1(NETKIT_ISA_RISC), /*                 */ 0, 0, 1, 0, 0, 1);
SAME(IS_1(NETKIT_ISA_ESP), /*                  */ 0, 0, 0, 1, 0, 0);
SAME(IS_1(NETKIT_DISABLE_IOSTREAM), /*         */ 0, 1, 1, 1, 0, 0);
SAME(NK_ARENA_DEFAULT_CAPACITY / 1024, /*      */ 65536, 64, 64, 64, 65536, 65536);
SAME(NETKIT_CMSIS_NN_ALLOWED, /*               */ 0, CORE_IS_KNOWN, 0, 0, 0, 0);
SAME(NETKIT_ESP_NN_ALLOWED, /*                 */ 0, 0, 0, 1, 0, 0);
SAME(NETKIT_NMSIS_NN_ALLOWED, /*               */ 0, 0, 1, 0, 0, 0);
SAME(NETKIT_XNNPACK_ALLOWED, /*                */ 1, 0, 0, 0, 1, 1);
SAME(NETKIT_MMAP_ALLOWED, /*                   */ 1, 0, 0, 0, 1, 1);
SAME(NETKIT_MCU_CMSIS_ONLY, /*                 */ 0, 1, 1, 1, 0, 0);
SAME(NETKIT_MCU_ACCEL_ONLY, /*                 */ 0, 1, 1, 1, 0, 0);
SAME(NETKIT_KERNELS_OPTIMIZED_FOR_SPEED, /*    */ 0, 0, 0, 0, 0, 0);
SAME(NETKIT_MCU_QUANT_ONLY, /*                 */ 0, 0, 0, 0, 0, 0);
SAME(NETKIT_IM2COL, /*                         */ 0, 0, 0, 0, 0, 0);
SAME(NETKIT_REFERENCE_QUANT_LOOPS, /*          */ 0, 0, 0, 0, 0, 0);
SAME(NETKIT_LOOP_UNROLL, /*                    */ 0, 0, 0, 0, 0, 0);

#if defined(__linux__) || defined(__APPLE__)
SAME(NETKIT_USE_MMAP, /*                       */ 1, 0, 0, 0, 1, 1);
#endif

/* Printed with %u. */
_Static_assert(_Generic(NK_ARENA_DEFAULT_CAPACITY, unsigned: 1, default: 0), "an unsigned int");

int main(void) {
    return 0;
}
