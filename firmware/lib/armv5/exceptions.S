/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exceptions of ARMv5TE and ARMv6 (Arm Architecture Reference Manual, DDI 0100). The start-up code of a board
 * copies armv5_vectors to address 0, and sets the stack of the IRQ mode to armv5_irq_stack_end. The
 * program runs in supervisor mode.
 */
    .syntax unified
    .arm

#define MODE_IRQ  0x12
#define MODE_SVC  0x13
#define IRQ_MASK  0x80
#define MASKED    0xc0                  /* interrupts and fast interrupts */

    .globl  armv5_vectors, armv5_vectors_end, armv5_irq_stack_end

    .text
    .balign 4
armv5_vectors:
    ldr     pc, [pc, #24]               /* reset */
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]               /* software interrupt */
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]               /* fast interrupt */
    .word   _start, undefined, hang, prefetch_abort, data_abort, hang, interrupt, hang
armv5_vectors_end:

hang:
    b       hang

/* Interrupts do not nest. The C function runs in supervisor mode, on the stack of the program. */
interrupt:
    sub     lr, lr, #4
    push    {r0-r3, r12, lr}
    mrs     r0, spsr
    push    {r0}
#if __ARM_ARCH >= 6
    strex   r1, r0, [sp]                /* the program repeats its exclusive accesses */
#endif
    msr     cpsr_c, #(MODE_SVC | MASKED)
    and     r0, sp, #4                  /* the stack is aligned to 8 bytes in functions */
    sub     sp, sp, r0
    push    {r0, lr}
    bl      board_interrupt
    pop     {r0, lr}
    add     sp, sp, r0
    msr     cpsr_c, #(MODE_IRQ | MASKED)
    pop     {r0}
    msr     spsr_cxsf, r0
    ldm     sp!, {r0-r3, r12, pc}^

undefined:
    sub     r1, lr, #4
    mov     r0, #1
    mov     r2, #0
    b       crash
prefetch_abort:
    sub     r1, lr, #4
    mov     r0, #3
    mov     r2, r1
    b       crash
data_abort:
    sub     r1, lr, #8
    mov     r0, #4
    mrc     p15, 0, r2, c6, c0, 0       /* fault address */
crash:
    msr     cpsr_c, #(MODE_SVC | MASKED)
    ldr     sp, =stack_end
    b       board_crash

/* bool board_interrupts(bool enable) */
    .globl  board_interrupts
board_interrupts:
    mrs     r1, cpsr
    cmp     r0, #0
    bicne   r2, r1, #IRQ_MASK
    orreq   r2, r1, #IRQ_MASK
    msr     cpsr_c, r2
    mvn     r1, r1
    lsr     r0, r1, #7
    and     r0, r0, #1
    bx      lr

    .section .bss.irq_stack, "aw", %nobits
    .balign 8
    .space  256
armv5_irq_stack_end:
