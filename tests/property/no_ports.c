/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces libmli/port/ports.c in programs whose library lacks functions that the engines there
 * need.
 */
#include "libmli/port/ports.h"

void ports_add(void)
{
}
