/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives test_moves the engine of the BCM2835 with a model of the controller: replaces the engines
 * of libmli/port/ports.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "libmli/port/ports.h"
#include "tests/unit/boards/bcm2835_model.h"

enum { PACE = 256 };

static void check_model(void)
{
    if (!bcm2835_model_complaint())
        return;
    printf("model of the controller: %s\n", bcm2835_model_complaint());
    abort();
}

void ports_add(void)
{
    bcm2835_model_reset();
    bcm2835_model.pace = PACE;
    (void)atexit(check_model);
    (void)mli_mov_add_engine(&bcm2835_engine);
}
