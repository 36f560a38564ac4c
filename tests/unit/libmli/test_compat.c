/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the compatibility header in C, included by mli_api.h. */
#define MLI_EMBARC_COMPAT
#include "mli_api.h"

#include "tests/unit/libmli/compat_checks.h"

int main(void)
{
    return compat_run();
}
