/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of one file take turns: each holds a lock on the file that it replaces. */
#ifndef CLI_LOCK_H
#define CLI_LOCK_H

#include "proto/json/fault.h"

/**
 * Waits for flock(LOCK_EX) on `fd`, which closing it gives back. File systems without locks do
 * without. Returns 0, or -1 where it is cancelled meanwhile.
 */
int lock_wait(int fd, struct fault *fault);

#endif /* CLI_LOCK_H */
