/* SPDX-License-Identifier: BSD-3-Clause */
/* A command whose standard input and output are a socket to us. */
#ifndef CLIENT_CHILD_H
#define CLIENT_CHILD_H

#include <sys/types.h>

#include "client/src/client_error.h"

/** Returns 0 with the child and our end, or a code. */
int child_start(char *const argv[], pid_t *child, int *socket, mli_client_error *error);

/** Waits up to 2 s for its end. Returns its exit code, 128 + a signal, or -1: it goes on. */
int child_wait(pid_t child);

/** Waits for its end, which closing our end has brought near, and helps after 2 s. */
void child_end(pid_t child);

#endif /* CLIENT_CHILD_H */
