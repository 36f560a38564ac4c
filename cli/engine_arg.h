/* SPDX-License-Identifier: BSD-3-Clause */
/* Engines named on the command line. */
#ifndef CLI_ENGINE_ARG_H
#define CLI_ENGINE_ARG_H

#include "proto/json/fault.h"

/**
 * Whether the names in an engine's text ("threads:tiny=0", "fault:threads,seed=1") are engines that
 * there are. Returns 0, or -1 with the fault saying which one was probably meant. What else may be
 * wrong with it, the library says.
 */
int engine_arg_check(const char *spec, struct fault *fault);

#endif /* CLI_ENGINE_ARG_H */
