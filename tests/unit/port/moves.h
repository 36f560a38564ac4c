/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves planes of bytes with a handle's transfer, and checks the result. */
#ifndef TEST_MOVES_H
#define TEST_MOVES_H

#include <stdbool.h>

#include "mli_api.h"

/* A move of bytes. Its memory is in static arrays, so that tests can check all bytes. */
struct move {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    uint8_t *in, *out;
    uint32_t in_bytes, out_bytes;
};

/*
 * Makes a transpose of (d0, d1, d2, d3) bytes whose loops cannot be merged: four loops around runs
 * of one byte, if no extent is 1. Fills `in` with different bytes, and `out` with 0xA5.
 */
void move_init(struct move *m, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3);

/* Makes a move of a window of `rows` rows of `width` bytes; the source's rows are twice as wide. */
void move_init_rows(struct move *m, uint32_t rows, uint32_t width);

/*
 * Makes a move like move_init_rows() with a margin of zeros: one row above and below, one byte left
 * and right.
 */
void move_init_padded(struct move *m, uint32_t rows, uint32_t width);

void move_finish(struct move *m);

/* Returns whether every byte of the destination has the right value. */
bool move_is_right(const struct move *m);

/* Returns the number of bytes of the destination that changed since move_init(). */
uint32_t move_written(const struct move *m);

/* Acquires `channels` channels and prepares the move; both calls must succeed. */
void move_prepare(struct move *m, int channels, mli_mov_handle_t *h);

/* Chooses an engine with `channels` channels in the pool. Call moves_engine_away() afterwards. */
void moves_engine(const char *spec, int channels);
void moves_engine_away(void);

#endif /* TEST_MOVES_H */
