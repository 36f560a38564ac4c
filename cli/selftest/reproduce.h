/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a failed case as a job file, for `mlictl run`. It has three jobs: a golden file is
 * compared element by element, and a job that updates a file needs the initial file in each run:
 *
 *   restore     before.raw -> dst.raw
 *   case-INDEX  src.raw -> dst.raw, the case; guards and gaps are in the files
 *   check       dst.raw -> after.raw, compared with expect.raw byte by byte
 */
#ifndef CLI_SELFTEST_REPRODUCE_H
#define CLI_SELFTEST_REPRODUCE_H

#include "cli/selftest/selftest_case.h"
#include "proto/json/fault.h"

/** Writes the files to the directory, which is created if it is missing. Returns 0 or -1. */
int reproduce_write(const struct move_case *c, const char *directory, uint32_t timeout_ms,
                    struct fault *fault);

#endif /* CLI_SELFTEST_REPRODUCE_H */
