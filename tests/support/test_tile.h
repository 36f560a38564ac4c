/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small legal move with all its memory in one block, so that one memcmp() shows whether a refused
 * call has changed nothing.
 */
#ifndef TEST_TILE_H
#define TEST_TILE_H

#include "mli_api.h"

enum { TILE_H = 2, TILE_W = 3, TILE_C = 4, TILE_ELEMENTS = TILE_H * TILE_W * TILE_C };

enum tile_arrays { TILE_NULL, TILE_SAME, TILE_OWN };

struct tile {
    mli_tensor src, dst; /* tensors of shape (2, 3, 4), packed; dst has room for more */
    mli_mov_cfg_t cfg;   /* neutral */
    mli_permute_cfg permute_cfg;

    /* Arguments for the library; a test may set them to null. */
    const mli_tensor *psrc;
    const mli_mov_cfg_t *pcfg;
    const mli_permute_cfg *ppermute;
    mli_tensor *pdst;

    int16_t zero_point[16], scale[16];
    int8_t frac[16];
    int16_t own_zero_point[16], own_scale[16];
    int8_t own_frac[16];
    _Alignas(64) uint8_t in[256];
    _Alignas(64) uint8_t out[1024];
};

void tile_init(struct tile *t, mli_element_type type);

/*
 * Gives an sa tile per-axis parameters along `dim`. `arrays` says whether the destination's array
 * pointers are null, equal to those of the source, or its own.
 */
void tile_per_axis(struct tile *t, int32_t dim, enum tile_arrays arrays);
void tile_give_arrays(struct tile *t, enum tile_arrays arrays);

/* Fills in the output of a permute: rank, type and the permuted shape. */
void tile_for_permute(struct tile *t, uint8_t p0, uint8_t p1, uint8_t p2);

/* Returns the number of bytes of `in`, which is also that of the result unless the cfg enlarges it.
 */
uint32_t tile_bytes(const struct tile *t);

mli_status tile_sync(struct tile *t);
mli_status tile_prepare(struct tile *t, mli_mov_handle_t *h);

#endif /* TEST_TILE_H */
