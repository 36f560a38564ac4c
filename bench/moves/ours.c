/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/ours.h"

#include <stdlib.h>
#include <string.h>

#include "mli_api.h"

struct ours {
    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
};

static const char *ours_open(void)
{
    return mli_version();
}

static void init(struct ours *o, const struct job *j)
{
    const struct bench_case *c = j->kind;
    uint8_t *src;

    memset(o, 0, sizeof(*o));
    memcpy(&src, &j->src, sizeof(src)); /* mli_tensor has no pointer to const */
    mli_mov_cfg_for_copy(&o->cfg);
    o->src.rank = j->rank;
    o->src.el_type = j->elem == 1 ? MLI_EL_FX_8 : j->elem == 2 ? MLI_EL_FX_16 : MLI_EL_FP_32;
    o->src.data.capacity = (uint32_t)j->src_bytes;
    o->src.data.mem.pi8 = (int8_t *)src;
    o->dst.data.capacity = (uint32_t)j->dst_bytes;
    o->dst.data.mem.pi8 = (int8_t *)j->dst;
    for (uint32_t d = 0; d < j->rank; d++) {
        o->src.shape[d] = j->shape[d];
        o->src.mem_stride[d] = (int32_t)j->stride[d];
        o->cfg.offset[d] = j->offset[d];
        o->cfg.size[d] = j->size[d];
        o->cfg.sub_sample_step[d] = j->step[d];
        o->cfg.padding_pre[d] = c->pre[d];
        o->cfg.padding_post[d] = c->post[d];
        o->cfg.perm_dim[d] = j->perm[d];
        o->cfg.dst_offset[d] = j->axis[d].at;
        o->cfg.dst_mem_stride[d] = (int32_t)j->axis[d].to;
    }
}

static void *ours_prepare(const struct job *job)
{
    struct ours *o = malloc(sizeof(*o));

    if (o)
        init(o, job);
    return o;
}

static int ours_run(void *state)
{
    struct ours *o = state;

    return mli_mov_tensor_sync(&o->src, &o->cfg, &o->dst) == MLI_STATUS_OK ? 0 : -1;
}

const struct peer ours_peer = {"libmli", ours_open, ours_prepare, ours_run, free};
