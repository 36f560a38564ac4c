/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the PL080 with a model of the controller, for test_moves: replaces the engines of
 * libmli/port/ports.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/port/pl080_model.h"

static void check_model(void)
{
    if (!pl080_model_complaint())
        return;
    printf("model of the controller: %s\n", pl080_model_complaint());
    abort();
}

void ports_add(void)
{
    pl080_model_reset();
    (void)atexit(check_model);
    (void)mli_mov_add_engine(&pl080_engine);
}
