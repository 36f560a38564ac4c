/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of the Arm PL330 (CoreLink DMA-330), as offsets from its base. Source: Arm DDI 0424,
 * programmers model.
 */
#ifndef PL330_REGISTERS_H
#define PL330_REGISTERS_H

#include <stdint.h>

/* Registers of the controller. */
enum {
    PL330_DSR = 0x000,       /* status of the manager thread */
    PL330_INTEN = 0x020,     /* events that are interrupts, as bits */
    PL330_EVENT_RIS = 0x024, /* events that are pending, interrupts or not */
    PL330_INTMIS = 0x028,    /* interrupts that are active */
    PL330_INTCLR = 0x02c,    /* write 1: clear an interrupt */
    PL330_FSRD = 0x030,      /* 1: the manager thread has a fault */
    PL330_FSRC = 0x034,      /* channel threads that have a fault, as bits */
    PL330_FTRD = 0x038,      /* kind of the manager's fault */
    PL330_DBGSTATUS = 0xd00, /* bit 0: busy with an instruction of the debug registers */
    PL330_DBGCMD = 0xd04,    /* write 0: execute it */
    PL330_DBGINST0 = 0xd08,
    PL330_DBGINST1 = 0xd0c,
    PL330_CR0 = 0xe00, /* numbers of channels and events */
    PL330_CRD = 0xe14, /* bus and FIFO */
    PL330_PERIPH_ID0 = 0xfe0,
    PL330_PERIPH_ID1 = 0xfe4,
};

/* Registers of channel n. */
#define PL330_FTR(n) (0x040u + 0x04u * (n)) /* kind of the fault */
#define PL330_CSR(n) (0x100u + 0x08u * (n)) /* status */
#define PL330_CPC(n) (0x104u + 0x08u * (n)) /* program counter */
#define PL330_SAR(n) (0x400u + 0x20u * (n))
#define PL330_DAR(n) (0x404u + 0x20u * (n))
#define PL330_CCR(n) (0x408u + 0x20u * (n))
#define PL330_LC0(n) (0x40cu + 0x20u * (n))
#define PL330_LC1(n) (0x410u + 0x20u * (n))

#define PL330_DSR_NONSECURE (1u << 9)

/* States of a thread: bits 3:0 of DSR and CSR. */
enum {
    PL330_STATE_MASK = 0xf,
    PL330_STOPPED = 0x0,
    PL330_EXECUTING = 0x1,
    PL330_WAITING_FOR_EVENT = 0x4,
    PL330_FAULTING_COMPLETING = 0xe, /* outstanding accesses to memory are completed */
    PL330_FAULTING = 0xf,
};

/* Kinds of faults: bits of FTR. */
enum {
    PL330_FAULT_UNDEFINED = 1 << 0, /* undefined instruction */
    PL330_FAULT_OPERAND = 1 << 1,   /* operand that the configuration does not allow */
    PL330_FAULT_FIFO = 1 << 12,     /* the FIFO is too small for a burst */
    PL330_FAULT_STORE = 1 << 13,    /* store without data */
    PL330_FAULT_FETCH = 1 << 16,    /* bus error of an instruction */
    PL330_FAULT_WRITE = 1 << 17,    /* bus error of a store */
    PL330_FAULT_READ = 1 << 18,     /* bus error of a load */
};
#define PL330_FAULT_LOCKUP (1u << 31) /* no progress, because other channels hold the FIFO */

/*
 * Faults that the controller notices after the thread has executed further instructions (imprecise
 * aborts). For the others the program counter is at the instruction, which was not executed.
 */
#define PL330_FAULTS_LATE                                                                          \
    (PL330_FAULT_LOCKUP | PL330_FAULT_READ | PL330_FAULT_WRITE | PL330_FAULT_STORE |               \
     PL330_FAULT_FIFO)

/* Part number in PERIPH_ID0 and the low bits of PERIPH_ID1. */
enum { PL330_PART_NUMBER = 0x330 };

/* Instructions of the debug registers: the bits of DBGINST0 for byte 0 and 1, and for the thread.
 */
enum { PL330_DMAKILL = 0x01, PL330_DMASEV = 0x34, PL330_DMAGO = 0xa0, PL330_DMAGO_NONSECURE = 2 };
#define PL330_DEBUG(byte0, byte1) ((uint32_t)(byte0) << 16 | (uint32_t)(byte1) << 24)
#define PL330_DEBUG_CHANNEL(n)                                                                     \
    (1u | (uint32_t)(n) << 8) /* thread of a channel, not the manager                              \
                               */

/* Bits of CCR for the accesses of a non-secure channel: AxPROT[1] of both sides. */
#define PL330_CCR_NONSECURE (1u << 9 | 1u << 23)

#endif /* PL330_REGISTERS_H */
