/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of faults: one change to a legal tile, and the documented status for it. To add a fault,
 * write a line in faults_tensor.h, faults_cfg.h or faults_quant.h.
 */
#ifndef TEST_FAULTS_H
#define TEST_FAULTS_H

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

/* The legal tile that a fault is applied to. */
enum fault_base { FX16, SA8_AXIS };

/* The expected status of mli_mov_layout(), which checks neither pointers nor capacities. */
enum fault_layout { LAYOUT_SAME, LAYOUT_OK, LAYOUT_ANY };

struct fault {
    void (*inject)(struct tile *t);
    enum fault_base base;
    mli_status status;
    enum fault_layout layout;
    const char *names; /* the member that the last error must name */
};

static inline void fault_make(const struct fault *f, struct tile *t)
{
    tile_init(t, f->base == FX16 ? MLI_EL_FX_16 : MLI_EL_SA_8);
    if (f->base == SA8_AXIS)
        tile_per_axis(t, 2, TILE_NULL);
    f->inject(t);
}

/*
 * Defines functions and table entries from a list of FAULT(name, base, status, layout, names,
 * code).
 */
#define FAULT_FUNCTION(name, base, status, layout, names, code)                                    \
    static void inject_##name(struct tile *t)                                                      \
    {                                                                                              \
        code;                                                                                      \
    }
#define FAULT_ENTRY(name, base, status, layout, names, code)                                       \
    static struct fault fault_##name = {inject_##name, base, MLI_STATUS_##status, layout, names};

#endif /* TEST_FAULTS_H */
