/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines named on the command line. */
#pragma once

#include "proto/json/fault.h"

/**
 * Checks the engine names in an engine specification ("threads:tiny=0", "fault:threads,seed=1").
 * Returns 0, or -1 with a fault that names the nearest engine. The library checks the rest.
 */
int engine_arg_check(const char *spec, struct fault *fault);
