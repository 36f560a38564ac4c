/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the compatibility header in C++, included by itself before the umbrella header. */
#include "mli_compat_embarc.h"

#include "mli_api.h"

#include "tests/unit/libmli/compat_checks.h"

int main()
{
    return compat_run();
}
