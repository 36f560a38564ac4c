/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/selftest_engines.h"

#include <stdio.h>
#include <string.h>

static void add(struct engines *engines, const char *before, const char *name, const char *after)
{
    snprintf(engines->specs[engines->count++], ENGINES_SPEC_MAX, "%s%s%s", before, name, after);
}

void engines_list(struct engines *engines)
{
    const char *name;
    engines->count = 0;
    for (int i = 0; (name = mli_mov_engine_at(i)); i++) {
        if (strcmp(name, "fault") == 0)
            continue; /* nothing by itself */
        add(engines, "", name, "");
        if (strcmp(name, "inline") != 0) /* there it is the default */
            add(engines, "", name, ":tiny=0");
        add(engines, "fault:", name, ",tiny=0,reorder_pct=50,delay_us=50");
    }
}
