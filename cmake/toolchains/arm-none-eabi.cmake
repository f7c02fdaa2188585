# Arm microcontrollers with the GNU toolchain:
#
#     cmake -S . -B build-m4 -DCMAKE_TOOLCHAIN_FILE=cmake/toolchains/arm-none-eabi.cmake -DNETKIT_CPU=cortex-m4
#
#     NETKIT_CPU          as for -mcpu; cortex-m4 if unset
#     NETKIT_FPU          as for -mfpu; fpv4-sp-d16 for cortex-m4 and fpv5-sp-d16 for cortex-m7 and cortex-m33, that of the CPU for
#                         cortex-m55 and cortex-m85 if unset
#     NETKIT_FLOAT_ABI    hard, softfp or soft; hard for CPUs with an FPU above, soft for others if unset
#
# The Rust target follows from these. It has to be installed: rustup target add thumbv7em-none-eabihf
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # there is no way to link a program without the board's files
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NETKIT_CPU NETKIT_FPU NETKIT_FLOAT_ABI)

if(NOT DEFINED NETKIT_CPU)
  set(NETKIT_CPU cortex-m4)
endif()
if(NOT DEFINED NETKIT_FPU)
  if(NETKIT_CPU STREQUAL cortex-m4)
    set(NETKIT_FPU fpv4-sp-d16)
  elseif(NETKIT_CPU MATCHES "^cortex-m(7|33)$")
    set(NETKIT_FPU fpv5-sp-d16)
  elseif(NETKIT_CPU MATCHES "^cortex-m(55|85)$")
    set(NETKIT_FPU auto)
  endif()
endif()
if(NOT DEFINED NETKIT_FLOAT_ABI)
  set(NETKIT_FLOAT_ABI soft)
  if(NETKIT_FPU)
    set(NETKIT_FLOAT_ABI hard)
  endif()
endif()

set(netkit_flags "-mcpu=${NETKIT_CPU} -mthumb -mfloat-abi=${NETKIT_FLOAT_ABI}")
if(NETKIT_FPU AND NOT NETKIT_FLOAT_ABI STREQUAL soft)
  set(netkit_flags "${netkit_flags} -mfpu=${NETKIT_FPU}")
endif()
set(CMAKE_C_FLAGS_INIT "${netkit_flags} -ffunction-sections -fdata-sections")
set(CMAKE_CXX_FLAGS_INIT "${netkit_flags} -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--gc-sections")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
