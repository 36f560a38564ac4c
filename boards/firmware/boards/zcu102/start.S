/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up of the Cortex-A53 (APU core 0) of the Zynq UltraScale+, from exception level 3, 2 or 1 to
 * firmware_start() on level 1, with caches, and interrupts masked. Sources: Arm Architecture Reference Manual
 * for A-profile (DDI 0487), Arm GIC Architecture Specification 2.0 (IHI 0048), Zynq UltraScale+
 * Device TRM (UG1085), chapters 10 (system addresses) and 13 (interrupts).
 *
 * The address map is flat: virtual addresses are physical addresses. The first 2 MiB are not mapped,
 * so that null pointers fault; the stack lies behind them and cannot overflow into data.
 */

    .equ SCR_EL3_NS_RW, 0x431      /* NS, RES1, RW: EL1 is not secure and is AArch64 */
    .equ HCR_EL2_RW, 0x80000000    /* EL1 is AArch64 */
    .equ CPTR_EL2_NO_TRAPS, 0x33ff
    .equ CNTHCTL_EL2_TIMERS, 3     /* EL1 may read the counters */
    .equ SPSR_EL1H_MASKED, 0x3c5
    .equ CPACR_EL1_FPEN, 0x300000
    .equ SCTLR_EL1_RES1, 0x30d00800
    .equ SCTLR_EL1_ON, 0x1005      /* instruction cache, data cache, MMU */
    .equ MAIR, 0xff04              /* 0: device nGnRE; 1: normal, write-back */
    .equ TCR, 0x200803519          /* 39 bits, 4 KiB granule, inner shareable, write-back; 40-bit PA */

    .equ GICD_IGROUPR, 0xf9010080
    .equ GICC_PMR, 0xf9020004
    .equ GIC_GROUP_WORDS, 6        /* 192 interrupts */

    .section .text.start, "ax"
    .global _start
_start:
    mrs x0, mpidr_el1
    tst x0, #0xffffff
    b.ne sleep
    mrs x0, CurrentEL
    cmp x0, #(3 << 2)
    b.eq from_el3
    cmp x0, #(2 << 2)
    b.eq from_el2
    b at_el1

from_el3:
    /* Make all interrupts group 1: level 1 is not secure and sees no others. */
    ldr x1, =GICD_IGROUPR
    mov w2, #-1
    mov w3, #GIC_GROUP_WORDS
1:  str w2, [x1], #4
    subs w3, w3, #1
    b.ne 1b
    ldr x1, =GICC_PMR
    mov w2, #0xff
    str w2, [x1]
    mov x0, #SCR_EL3_NS_RW
    msr scr_el3, x0
    msr cptr_el3, xzr
    mov x0, #HCR_EL2_RW
    msr hcr_el2, x0
    mov x0, #CPTR_EL2_NO_TRAPS
    msr cptr_el2, x0
    mov x0, #CNTHCTL_EL2_TIMERS
    msr cnthctl_el2, x0
    msr cntvoff_el2, xzr
    mov x0, #SPSR_EL1H_MASKED
    msr spsr_el3, x0
    adr x0, at_el1
    msr elr_el3, x0
    ldr x0, =SCTLR_EL1_RES1
    msr sctlr_el1, x0
    eret

from_el2:
    mov x0, #HCR_EL2_RW
    msr hcr_el2, x0
    mov x0, #CPTR_EL2_NO_TRAPS
    msr cptr_el2, x0
    mov x0, #CNTHCTL_EL2_TIMERS
    msr cnthctl_el2, x0
    msr cntvoff_el2, xzr
    mov x0, #SPSR_EL1H_MASKED
    msr spsr_el2, x0
    adr x0, at_el1
    msr elr_el2, x0
    ldr x0, =SCTLR_EL1_RES1
    msr sctlr_el1, x0
    eret

at_el1:
    mov x0, #CPACR_EL1_FPEN
    msr cpacr_el1, x0
    ldr x0, =vectors
    msr vbar_el1, x0
    ldr x0, =stack_end
    mov sp, x0

    ldr x0, =MAIR
    msr mair_el1, x0
    ldr x0, =TCR
    msr tcr_el1, x0
    ldr x0, =map
    msr ttbr0_el1, x0
    tlbi vmalle1
    ic iallu
    dsb sy
    isb
    ldr x0, =(SCTLR_EL1_RES1 | SCTLR_EL1_ON)
    msr sctlr_el1, x0
    isb

    /* Thread-local variables begin 16 bytes behind the thread pointer. */
    ldr x0, =tls_begin
    sub x0, x0, #16
    msr tpidr_el0, x0
    bl firmware_start

sleep:
    wfe
    b sleep

/*
 * Sixteen vectors of 128 bytes. All of them except the vector of interrupts at level 1 report a
 * fault.
 */
    .macro vector target
    .balign 128
    b \target
    .endm

    .balign 2048
vectors:
    .rept 5
    vector fault
    .endr
    vector interrupt
    .rept 10
    vector fault
    .endr

fault:
    mrs x0, esr_el1
    mrs x1, elr_el1
    mrs x2, far_el1
    ldr x3, =stack_end /* the old stack pointer may have caused the exception */
    mov sp, x3
    bl board_exception
    b sleep

/* Saves the registers that a C function may change. The handler may use vector registers. */
    .equ VECTORS, 208
    .equ FRAME, VECTORS + 32 * 16
interrupt:
    sub sp, sp, #FRAME
    stp x0, x1, [sp, #0]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x29, [sp, #144]
    str x30, [sp, #160]
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    str q\n, [sp, #(VECTORS + 16 * \n)]
    .endr
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    str q\n, [sp, #(VECTORS + 16 * \n)]
    .endr
    mrs x0, fpsr
    mrs x1, fpcr
    stp x0, x1, [sp, #176]
    mrs x0, elr_el1
    mrs x1, spsr_el1
    stp x0, x1, [sp, #192]
    bl board_interrupt
    ldp x0, x1, [sp, #192]
    msr elr_el1, x0
    msr spsr_el1, x1
    ldp x0, x1, [sp, #176]
    msr fpsr, x0
    msr fpcr, x1
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ldr q\n, [sp, #(VECTORS + 16 * \n)]
    .endr
    .irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    ldr q\n, [sp, #(VECTORS + 16 * \n)]
    .endr
    ldr x30, [sp, #160]
    ldp x18, x29, [sp, #144]
    ldp x16, x17, [sp, #128]
    ldp x14, x15, [sp, #112]
    ldp x12, x13, [sp, #96]
    ldp x10, x11, [sp, #80]
    ldp x8, x9, [sp, #64]
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp, #0]
    add sp, sp, #FRAME
    eret

/* Blocks: access flag, inner shareable, attribute 1 (memory) or 0 (device, not executable). */
    .equ MEMORY, 0x705
    .equ DEVICE, 0x60000000000401

    .section .rodata
    .balign 4096
map:
    .quad low_map + 3
    .quad 0x40000000 + MEMORY
    .quad 0x80000000 + DEVICE
    .quad 0xc0000000 + DEVICE
    .fill 28, 8, 0
    .set address, 0x800000000 /* the high range of the DDR memory */
    .rept 32
    .quad address + MEMORY
    .set address, address + 0x40000000
    .endr
    .fill 448, 8, 0
low_map:
    .quad 0
    .set address, 0x200000
    .rept 511
    .quad address + MEMORY
    .set address, address + 0x200000
    .endr
