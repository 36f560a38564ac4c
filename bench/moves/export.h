/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes all figures for programs: CSV with a line, or JSON with an object, for each cell. */
#ifndef BENCH_EXPORT_H
#define BENCH_EXPORT_H

#include "bench/moves/bench_result.h"

/* Writes the file. Returns 0, or -1 after a message. */
int export_csv(const struct result_list *list, const char *path);
int export_json(const struct result_list *list, const char *path);

/* Open a file, and close it after an error check. The plot uses these functions, too. */
int export_close(void *file, const char *path);
void *export_open(const char *path);

#endif
