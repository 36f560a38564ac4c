/* SPDX-License-Identifier: BSD-3-Clause */
/* A move that is large enough for a channel, with its memory and its handle. */
#ifndef TEST_LOAD_H
#define TEST_LOAD_H

#include "mli_api.h"

enum { LOADS = 64, LOAD_FRESH = 0xA5, LOAD_GUARD = 64 };

struct load {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t h;
    uint8_t *in, *out, *expected; /* source; destination; a second buffer, for use by the test */
    size_t in_bytes, out_bytes;   /* sizes of source and destination; out_bytes includes the guard
                                     bytes after the destination */
    int32_t cookie; /* 0 .. LOADS - 1: identifies the load in the counts of callbacks */
};

/*
 * Initialises a move of (rows, run) bytes; the rows of the destination begin `run + gap` bytes
 * apart.
 */
void load_init_rows(struct load *l, int32_t cookie, uint32_t rows, uint32_t run, uint32_t gap);

/* Initialises a move of `bytes` contiguous bytes. */
void load_init_flat(struct load *l, int32_t cookie, uint32_t bytes);

/*
 * Initialises a move of (3, 4, 5, 6) bytes with one zero before and after each dimension. Its plan
 * has a copy and all eight fills.
 */
void load_init_padded(struct load *l, int32_t cookie);

void load_finish(struct load *l);

/* Claims channels, prepares, and registers a callback that counts its calls. */
void load_claim(struct load *l, int channels);

/* Resets the destination to LOAD_FRESH, and the count of callbacks to 0. */
void load_freshen(struct load *l);

void load_start(struct load *l);

/*
 * Returns how many callbacks with this cookie there were since load_freshen(). Cookies beyond the
 * table end the process.
 */
uint32_t load_calls(int32_t cookie);

/* Returns whether exactly the bytes of the move are written. Only for moves without padding. */
bool load_is_moved(const struct load *l);

#endif /* TEST_LOAD_H */
