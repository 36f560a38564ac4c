/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up of the ARM926EJ-S (ARMv5TE): the program runs in supervisor mode. Sources:
 * Arm Architecture Reference Manual (DDI 0100), ARM926EJ-S TRM (DDI 0198).
 *
 * The MMU and the data cache stay off: the DMA controller needs no cache maintenance. The processor
 * traps unaligned accesses. The vectors are copied to address 0, which is memory.
 */
    .syntax unified
    .arm

#define MODE_IRQ  0x12
#define MODE_SVC  0x13
#define MASKED    0xc0                  /* interrupts and fast interrupts */

    .section .text.start, "ax"
    .globl  _start
_start:
    msr     cpsr_c, #(MODE_IRQ | MASKED)
    ldr     sp, =armv5_irq_stack_end
    msr     cpsr_c, #(MODE_SVC | MASKED)
    ldr     sp, =stack_end

    mov     r0, #0
    mcr     p15, 0, r0, c7, c7, 0       /* invalidate the caches */
    mcr     p15, 0, r0, c7, c10, 4      /* drain the write buffer */
    mrc     p15, 0, r0, c1, c0, 0       /* control register: no MMU, no data cache, */
    bic     r0, r0, #0x2000             /* vectors at 0 */
    bic     r0, r0, #0x0005
    orr     r0, r0, #0x1000             /* instruction cache */
    orr     r0, r0, #0x0002             /* trap unaligned accesses */
    mcr     p15, 0, r0, c1, c0, 0

    mov     r0, #0
    ldr     r1, =armv5_vectors
    ldr     r2, =armv5_vectors_end
1:  ldr     r3, [r1], #4
    str     r3, [r0], #4
    cmp     r1, r2
    blo     1b
    bl      firmware_start
2:  b       2b

    .text

/* void board_idle(void) */
    .globl  board_idle
board_idle:
    mov     r0, #0
    mcr     p15, 0, r0, c7, c10, 4      /* drain the write buffer */
    mcr     p15, 0, r0, c7, c0, 4       /* wait for an interrupt */
    bx      lr
