/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the PL080. */
#include "tests/support/unit.h"

#include "tests/unit/port/chain_scenes.h"
#include "tests/unit/port/pl080_model.h"

const struct chain_model chain_model = {
    .engine = &pl080_engine,
    .polled = "pl080:interrupt=0,run=0,piece=0",
    .interrupts = "pl080:interrupt=1,run=0,piece=0",
    .cancel_step = 7,
    .pace = &pl080_model.pace,
    .handled = &pl080_model.handled,
    .fail_at = &pl080_model.fail_at,
    .reset = pl080_model_reset,
    .run = pl080_model_run,
    .complaint = pl080_model_complaint,
};

int main(void)
{
    const struct CMUnitTest tests[] = {CHAIN_SCENES};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
