# RISC-V microcontrollers of 32 bits with the GNU toolchain, whose programs are named riscv64 or riscv32:
#
#     cmake -S . -B build-rv32 -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/riscv32-unknown-elf.cmake -DNETKIT_ARCH=rv32imac
#
#     NETKIT_ARCH    as for -march; rv32imac if unset
#     NETKIT_ABI     as for -mabi; ilp32f for processors with single-precision FPU, ilp32 for others if unset
#
# The Rust target follows from these. It has to be installed: rustup target add riscv32imac-unknown-none-elf
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv)
find_program(NETKIT_RISCV_GCC NAMES riscv32-unknown-elf-gcc riscv64-unknown-elf-gcc riscv-none-elf-gcc REQUIRED)
set(CMAKE_C_COMPILER ${NETKIT_RISCV_GCC})
set(CMAKE_ASM_COMPILER ${NETKIT_RISCV_GCC})
string(REGEX REPLACE "gcc$" "g++" CMAKE_CXX_COMPILER ${NETKIT_RISCV_GCC})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # there is no way to link a program without the board's files
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NETKIT_ARCH NETKIT_ABI)

if(NOT DEFINED NETKIT_ARCH)
  set(NETKIT_ARCH rv32imac)
endif()
if(NOT DEFINED NETKIT_ABI)
  set(NETKIT_ABI ilp32)
  if(NETKIT_ARCH MATCHES "^rv32[a-eg-z]*f")
    set(NETKIT_ABI ilp32f)
  endif()
endif()

set(netkit_flags "-march=${NETKIT_ARCH} -mabi=${NETKIT_ABI}")
set(CMAKE_C_FLAGS_INIT "${netkit_flags} -ffunction-sections -fdata-sections")
set(CMAKE_ASM_FLAGS_INIT "${netkit_flags}")
set(CMAKE_CXX_FLAGS_INIT "${netkit_flags} -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
