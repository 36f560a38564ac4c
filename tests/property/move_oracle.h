/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes what a move must do, directly from its definition (mli_mov_api.h, head comment): one
 * loop over elements, one index computation each, in 128-bit arithmetic that cannot overflow. It is
 * slow and makes no plans, so that it shares no errors with the library.
 */
#ifndef TEST_ORACLE_H
#define TEST_ORACLE_H

#include <stdbool.h>

#include "mli_api.h"

/* The expected result of a move or a permute. */
struct oracle {
    mli_status status;        /* status of the move */
    mli_status layout_status; /* status of mli_mov_layout(); LARGE_ENUM: unknown */

    /* The members below are valid if `status` is OK. */
    uint32_t rank;
    uint32_t esize;
    uint64_t n[MLI_MAX_RANK];      /* number of samples along each source dimension */
    uint64_t shape[MLI_MAX_RANK];  /* shape of the destination */
    uint64_t stride[MLI_MAX_RANK]; /* strides of the destination that apply: given or computed */
    uint64_t src_stride[MLI_MAX_RANK]; /* strides of the source that apply: given or computed */
    uint64_t src_bytes;                /* capacity that the source needs; 0: nothing is read */
    uint64_t dst_bytes;                /* capacity that the destination needs */
    int32_t axis;                      /* dimension of the per-axis parameters in dst, or -1 */
    bool copies_params; /* true: the move copies the parameters into memory of the caller */
};

/* Checks the arguments. The pointers may be null; reads no data. */
void oracle_judge(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                  const mli_tensor *dst);

/* Checks the arguments of a permute kernel for `type`. */
void oracle_judge_permute(struct oracle *o, const mli_tensor *in, const mli_permute_cfg *cfg,
                          const mli_tensor *out, mli_element_type type);

/* Returns the neutral cfg with this permutation: the permute as a move. */
mli_mov_cfg_t oracle_permute_cfg(const uint8_t *perm_dim);

/* Executes a legal move byte by byte: reads src at `from`, and writes dst at `to`. */
void oracle_move(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                 const uint8_t *from, uint8_t *to);

/* Per-axis parameters in the caller's memory after a legal move with o->copies_params. */
struct oracle_params {
    int16_t *zero_point;
    int16_t *scale;
    int8_t *scale_frac_bits;
};
void oracle_move_params(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                        const struct oracle_params *to);

/* Returns the size of one element in bytes; 0 for FX_4 and unknown types. */
uint32_t oracle_element_size(mli_element_type type);

#endif /* TEST_ORACLE_H */
