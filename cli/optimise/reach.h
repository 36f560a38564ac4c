/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that wrote the bytes which a map reads. */
#ifndef CLI_REACH_H
#define CLI_REACH_H

#include "cli/optimise/program.h"

enum { PIECES_MAX = 64 };

/* Samples of a map that one step wrote. */
struct piece {
    size_t step;
    struct index_box given;
};

struct reach {
    enum kept why; /* NOT_KEPT; or why the writers are unknown: the rest is then not filled */
    size_t count;
    struct piece pieces[PIECES_MAX]; /* the newest first; disjoint */
    bool all; /* the pieces have all samples; otherwise the others are zeros or older than all steps
               */
};

/** Finds the steps before `before` that wrote what `map` reads of `store`. */
void reach_find(struct program *p, const struct index_map *map, size_t store, size_t before,
                struct reach *reach);

/** Returns whether no step in [from, to) writes what `map` reads of `store`. */
bool reach_is_unchanged(struct program *p, const struct index_map *map, size_t store, size_t from,
                        size_t to);

/** Returns the index of the first write of a store by step `step` or a later one. */
size_t reach_first_write(const struct store *store, size_t step);

#endif /* CLI_REACH_H */
