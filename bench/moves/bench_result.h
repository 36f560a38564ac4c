/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of one cell: a case at one element size and one size of the destination. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "bench/moves/lines.h"
#include "bench/moves/race.h"

struct result {
    const struct bench_case *kind;
    int number; /* number of the case */
    uint32_t elem, kib;
    size_t moved_bytes;
    uint64_t seed;
    double memcpy_ns;
    int interrupted; /* number of samples interrupted by other processes */
    double bound;    /* lower bound of the ratio, from the cache lines that every move must access
                        (traffic.h); 0: not known */
    double ours_ns;
    struct figure ours; /* our time / memcpy's time; count 0: not measured */
    enum outcome outcome;
    enum outcome peer_outcome[PEER_MAX];
    struct figure peer[PEER_MAX];
    struct figure tuned; /* `ours`, measured with a tuning file; count 0: not measured */
    double tuned_ratio;  /* median of (time with the tuning / time with the defaults) */
    bool tuned_again; /* true: the ratio is from a second race, because the first ratio was high */
    struct figure lines; /* cost of the cache lines alone (lines.h); count 0: not measured */
    char lines_way[LINES_WAY];
};

struct result_list {
    struct result *at;
    int count;
    const struct bench_case *kinds;
    struct peer_list peers;
};

/* Returns the number of the fastest peer, or -1. */
int result_best(const struct result_list *list, const struct result *r);

/* Returns a cell of the list, or null if the cell was not measured. */
const struct result *result_find(const struct result_list *list, int number, uint32_t elem,
                                 uint32_t kib);

bool result_listed(const struct result *r);

/* Returns whether goals exist for the size of a cell: one size for the second-level cache, one for
 * the third-level cache, one for memory. */
bool result_has_goal(const struct result *r);

/* Writes the name of a cell: "transpose, odd, 2-byte, 384 KiB". */
enum { RESULT_NAME = 96 };
const char *result_name(const struct result *r, char name[RESULT_NAME]);

/* Writes a size: "384 KiB", "8 MiB". */
const char *result_size(uint32_t kib, char name[RESULT_NAME]);

#endif
