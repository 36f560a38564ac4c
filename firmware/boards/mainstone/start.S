/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up and exceptions of the PXA270 (XScale, ARMv5TE): the program runs in supervisor mode.
 * Sources: Arm Architecture Reference Manual (DDI 0100), PXA27x Developer's Manual.
 *
 * The MMU maps the first MiB of the SDRAM to address 0, where the exception vectors are and the bus
 * has flash memory, and all other addresses to themselves. No address is cached: the DMA controller
 * needs no cache maintenance. The processor traps unaligned accesses.
 */
    .syntax unified
    .arm

#define MODE_IRQ  0x12
#define MODE_SVC  0x13
#define MODE_MASK 0x1f
#define IRQ_MASK  0x80
#define MASKED    0xc0                  /* interrupts and fast interrupts */

    .section .text.start, "ax"
    .globl  _start
_start:
    msr     cpsr_c, #(MODE_IRQ | MASKED)
    ldr     sp, =irq_stack_end
    msr     cpsr_c, #(MODE_SVC | MASKED)
    ldr     sp, =stack_end

    ldr     r0, =translations
    ldr     r1, =0xc12                  /* sections of 1 MiB: all accesses, no cache, no buffer */
    mov     r2, #4096
1:  str     r1, [r0], #4
    add     r1, r1, #0x100000
    subs    r2, r2, #1
    bne     1b
    ldr     r0, =translations
    ldr     r1, =0xa0000c12             /* address 0 is in the SDRAM */
    str     r1, [r0]

    mov     r0, #0
    mcr     p15, 0, r0, c7, c7, 0       /* invalidate the caches */
    mcr     p15, 0, r0, c7, c10, 4      /* drain the write buffer */
    mcr     p15, 0, r0, c8, c7, 0       /* invalidate the translations */
    ldr     r0, =translations
    mcr     p15, 0, r0, c2, c0, 0
    mov     r0, #1
    mcr     p15, 0, r0, c3, c0, 0       /* domain 0: check permissions */
    mrc     p15, 0, r0, c1, c0, 0       /* control register: no data cache, */
    bic     r0, r0, #0x2000             /* vectors at 0 */
    bic     r0, r0, #0x0004
    orr     r0, r0, #0x1000             /* instruction cache */
    orr     r0, r0, #0x0003             /* MMU, trap unaligned accesses */
    mcr     p15, 0, r0, c1, c0, 0
    mrc     p15, 0, r0, c2, c0, 0       /* wait until the write has its effect */
    mov     r0, r0
    sub     pc, pc, #4

    mov     r0, #0
    ldr     r1, =vectors
    ldr     r2, =vectors_end
1:  ldr     r3, [r1], #4
    str     r3, [r0], #4
    cmp     r1, r2
    blo     1b
    bl      firmware_start
2:  b       2b

    .text
    .balign 4
vectors:
    ldr     pc, [pc, #24]               /* reset */
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]               /* software interrupt */
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]
    ldr     pc, [pc, #24]               /* fast interrupt */
    .word   _start, undefined, hang, prefetch_abort, data_abort, hang, interrupt, hang
vectors_end:

hang:
    b       hang

/* Interrupts do not nest. The C function runs in supervisor mode, on the stack of the program. */
interrupt:
    sub     lr, lr, #4
    push    {r0-r3, r12, lr}
    mrs     r0, spsr
    push    {r0}
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

/* void board_idle(void) */
    .globl  board_idle
board_idle:
    mov     r0, #1
    mcr     p14, 0, r0, c7, c0, 0       /* PWRMODE: idle until the next interrupt */
    bx      lr

    .section .bss.irq_stack, "aw", %nobits
    .balign 8
    .space  256
irq_stack_end:

    .section .translations, "aw", %nobits /* firmware_start() does not clear it */
    .balign 16384
translations:
    .space  16384
