/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/x86/cpu.h"

#include "libmli/src/exec/level.h"

#if LEVEL_HAS_X86

#include <cpuid.h>
#include <stdint.h>

/* Bits for the registers that the system saves when it switches threads. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6 };

static bool saves(uint32_t wanted)
{
    uint32_t a, b, c, d, low, high;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & wanted) == wanted;
}

static bool has(uint32_t wanted_b, uint32_t wanted_c)
{
    uint32_t a, b, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wanted_b) == wanted_b &&
           (c & wanted_c) == wanted_c;
}

bool cpu_has_avx2(void)
{
    return saves(SAVES_AVX) && has(bit_AVX2, 0);
}

bool cpu_has_avx512(void)
{
    return saves(SAVES_AVX512) &&
           has(bit_AVX2 | bit_BMI2 | bit_AVX512F | bit_AVX512BW | bit_AVX512VL, bit_AVX512VBMI);
}

#endif
