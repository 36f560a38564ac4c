/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the levels of leaf kernels, by the processor and MLI_CPU_MASK. */
#include <stdatomic.h>
#include <stdbool.h>

#include "libmli/src/build.h"
#include "libmli/src/exec/leaf.h"
#include "libmli/src/exec/tuning.h"
#include "mli_helpers_api.h"

#if LEVEL_HAS_X86
#include <cpuid.h>
#endif

#if __STDC_HOSTED__
#include <stdlib.h>
#endif

#if LEVEL_HAS_X86

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

static bool has_avx2(void)
{
    return saves(SAVES_AVX) && has(bit_AVX2, 0);
}

#if LEVEL_HAS_AVX512
static bool has_avx512(void)
{
    return saves(SAVES_AVX512) &&
           has(bit_AVX2 | bit_BMI2 | bit_AVX512F | bit_AVX512BW | bit_AVX512VL, bit_AVX512VBMI);
}
#endif

#endif

#if LEVEL_HAS_NEON
/* Every AArch64 processor has NEON. */
static bool has_neon(void)
{
    return true;
}
#endif

/* Levels from the lowest to the highest. */
static const struct level {
    uint32_t bit;
    bool (*is_there)(void);
    void (*add)(struct leaf_table *table);
} levels[] = {
#if LEVEL_HAS_X86
    {MLI_CPU_AVX2, has_avx2, level_avx2},
#endif
#if LEVEL_HAS_AVX512
    {MLI_CPU_AVX512, has_avx512, level_avx512},
#endif
#if LEVEL_HAS_NEON
    {MLI_CPU_NEON, has_neon, level_neon},
#endif
    {0, NULL, NULL},
};

enum { NEW, BUILDING, READY };

static _Atomic uint32_t state = NEW;
static struct leaf_table active;

static void build(uint32_t mask)
{
    active = leaf_c;
    for (const struct level *level = levels; level->add; level++) {
        if (mask & level->bit && level->is_there())
            level->add(&active);
    }
}

/* The environment variables that the library reads, and the largest number of each. */
enum { CPU_MASK, STREAM_MIN, VARIABLES };
static const struct {
    const char *name;
    uint64_t max;
} variables[] = {{"MLI_CPU_MASK", UINT32_MAX}, {"MLI_STREAM_MIN", UINT64_MAX}};

/* Sets *number to the number of an environment variable, in C notation. Returns false if the
   variable has another text. */
static bool from_environment(int variable, uint64_t *number)
{
#if __STDC_HOSTED__
    const char *text = getenv(variables[variable].name);
    uint64_t value;
    char *end;

    if (!text || !*text)
        return true;
    value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || value > variables[variable].max)
        return false;
    *number = value;
#else
    (void)variable;
    (void)number;
#endif
    return true;
}

const char *mli_cpu_ignored(int index)
{
    uint64_t number;

    for (int i = 0; i < VARIABLES; i++) {
        if (!from_environment(i, &number) && index-- == 0)
            return variables[i].name;
    }
    return NULL;
}

const struct leaf_table *level_leaf(void)
{
    if (LEVEL_ONLY_C)
        return &leaf_c;

    uint64_t mask = UINT32_MAX, stream_min = DEFAULT_stream_min;
    uint32_t now = atomic_load_explicit(&state, memory_order_acquire);

    if (now == READY)
        return &active;
    if (now != NEW || !atomic_compare_exchange_strong(&state, &now, BUILDING))
        return &leaf_c; /* another thread is building the table; use C until it is ready */
    (void)from_environment(CPU_MASK, &mask);
    (void)from_environment(STREAM_MIN, &stream_min);
    build((uint32_t)mask);
    tuning_set_stream_min(stream_min);
    atomic_store_explicit(&state, READY, memory_order_release);
    return &active;
}

void mli_cpu_set_mask(uint32_t mask)
{
    (void)level_leaf(); /* reads the environment now: it must not override this call later */
    build(mask);
}

const char *mli_cpu_level(void)
{
    return BUILD_SMALL_KERNELS ? "small" : level_leaf()->name;
}

void mli_cpu_set_stream_min(uint64_t bytes)
{
    (void)level_leaf();
    tuning_set_stream_min(bytes);
}
