/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start-up of the OMAP2420 (ARM1136, ARMv6): the program runs in supervisor mode.
 * Sources: Arm Architecture Reference Manual (DDI 0100), ARM1136JF-S TRM (DDI 0211).
 *
 * The MMU maps the first MiB of the SDRAM to address 0, where the exception vectors are and the bus
 * has ROM, and all other addresses to themselves. The SDRAM is normal memory without caches:
 * unaligned accesses are legal, and the DMA controller needs no cache maintenance.
 */
    .syntax unified
    .arm

#define MODE_IRQ        0x12
#define MODE_SVC        0x13
#define MASKED          0xc0            /* interrupts and fast interrupts */
#define SECTION_MEMORY  0x00001c02      /* normal, not cached, read and write */
#define SECTION_DEVICE  0x00000c16      /* device, never executed, read and write */
#define SDRAM_SECTION   0x800
#define SDRAM_SECTIONS  128

    .section .text.start, "ax"
    .globl  _start
_start:
    msr     cpsr_c, #(MODE_IRQ | MASKED)
    ldr     sp, =armv5_irq_stack_end
    msr     cpsr_c, #(MODE_SVC | MASKED)
    ldr     sp, =stack_end

    ldr     r0, =translations           /* sections of 1 MiB */
    ldr     r1, =SECTION_MEMORY
    ldr     r2, =SECTION_DEVICE
    mov     r3, #0
1:  sub     r4, r3, #SDRAM_SECTION
    cmp     r4, #SDRAM_SECTIONS
    orrlo   r4, r1, r3, lsl #20
    orrhs   r4, r2, r3, lsl #20
    str     r4, [r0, r3, lsl #2]
    add     r3, r3, #1
    cmp     r3, #4096
    blo     1b
    orr     r4, r1, #0x80000000         /* address 0 is in the SDRAM */
    str     r4, [r0]

    mov     r3, #0
    mcr     p15, 0, r3, c7, c7, 0       /* invalidate the caches */
    mcr     p15, 0, r3, c7, c10, 4      /* data synchronization barrier */
    mcr     p15, 0, r3, c8, c7, 0       /* invalidate the translations */
    mcr     p15, 0, r0, c2, c0, 0
    mcr     p15, 0, r3, c2, c0, 2       /* all addresses have this table */
    mov     r0, #1
    mcr     p15, 0, r0, c3, c0, 0       /* domain 0: check permissions */
    mrc     p15, 0, r0, c1, c0, 0       /* control register: no data cache, */
    bic     r0, r0, #0x2000             /* vectors at 0, */
    bic     r0, r0, #0x0006             /* unaligned accesses */
    orr     r0, r0, #0x00c00000         /* as in ARMv6, translations as in ARMv6 */
    orr     r0, r0, #0x1000             /* instruction cache */
    orr     r0, r0, #0x0001             /* MMU */
    mcr     p15, 0, r0, c1, c0, 0
    mcr     p15, 0, r3, c7, c5, 4       /* flush the prefetch buffer */

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
    mcr     p15, 0, r0, c7, c10, 4      /* data synchronization barrier */
    mcr     p15, 0, r0, c7, c0, 4       /* wait for an interrupt */
    bx      lr

    .section .translations, "aw", %nobits /* firmware_start() does not clear it */
    .balign 16384
translations:
    .space  16384
