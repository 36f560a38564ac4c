/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit codes of mlictl. */
#pragma once

#include "proto/json/fault.h"

/* X(name, number, meaning). The enum and the list in `mlictl --help` come from here. */
#define EXIT_CODE_TABLE(X)                                                                         \
    X(DONE, 0, "all done; diff: the tensors are equal")                                            \
    X(FAILED, 1,                                                                                   \
      "a job failed, a result did not match, diff found a difference or selftest a fault")         \
    X(INVALID, 2, "wrong usage, or an invalid job (also one that libmli refuses)")                 \
    X(LOST, 3, "no daemon listens, the connection to it was lost, or it is shutting down")         \
    X(STOPPED, 4, "cancelled (^C, SIGTERM) or timed out")

enum exit_code {
#define EXIT_CODE_ENUM(name, number, text) EXIT_CODE_##name = (number),
    EXIT_CODE_TABLE(EXIT_CODE_ENUM)
#undef EXIT_CODE_ENUM
};

/** Returns the exit code of a fault, of the service or of mlictl. */
enum exit_code exit_code_of(const struct fault *fault);

/** Returns the fault of an errno: FAULT_IO_ERROR if memory, disk space or descriptors are short,
 * because the job itself may be correct; FAULT_CANCELLED after ^C; else `other`. */
enum fault_code exit_code_fault(int error, enum fault_code other);
