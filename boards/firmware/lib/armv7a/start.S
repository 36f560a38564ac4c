/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up and exceptions of boards with ARMv7-A: the first processor runs the program in supervisor
 * mode, secure state if it starts there. Source: Arm Architecture Reference Manual, ARMv7-A and
 * ARMv7-R edition (DDI 0406).
 *
 * The board's linker script defines stack_end, translation_table (16 KiB at a multiple of 16 KiB)
 * and memory_sections, the number of MiB from address 0 that are memory; devices follow. The board
 * defines board_interrupt() and board_crash().
 *
 * The translation table maps all addresses to themselves. Memory is normal memory without data
 * caches: unaligned accesses are legal, and the DMA controller needs no cache maintenance. It is
 * not shareable, so that exclusive accesses need the processor's own monitor only.
 */
    .syntax unified
    .arm
    .fpu    neon

#define MODE_SVC        0x13
#define MASKED          0xc0            /* interrupts and fast interrupts */
#define SECTION_MEMORY  0x00001c02      /* normal, not cached, read and write */
#define SECTION_DEVICE  0x00000c16      /* device, never executed, read and write */
#define ALL_SECTIONS    0x1000

    .section .text.start, "ax"
    .globl  _start
_start:
    msr     cpsr_c, #(MODE_SVC | MASKED)
    mrc     p15, 0, r0, c0, c0, 5       /* MPIDR */
    ands    r0, r0, #3
    bne     park
    ldr     sp, =stack_end
    ldr     r0, =vectors
    mcr     p15, 0, r0, c12, c0, 0      /* VBAR */

    mrc     p15, 0, r0, c1, c0, 0       /* SCTLR: MMU, caches and branch prediction off */
    bic     r0, r0, #0x1800
    bic     r0, r0, #0x0007
    bic     r0, r0, #0x2000             /* vectors at VBAR */
    mcr     p15, 0, r0, c1, c0, 0
    isb
    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0       /* TLBIALL */
    mcr     p15, 0, r0, c7, c5, 0       /* ICIALLU */
    mcr     p15, 0, r0, c7, c5, 6       /* BPIALL */

    ldr     r0, =translation_table
    ldr     r1, =SECTION_MEMORY
    ldr     r2, =SECTION_DEVICE
    ldr     r5, =memory_sections
    mov     r3, #0
1:  cmp     r3, r5
    movhs   r1, r2
    orr     r4, r1, r3, lsl #20
    str     r4, [r0, r3, lsl #2]
    add     r3, r3, #1
    cmp     r3, #ALL_SECTIONS
    blo     1b
    mcr     p15, 0, r0, c2, c0, 0       /* TTBR0 */
    mov     r1, #0
    mcr     p15, 0, r1, c2, c0, 2       /* TTBCR */
    mov     r1, #1
    mcr     p15, 0, r1, c3, c0, 0       /* DACR: domain 0 as the table says */
    dsb
    isb
    mrc     p15, 0, r0, c1, c0, 0
    orr     r0, r0, #0x1800             /* instruction cache, branch prediction */
    orr     r0, r0, #0x0001             /* MMU */
    bic     r0, r0, #0x0002             /* unaligned accesses */
    mcr     p15, 0, r0, c1, c0, 0
    isb
    bl      firmware_start
park:
    wfi
    b       park

    .text
    .balign 32
vectors:
    b       _start                      /* reset */
    b       undefined
    b       .                           /* supervisor call */
    b       prefetch_abort
    b       data_abort
    b       .
    b       interrupt
    b       .                           /* fast interrupt */

/* Interrupts do not nest. The C function runs in supervisor mode, on the stack of the program. */
interrupt:
    sub     lr, lr, #4
    srsdb   sp!, #MODE_SVC
    clrex                               /* makes the program repeat an exclusive access */
    cps     #MODE_SVC
    push    {r0-r3, r12, lr}
    and     r1, sp, #4                  /* align the stack to 8 bytes for the C function */
    sub     sp, sp, r1
    push    {r1, r2}
    bl      board_interrupt
    pop     {r1, r2}
    add     sp, sp, r1
    pop     {r0-r3, r12, lr}
    rfeia   sp!

undefined:
    sub     r1, lr, #4
    mov     r0, #1
    mov     r2, #0
    b       crash
prefetch_abort:
    sub     r1, lr, #4
    mov     r0, #3
    mrc     p15, 0, r2, c6, c0, 2       /* IFAR */
    b       crash
data_abort:
    sub     r1, lr, #8
    mov     r0, #4
    mrc     p15, 0, r2, c6, c0, 0       /* DFAR */
crash:
    cps     #MODE_SVC
    ldr     sp, =stack_end
    b       board_crash

/* bool board_interrupts(bool enable) */
    .globl  board_interrupts
board_interrupts:
    mrs     r1, cpsr
    cmp     r0, #0
    beq     1f
    cpsie   i
    b       2f
1:  cpsid   i
2:  mvn     r1, r1
    ubfx    r0, r1, #7, #1
    bx      lr

/* void board_idle(void) */
    .globl  board_idle
board_idle:
    dsb
    wfi
    bx      lr
