/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of a controller that executes chains, with the model of the controller (chain_model),
 * for test_moves: replaces the engines of libmli/port/ports.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/port/chain_scenes.h"

static void check_model(void)
{
    if (!chain_model.complaint())
        return;
    printf("model of the controller: %s\n", chain_model.complaint());
    abort();
}

void ports_add(void)
{
    chain_model.reset();
    (void)atexit(check_model);
    (void)mli_mov_add_engine(chain_model.engine);
}
