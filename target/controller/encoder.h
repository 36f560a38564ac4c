/* SPDX-License-Identifier: BSD-3-Clause */
/* The controllers of this folder, and the helpers of their encoders. Internal to the folder. */
#pragma once

#include "target/controller/controller.h"

extern const struct controller controller_zdma;
extern const struct controller controller_bcm2835;
extern const struct controller controller_pdma;
extern const struct controller controller_pl330;
extern const struct controller controller_hexagon;
extern const struct controller controller_aie;

/** Returns the board's address of the first byte that a piece reads; 0 for a fill. */
static inline uint64_t controller_src(const struct mli_descriptor *piece)
{
    return (uintptr_t)piece->box.src;
}

/** Returns the board's address of the first byte that a piece writes. */
static inline uint64_t controller_dst(const struct mli_descriptor *piece)
{
    return (uintptr_t)piece->box.dst;
}

/**
 * Append a field. People see `value` in decimal, or in hexadecimal with controller_add_hex().
 */
void controller_add(struct controller_descriptor *out, const char *name, uint64_t value);
void controller_add_hex(struct controller_descriptor *out, const char *name, uint64_t value);
/** Appends a little-endian word of 8, 16, 32 or 64 bits to the bytes. */
void controller_put(struct controller_descriptor *out, unsigned bits, uint64_t value);
