/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of planes of bytes, as a handle's transfer, and whether they came out right. */
#ifndef TEST_MOVES_H
#define TEST_MOVES_H

#include <stdbool.h>

#include "mli_api.h"

/* A tensor of bytes with its memory, from static storage: a move of it is checked whole. */
struct move {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    uint8_t *in, *out;
    uint32_t in_bytes, out_bytes;
};

/*
 * A transposed copy of (d0, d1, d2, d3) bytes in which nothing merges: four loops of one byte
 * each, where no extent is 1. `in` is filled with bytes that differ; `out` with 0xA5.
 */
void move_init(struct move *m, uint32_t d0, uint32_t d1, uint32_t d2, uint32_t d3);

/* A window of `rows` rows of `width` bytes out of rows that are twice as wide. */
void move_init_rows(struct move *m, uint32_t rows, uint32_t width);

/* The same with a margin of zeros: one row above and below, one byte left and right. */
void move_init_padded(struct move *m, uint32_t rows, uint32_t width);

void move_finish(struct move *m);

/* Is every byte of the destination what the move says? */
bool move_is_right(const struct move *m);

/* Bytes of the destination that are not as move_init() left them. */
uint32_t move_written(const struct move *m);

/* Acquires `channels` and prepares; asserts that both are fine. */
void move_prepare(struct move *m, int channels, mli_mov_handle_t *h);

/* An engine with `channels` channels in the pool. To be paired with moves_engine_away(). */
void moves_engine(const char *spec, int channels);
void moves_engine_away(void);

#endif /* TEST_MOVES_H */
