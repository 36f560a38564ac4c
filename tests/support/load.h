/* SPDX-License-Identifier: BSD-3-Clause */
/* A move that is worth a channel, its memory and its handle. */
#ifndef TEST_LOAD_H
#define TEST_LOAD_H

#include "mli_api.h"

enum { LOADS = 64, LOAD_FRESH = 0xA5, LOAD_GUARD = 64 };

struct load {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_mov_handle_t h;
    uint8_t *in, *out, *expected; /* expected: a second buffer, for the test's own use */
    size_t in_bytes, out_bytes;   /* out_bytes: with guard bytes behind */
    int32_t cookie;               /* 0 .. LOADS - 1: whose callbacks are counted apart */
};

/* (rows, run) bytes into a destination whose rows are `run + gap` apart. */
void load_init_rows(struct load *l, int32_t cookie, uint32_t rows, uint32_t run, uint32_t gap);

/* So many bytes as they are. */
void load_init_flat(struct load *l, int32_t cookie, uint32_t bytes);

/* (3, 4, 5, 6) bytes with a zero sample around all four dimensions: a copy and all the fills. */
void load_init_padded(struct load *l, int32_t cookie);

void load_finish(struct load *l);

/* Claims channels, prepares, and registers a callback that counts. */
void load_claim(struct load *l, int channels);

/* Not one byte of the destination written, nobody called. */
void load_freshen(struct load *l);

void load_start(struct load *l);

/* Callbacks for a cookie since it was freshened. Cookies beyond the table fail the process. */
uint32_t load_calls(int32_t cookie);

/* Is what is written the whole move, and no byte more? For moves without padding. */
bool load_is_moved(const struct load *l);

#endif /* TEST_LOAD_H */
