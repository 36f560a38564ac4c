/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A movement as moves: each move takes a window of a source in memory, with a border of zeros, and
 * writes it with strides. Before moves_fold() (fold.c) a move may have more axes than libmli
 * allows.
 */
#pragma once

#include "cli/import/movement.h"
#include "cli/job/axes.h"
#include "mli_types.h"

_Static_assert((int)MOVE_AXES_MAX > (int)MOVEMENT_RANK_MAX,
               "one more axis for the parts of an element");

enum {
    MOVES_MAX = 4096 /* maximum number of moves of a movement */
};

struct moves {
    struct move *items;
    size_t count, capacity;
    uint32_t unit; /* bytes of an element */
    bool filled;   /* the result is filled with an element other than 0 before the moves */
    bool too_many; /* the movement needs more than MOVES_MAX moves */
    bool too_wide; /* an extent or stride exceeds the fields of a move */
};

/** Fills *moves with the moves of a movement, of any rank. Returns 0, or -1 (no memory). */
int moves_of(const struct movement *movement, struct moves *moves);
void moves_finish(struct moves *moves);
/** Adds a copy of a move. Returns 0, or -1 if there is no memory or moves->too_many is set. */
int moves_add(struct moves *moves, const struct move *move);

/**
 * Converts the moves to moves of 1 to 4 axes and elements of 1, 2 or 4 bytes. Returns 0, or -1 if
 * there is no memory, or if moves->too_many or moves->too_wide is set.
 */
int moves_fold(struct moves *moves);
