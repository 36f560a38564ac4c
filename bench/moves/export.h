/* SPDX-License-Identifier: BSD-3-Clause */
/* For programs: all figures, a line or an object for each cell. */
#ifndef BENCH_EXPORT_H
#define BENCH_EXPORT_H

#include "bench/moves/bench_result.h"

/* 0, or -1 after saying why the file was not written. */
int export_csv(const struct result_list *list, const char *path);
int export_json(const struct result_list *list, const char *path);

/* Shared with the plot: opens, and closes with a check. */
int export_close(void *file, const char *path);
void *export_open(const char *path);

#endif
