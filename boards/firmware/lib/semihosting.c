/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/board.h"

enum {
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    APPLICATION_EXIT = 0x20026, /* the reason of a normal end */
};

static uintptr_t request(uintptr_t number, const void *block)
{
#if defined(__riscv)
    register uintptr_t a0 __asm__("a0") = number;
    register uintptr_t a1 __asm__("a1") = (uintptr_t)block;

    /* Three instructions of 4 bytes in one page mark the request. */
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
#elif defined(__aarch64__)
    register uintptr_t x0 __asm__("x0") = number;
    register uintptr_t x1 __asm__("x1") = (uintptr_t)block;

    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
#elif defined(__arm__)
    register uintptr_t r0 __asm__("r0") = number;
    register uintptr_t r1 __asm__("r1") = (uintptr_t)block;

#if defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
    __asm__ volatile("bkpt #0xab" : "+r"(r0) : "r"(r1) : "memory");
#elif defined(__thumb__)
    __asm__ volatile("svc #0xab" : "+r"(r0) : "r"(r1) : "memory", "lr");
#else
    __asm__ volatile("svc #0x123456" : "+r"(r0) : "r"(r1) : "memory", "lr");
#endif
    return r0;
#else
#error "semihosting: add the request of this processor"
#endif
}

void semihosting_exit(int status)
{
    const uintptr_t block[] = {APPLICATION_EXIT, (uintptr_t)status};

    (void)request(SYS_EXIT_EXTENDED, block);
}

bool semihosting_arguments(char *to, size_t room)
{
    uintptr_t block[] = {(uintptr_t)to, room};

    if (room == 0 || request(SYS_GET_CMDLINE, block) != 0 || block[1] >= room)
        return false;
    to[block[1]] = '\0';
    return true;
}
