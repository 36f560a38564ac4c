/* SPDX-License-Identifier: BSD-3-Clause */
/* The moves that `mlictl calibrate --kernels` times, and the memory that they use. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_mov_api.h"

/* A kind of move. Arrays are indexed by dimension of the source. */
struct kernel_shape {
    const char *name;
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK]; /* 0: the extent is computed from the wanted size */
    uint8_t perm[MLI_MAX_RANK];   /* all 0: no permutation */
    uint8_t pad[MLI_MAX_RANK];    /* zeros on both sides */
    uint32_t step[MLI_MAX_RANK];  /* subsampling; 0 means 1 */
    uint32_t size[MLI_MAX_RANK];  /* window; 0: the whole extent */
    uint32_t gap;                 /* elements of the source between rows of the last dimension */
    bool odd;                     /* true: the extent that is computed from the size is made odd */
};

/** All kinds; the last has a null name. */
extern const struct kernel_shape kernel_shapes[];

/** Returns the kind with this name, or null. */
const struct kernel_shape *kernel_shape_named(const char *name);

/* A move of one kind, with one element size and one size of the destination. */
struct kernel_move {
    const struct kernel_shape *shape;
    uint32_t elem;              /* 1, 2 or 4 bytes */
    size_t bytes;               /* bytes that the move writes */
    size_t src_bytes;           /* bytes of the source with its gaps */
    mli_tensor src, dst, again; /* `again` is a copy of `dst` from before the move */
    mli_mov_cfg_t cfg;
};

/* Sources and destinations of moves; each move is placed somewhere in them. */
struct kernel_memory {
    uint8_t *src, *dst;
    size_t src_size, dst_size;
    uint64_t random; /* state of the random generator that chooses the addresses */
};

/** Maps and writes the memory. Returns 0, or -1 if there is not enough memory. */
int kernel_memory_init(struct kernel_memory *memory, size_t src_bytes, size_t dst_bytes);
void kernel_memory_finish(struct kernel_memory *memory);

/** Returns the next random number. */
uint64_t kernel_memory_random(struct kernel_memory *memory);

/** Makes *move a move of a kind that writes about `bytes` bytes. It has no addresses yet. */
void kernel_move_init(struct kernel_move *move, const struct kernel_shape *shape, uint32_t elem,
                      size_t bytes);

/** Places a move at random cache lines. Returns whether it fits. */
bool kernel_move_place(struct kernel_move *move, struct kernel_memory *memory);

/** Runs the move. Returns 0, or -1 if the library refuses the move. */
int kernel_move_run(struct kernel_move *move);

/**
 * Returns which tuning value (index in tuning_file.h) is the size from which on this move streams,
 * or TUNING_FIELDS if there is none. Call kernel_move_place() before. Changes the tuning of the
 * process.
 */
size_t kernel_move_threshold(const struct kernel_move *move);
