/* SPDX-License-Identifier: BSD-3-Clause */
/* Why there is no connection to a daemon of this machine, and what can be done about it. */
#ifndef CLI_REFUSED_H
#define CLI_REFUSED_H

#include "proto/json/fault.h"

/**
 * Says more in the fault of a connection that could not be made, where more is known. `path` is
 * what --socket gave, or null; `code` the library's. Returns -1.
 */
int refused_explain(const char *path, int code, struct fault *fault);

#endif /* CLI_REFUSED_H */
