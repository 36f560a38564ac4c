/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up, traps and control registers for FU540-C000 and FU740-C000. One processor (hart) runs
 * the program in machine mode: hart 1, a U54 or U74. The others sleep.
 */
    .option arch, +zicsr

    .section .text.start, "ax"
    .globl _start
_start:
    csrw    mie, zero
    csrr    t0, mhartid
    li      t1, BOARD_HART
    bne     t0, t1, park
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      tp, __tls_base
    la      sp, stack_end
    la      t0, trap
    csrw    mtvec, t0
    li      t0, 1 << 11 | 1 << 3    /* mie: external and software interrupts, masked by mstatus */
    csrw    mie, t0
    call    firmware_start
park:
    wfi
    j       park

/* Saves the registers that a C function may change. Interrupts do not nest. */
    .text
    .balign 4
trap:
    addi    sp, sp, -128
    sd      ra, 0(sp)
    sd      t0, 8(sp)
    sd      t1, 16(sp)
    sd      t2, 24(sp)
    sd      a0, 32(sp)
    sd      a1, 40(sp)
    sd      a2, 48(sp)
    sd      a3, 56(sp)
    sd      a4, 64(sp)
    sd      a5, 72(sp)
    sd      a6, 80(sp)
    sd      a7, 88(sp)
    sd      t3, 96(sp)
    sd      t4, 104(sp)
    sd      t5, 112(sp)
    sd      t6, 120(sp)
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    call    board_trap
    /* End the reservation of an lr/sc pair that the trap may have interrupted. */
    la      t0, no_reservation
    sc.w    zero, zero, (t0)
    ld      ra, 0(sp)
    ld      t0, 8(sp)
    ld      t1, 16(sp)
    ld      t2, 24(sp)
    ld      a0, 32(sp)
    ld      a1, 40(sp)
    ld      a2, 48(sp)
    ld      a3, 56(sp)
    ld      a4, 64(sp)
    ld      a5, 72(sp)
    ld      a6, 80(sp)
    ld      a7, 88(sp)
    ld      t3, 96(sp)
    ld      t4, 104(sp)
    ld      t5, 112(sp)
    ld      t6, 120(sp)
    addi    sp, sp, 128
    mret

/* bool board_interrupts(bool enable): bit 3 of mstatus */
    .globl  board_interrupts
board_interrupts:
    li      t0, 1 << 3
    bnez    a0, 1f
    csrrc   a0, mstatus, t0
    j       2f
1:  csrrs   a0, mstatus, t0
2:  srli    a0, a0, 3
    andi    a0, a0, 1
    ret

/* void board_idle(void) */
    .globl  board_idle
board_idle:
    wfi
    ret

    .bss
    .balign 4
no_reservation:
    .zero   4
