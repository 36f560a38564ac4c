/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the DMA of the PXA27x with a model of the controller, for test_moves: replaces the
 * engines of libmli/port/ports.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/port/pxa27x_model.h"

static void check_model(void)
{
    if (!pxa27x_model_complaint())
        return;
    printf("model of the controller: %s\n", pxa27x_model_complaint());
    abort();
}

void ports_add(void)
{
    pxa27x_model_reset();
    (void)atexit(check_model);
    (void)mli_mov_add_engine(&pxa27x_engine);
}
