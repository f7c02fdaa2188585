# cmake/rust_target.cmake with the macros of compilers that need not be there.
include(${SOURCE}/cmake/rust_target.cmake)

set(arm "#define __arm__ 1\n")
set(vfp "#define __ARM_PCS_VFP 1\n")
set(m0 "${arm}#define __ARM_ARCH_6M__ 1\n")
set(m3 "${arm}#define __ARM_ARCH_7M__ 1\n")
set(m4_soft "${arm}#define __ARM_ARCH_7EM__ 1\n")
set(m4_hard "${m4_soft}${vfp}")
set(m33_soft "${arm}#define __ARM_ARCH_8M_MAIN__ 1\n")
set(m33_hard "${m33_soft}${vfp}")
set(m55_hard "${arm}#define __ARM_ARCH_8_1M_MAIN__ 1\n${vfp}")
set(rv32 "#define __riscv_xlen 32\n#define __riscv_compressed 1\n")
set(rv32imc "${rv32}#define __riscv_float_abi_soft 1\n")
set(rv32imac "${rv32imc}#define __riscv_atomic 1\n")
set(rv32imafc "${rv32}#define __riscv_float_abi_single 1\n")
set(rv64gc "#define __riscv_xlen 64\n#define __riscv_float_abi_double 1\n")
set(pc "#define __x86_64__ 1\n")
set(pc32 "#define __i386__ 1\n")
set(strange "#define __vax__ 1\n")

# The triple that is chosen.
set(failures 0)
foreach(case
    m0:thumbv6m-none-eabi m3:thumbv7m-none-eabi m4_soft:thumbv7em-none-eabi m4_hard:thumbv7em-none-eabihf
    m33_soft:thumbv8m.main-none-eabi m33_hard:thumbv8m.main-none-eabihf m55_hard:thumbv8m.main-none-eabihf
    rv32imc:riscv32imc-unknown-none-elf rv32imac:riscv32imac-unknown-none-elf rv32imafc:riscv32imafc-unknown-none-elf
    rv64gc:riscv64gc-unknown-none-elf pc: strange:)
  string(REGEX MATCH "^([a-z0-9_]+):(.*)$" _ "${case}")
  set(wanted "${CMAKE_MATCH_2}")
  netkit_triple_of_macros(found "${${CMAKE_MATCH_1}}")
  if(NOT found STREQUAL wanted)
    message("${case}: ${found}")
    math(EXPR failures "${failures} + 1")
  endif()
endforeach()

# What fits, and what does not with a word that the message must have.
foreach(case
    m4_hard:thumbv7em-none-eabihf: m4_soft:thumbv7em-none-eabi: m4_soft:thumbv7m-none-eabi: m0:thumbv6m-none-eabi:
    rv32imac:riscv32imac-unknown-none-elf: rv32imafc:riscv32imafc-esp-espidf: rv64gc:riscv64gc-unknown-linux-gnu:
    pc:x86_64-unknown-linux-gnu: pc32:i686-unknown-linux-gnu: strange:thumbv7em-none-eabihf: pc:mips-unknown-linux-gnu:
    m4_hard:armv7-unknown-linux-gnueabihf:
    m4_soft:thumbv7em-none-eabihf:-mfloat-abi=hard
    m4_hard:thumbv7em-none-eabi:thumbv7em-none-eabihf
    m33_soft:thumbv8m.main-none-eabihf:thumbv8m.main-none-eabi
    rv32imafc:riscv32imac-unknown-none-elf:single-float
    rv32imac:riscv32imafc-unknown-none-elf:riscv32imac-unknown-none-elf
    pc32:x86_64-unknown-linux-gnu:i686
    m4_hard:x86_64-unknown-linux-gnu:NETKIT_RUST_TARGET)
  string(REGEX MATCH "^([a-z0-9_]+):([^:]+):(.*)$" _ "${case}")
  set(word "${CMAKE_MATCH_3}")
  netkit_contradiction(found "${CMAKE_MATCH_2}" "${${CMAKE_MATCH_1}}")
  string(FIND "${found}" "${word}" at)
  if((word AND (NOT found OR at EQUAL -1)) OR (NOT word AND found))
    message("${case}: ${found}")
    math(EXPR failures "${failures} + 1")
  endif()
endforeach()
if(failures)
  message(FATAL_ERROR "${failures} cases are wrong")
endif()
