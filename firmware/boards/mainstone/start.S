/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up of the PXA270 (XScale, ARMv5TE): the program runs in supervisor mode.
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
#define MASKED    0xc0                  /* interrupts and fast interrupts */

    .section .text.start, "ax"
    .globl  _start
_start:
    msr     cpsr_c, #(MODE_IRQ | MASKED)
    ldr     sp, =armv5_irq_stack_end
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
    mov     r0, #1
    mcr     p14, 0, r0, c7, c0, 0       /* PWRMODE: idle until the next interrupt */
    bx      lr

    .section .translations, "aw", %nobits /* firmware_start() does not clear it */
    .balign 16384
translations:
    .space  16384
