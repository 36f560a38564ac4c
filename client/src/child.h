/* SPDX-License-Identifier: BSD-3-Clause */
/* The command of mli_client_spawn(): its standard input and output are one end of a socket pair. */
#ifndef CLIENT_CHILD_H
#define CLIENT_CHILD_H

#include <sys/types.h>

#include "client/src/client_error.h"

/** Starts a command. Returns 0 with the process and this end of the socket pair, or a code. */
int child_start(char *const argv[], pid_t *child, int *socket, mli_client_error *error);

/** Waits up to 2 s for the end of a process. Returns its exit code, 128 + its signal, or -1 if it
 * still runs. */
int child_wait(pid_t child);

/** Waits until a process with a closed socket ends; sends SIGTERM after 2 s, SIGKILL after 4. */
void child_end(pid_t child);

#endif /* CLIENT_CHILD_H */
