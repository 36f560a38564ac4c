/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/level.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "libmli/src/build.h"
#include "libmli/src/exec/tuning.h"
#include "mli_helpers_api.h"

#if LEVEL_HAS_X86
#include "libmli/src/exec/x86/cpu.h"
#endif

#if __STDC_HOSTED__
#include <stdlib.h>
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
    {MLI_CPU_AVX2, cpu_has_avx2, level_avx2},
#endif
#if LEVEL_HAS_AVX512
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

/* Returns the number in an environment variable, in C notation, or `otherwise`. */
static uint64_t from_environment(const char *name, uint64_t otherwise)
{
#if __STDC_HOSTED__
    const char *text = getenv(name);

    if (text && *text)
        return strtoull(text, NULL, 0);
#else
    (void)name;
#endif
    return otherwise;
}

const struct leaf_table *level_leaf(void)
{
    if (LEVEL_ONLY_C)
        return &leaf_c;

    uint32_t now = atomic_load_explicit(&state, memory_order_acquire);

    if (now == READY)
        return &active;
    if (now != NEW || !atomic_compare_exchange_strong(&state, &now, BUILDING))
        return &leaf_c; /* another thread is building the table; use C until it is ready */
    build((uint32_t)from_environment("MLI_CPU_MASK", UINT32_MAX));
    tuning_set_stream_min(from_environment("MLI_STREAM_MIN", DEFAULT_stream_min));
    atomic_store_explicit(&state, READY, memory_order_release);
    return &active;
}

void mli_cpu_set_mask(uint32_t mask)
{
    (void)level_leaf(); /* the environment must not override the call later */
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
