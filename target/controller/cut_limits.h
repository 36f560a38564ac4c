/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a descriptor, and the checked arithmetic with them (box_cutter.h). */
#ifndef TARGET_CUT_LIMITS_H
#define TARGET_CUT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_plan.h"

/* Limits of a descriptor. No limit: UINT64_MAX. */
struct cut_limits {
    uint32_t loops;          /* at most MLI_MAX_RANK */
    uint64_t count_max;      /* iterations of a loop, at least 2 */
    uint64_t run_max;        /* bytes of a run in a descriptor with loops */
    uint64_t linear_run_max; /* bytes of a run in a descriptor without loops; at least run_max */
    uint64_t step_max;       /* bytes of a step */
    uint64_t gap_max;        /* bytes from the end of a run to the next run, or back */
    uint64_t bytes_max;      /* bytes of a descriptor */
    uint32_t granularity;    /* runs and steps are multiples of this power of two */
    uint32_t alignment;      /* addresses are multiples of this power of two */
};

static inline uint64_t cut_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t cut_divided_up(uint64_t number, uint64_t by)
{
    return number / by + (number % by != 0);
}

static inline uint64_t cut_rounded_down(uint64_t number, uint32_t power_of_two)
{
    return number & ~(uint64_t)(power_of_two - 1);
}

static inline uint64_t cut_saturating_mul(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Returns the longest step of a loop around runs of `run` bytes. */
static inline uint64_t cut_step_limit(const struct cut_limits *limits, uint64_t run)
{
    const uint64_t most = run + limits->gap_max;

    return cut_lesser(limits->step_max, most < run ? UINT64_MAX : most);
}

/* Returns whether the steps of a loop are within the limits; gap_fits() checks the gaps. */
static inline bool cut_steps_fit(const struct cut_limits *limits, uint64_t src_step,
                                 uint64_t dst_step)
{
    return src_step <= limits->step_max && dst_step <= limits->step_max &&
           (src_step | dst_step) % limits->granularity == 0;
}

/* Returns the number of iterations of a loop that one step of another loop can span. */
static inline uint64_t cut_within_reach(const struct cut_limits *limits,
                                        const struct mli_copy_loop *loop, uint64_t run)
{
    const uint64_t step = loop->src_step > loop->dst_step ? loop->src_step : loop->dst_step;

    return step > 0 ? cut_step_limit(limits, run) / step : UINT64_MAX;
}

#endif /* TARGET_CUT_LIMITS_H */
