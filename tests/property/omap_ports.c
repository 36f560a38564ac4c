/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the system DMA of the OMAP2420 with a model of the controller, for test_moves:
 * replaces the engines of libmli/port/ports.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/port/omap_model.h"

static void check_model(void)
{
    if (!omap_model_complaint())
        return;
    printf("model of the controller: %s\n", omap_model_complaint());
    abort();
}

void ports_add(void)
{
    omap_model_reset();
    (void)atexit(check_model);
    (void)mli_mov_add_engine(&omap_engine);
}
