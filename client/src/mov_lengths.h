/* SPDX-License-Identifier: BSD-3-Clause */
/* Which arrays of a configuration say anything. */
#ifndef CLIENT_MOV_LENGTHS_H
#define CLIENT_MOV_LENGTHS_H

#include "proto/wire/job.h"

static inline void mov_lengths(const mli_mov_cfg_t *cfg, uint32_t rank, struct cfg_lengths *lengths)
{
    *lengths = (struct cfg_lengths){0};
    for (uint32_t i = 0; i < rank; i++) {
#define TELLS(field, neutral)                                                                      \
    if (cfg->field[i] != (neutral))                                                                \
    lengths->field = (uint8_t)rank
        TELLS(offset, 0);
        TELLS(size, 0);
        TELLS(sub_sample_step, 1);
        TELLS(perm_dim, i);
        TELLS(padding_pre, 0);
        TELLS(padding_post, 0);
        TELLS(dst_offset, 0);
        TELLS(dst_mem_stride, 0);
#undef TELLS
    }
}

#endif /* CLIENT_MOV_LENGTHS_H */
