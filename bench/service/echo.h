/* SPDX-License-Identifier: BSD-3-Clause */
/* A libuv loop that does nothing but read and write, as the lower limit of a service. */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#include <stddef.h>

/** Serves a unix socket until it is killed: `reply` bytes for each `request` bytes. */
void echo_run(const char *path, size_t request, size_t reply);

#endif
