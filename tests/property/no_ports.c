/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of libmli/port/ports.c, for libraries with fewer functions than its engines need. */
#include "libmli/port/ports.h"

void ports_add(void)
{
}
