/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on 32 bits for processors without instructions for them: ARMv6-M (Cortex-M0),
 * ARMv4T and ARMv5 (ARM926EJ-S) and RISC-V without the A extension, without an operating system.
 * The compiler calls these functions by name, and bare-metal toolchains have no library of them.
 * They mask interrupts, so they are atomic on one core only, in privileged (RISC-V: machine) mode.
 * The definitions are weak: a program for several cores defines its own.
 */
#include <stdbool.h>
#include <stdint.h>

#if defined(__arm__) && __ARM_ARCH < 6
#define IS_OLD_ARM 1
#else
#define IS_OLD_ARM 0
#endif

#if (defined(__ARM_ARCH_6M__) || IS_OLD_ARM || (defined(__riscv) && !defined(__riscv_atomic))) &&  \
    !defined(__unix__)

#define MASKED /* attributes of a function that masks interrupts */

#ifdef __riscv

/* Encoded field by field, because assemblers need different -march options for these instructions.
 */
#define MASK(was)    __asm__ volatile(".insn i 0x73, 7, %0, x8, 0x300" : "=r"(was) : : "memory")
#define RESTORE(was) __asm__ volatile(".insn i 0x73, 2, x0, %0, 0x300" : : "r"((was)&8) : "memory")

#elif IS_OLD_ARM

/* Thumb code of these processors has no access to the mode and the masks. */
#undef MASKED
#define MASKED __attribute__((target("arm")))
#define MASK(was)                                                                                  \
    do {                                                                                           \
        uint32_t masked_;                                                                          \
                                                                                                   \
        __asm__ volatile("mrs %0, cpsr\n\torr %1, %0, #0xc0\n\tmsr cpsr_c, %1"                     \
                         : "=&r"(was), "=r"(masked_)                                               \
                         :                                                                         \
                         : "memory");                                                              \
    } while (0)
#define RESTORE(was) __asm__ volatile("msr cpsr_c, %0" : : "r"(was) : "memory")

/* The compiler calls this function for barriers. One core sees its own accesses in order. */
void masked_synchronise(void) __asm__("__sync_synchronize") __attribute__((weak));

MASKED void masked_synchronise(void)
{
#if __ARM_ARCH >= 5
    __asm__ volatile("mcr p15, 0, %0, c7, c10, 4" : : "r"(0) : "memory"); /* drain write buffer */
#else
    __asm__ volatile("" : : : "memory"); /* processors without a system control coprocessor */
#endif
}

#else

#define MASK(was)    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(was) : : "memory")
#define RESTORE(was) __asm__ volatile("msr primask, %0" : : "r"(was) : "memory")

#endif

#define BUILT_IN(name) __asm__("__atomic_" name "_4") __attribute__((weak))

/* Defines a function that stores `next`, an expression of `before` and `value`, and returns
 * `before`. */
#define DEFINE_FETCH(function, name, next)                                                         \
    uint32_t function(volatile uint32_t *word, uint32_t value, int order) BUILT_IN(name);          \
    MASKED uint32_t function(volatile uint32_t *word, uint32_t value, int order)                   \
    {                                                                                              \
        uint32_t before, was;                                                                      \
                                                                                                   \
        (void)order;                                                                               \
        MASK(was);                                                                                 \
        before = *word;                                                                            \
        *word = (next);                                                                            \
        RESTORE(was);                                                                              \
        return before;                                                                             \
    }

DEFINE_FETCH(masked_exchange, "exchange", value)
DEFINE_FETCH(masked_add, "fetch_add", before + value)
DEFINE_FETCH(masked_sub, "fetch_sub", before - value)
DEFINE_FETCH(masked_and, "fetch_and", before &value)
DEFINE_FETCH(masked_or, "fetch_or", before | value)
DEFINE_FETCH(masked_xor, "fetch_xor", before ^ value)

bool masked_compare_exchange(volatile uint32_t *word, uint32_t *expected, uint32_t value, bool weak,
                             int success, int failure) BUILT_IN("compare_exchange");

MASKED bool masked_compare_exchange(volatile uint32_t *word, uint32_t *expected, uint32_t value,
                                    bool weak, int success, int failure)
{
    const uint32_t wanted = *expected;
    uint32_t before, was;

    (void)weak;
    (void)success;
    (void)failure;
    MASK(was);
    before = *word;
    if (before == wanted)
        *word = value;
    RESTORE(was);
    *expected = before;
    return before == wanted;
}

#endif
