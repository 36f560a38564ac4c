/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine of the PL080. */
#include "tests/support/unit.h"

#include "tests/unit/port/chain_scenes.h"
#include "tests/unit/port/pl080_model.h"

int main(void)
{
    const struct CMUnitTest tests[] = {CHAIN_SCENES};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
