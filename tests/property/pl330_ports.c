/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the PL330 with a model of the controller, for test_moves: replaces the engines of
 * libmli/port/ports.c. PL330_INSTANT=1 chooses interrupts, and makes the model execute each
 * program at once.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/boards/pl330_model.h"

enum { PACE = 4096 };

static void check_model(void)
{
    if (!pl330_model_complaint())
        return;
    printf("model of the controller: %s\n", pl330_model_complaint());
    abort();
}

void ports_add(void)
{
    pl330_model_reset();
    pl330_model.pace = PACE;
    pl330_model.instant = getenv("PL330_INSTANT");
    pl330_model.interrupts = pl330_model.instant;
    (void)atexit(check_model);
    (void)mli_mov_add_engine(&pl330_engine);
}
