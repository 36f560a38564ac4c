/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A failed case as a job file, for `mlictl run`. Three jobs, because a job's golden file is
 * compared element by element, and because a job that updates a file must find it as it was each
 * time:
 *
 *   restore     before.raw -> dst.raw
 *   case-INDEX  src.raw -> dst.raw, the case itself; guards and gaps are in the files
 *   check       dst.raw -> after.raw, every byte of which must be as in expect.raw
 */
#ifndef CLI_SELFTEST_REPRODUCE_H
#define CLI_SELFTEST_REPRODUCE_H

#include "cli/selftest/selftest_case.h"
#include "proto/json/fault.h"

/** Makes the directory where it is missing, and the files in it. Returns 0 or -1. */
int reproduce_write(const struct move_case *c, const char *directory, uint32_t timeout_ms,
                    struct fault *fault);

#endif /* CLI_SELFTEST_REPRODUCE_H */
