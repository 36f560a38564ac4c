/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of ZDMA with a model of the controller, for test_moves: replaces the engines of
 * libmli/port/ports.c. The model fails an assertion of cmocka if the engine does what the manual
 * forbids, which ends the program.
 */
#include "boards/drivers/zdma.h"
#include "libmli/port/ports.h"
#include "tests/unit/boards/zdma_model.h"

enum { PACE = 16 };

void ports_add(void)
{
    static const struct zdma_platform platform = {
        .channels = ZDMA_MODEL_CHANNELS, .read = zdma_model_read, .write = zdma_model_write};

    zdma_model_reset();
    for (uint32_t i = 0; i < ZDMA_MODEL_CHANNELS; i++)
        zdma_model_set_pace(i, PACE);
    zdma_set_platform(&platform);
    (void)mli_mov_add_engine(&zdma_engine);
}
