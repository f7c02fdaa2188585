/* What happens on a RISC-V processor before main. */
    .option arch, +zicsr
    .section .text.start
    .globl start
start:
    la sp, stack_top
#ifdef __riscv_flen
    /* The FPU is off after reset: FS becomes "initial". */
    li t0, 0x2000
    csrs mstatus, t0
#endif
    la t0, fault
    csrw mtvec, t0
    la t0, data_load
    la t1, data_start
    la t2, data_end
1:  bgeu t1, t2, 2f
    lw t3, 0(t0)
    sw t3, 0(t1)
    addi t0, t0, 4
    addi t1, t1, 4
    j 1b
2:  la t1, bss_start
    la t2, bss_end
3:  bgeu t1, t2, 4f
    sw zero, 0(t1)
    addi t1, t1, 4
    j 3b
4:  call main
    call port_exit

    .balign 4
fault:
    li a0, 99
    call port_exit

/* int semihosting_call(int operation, const void *argument): three instructions in a row, uncompressed and in one page, tell an
 * emulator or debugger that this is no breakpoint. */
    .text
    .globl semihosting_call
    .balign 16
    .option push
    .option norvc
semihosting_call:
    slli x0, x0, 0x1f
    ebreak
    srai x0, x0, 7
    ret
    .option pop
