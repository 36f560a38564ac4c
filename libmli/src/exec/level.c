/* SPDX-License-Identifier: BSD-3-Clause */
#include "level.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "mli_helpers_api.h"

#if LEVEL_HAS_X86
#include "x86/cpu.h"
#endif

#if __STDC_HOSTED__
#include <stdlib.h>
#endif

#if LEVEL_HAS_NEON
/* Every AArch64 has it. */
static bool has_neon(void)
{
    return true;
}
#endif

/* From the bottom up. */
static const struct level {
    uint32_t bit;
    bool (*is_there)(void);
    void (*add)(struct leaf_table *table);
} levels[] = {
#if LEVEL_HAS_X86
    {MLI_CPU_AVX2, cpu_has_avx2, level_avx2},
    {MLI_CPU_AVX512, cpu_has_avx512, level_avx512},
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

/* What MLI_CPU_MASK in the environment says, as a number in C's notation; else every level. */
static uint32_t initial_mask(void)
{
#if __STDC_HOSTED__
    const char *text = getenv("MLI_CPU_MASK");

    if (text && *text)
        return (uint32_t)strtoul(text, NULL, 0);
#endif
    return UINT32_MAX;
}

const struct leaf_table *level_leaf(void)
{
    uint32_t now = atomic_load_explicit(&state, memory_order_acquire);

    if (now == READY)
        return &active;
    if (now != NEW || !atomic_compare_exchange_strong(&state, &now, BUILDING))
        return &leaf_c; /* another thread is building it: until then these will do */
    build(initial_mask());
    atomic_store_explicit(&state, READY, memory_order_release);
    return &active;
}

void mli_cpu_set_mask(uint32_t mask)
{
    build(mask);
    atomic_store_explicit(&state, READY, memory_order_release);
}

const char *mli_cpu_level(void)
{
    return level_leaf()->name;
}
