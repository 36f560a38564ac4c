/* SPDX-License-Identifier: BSD-3-Clause */
/* Legal cases: what the move does, and the destination's strides. */
#include <string.h>

#include "tests/property/random_case.h"

static void random_perm(struct rng *r, uint8_t *perm, uint32_t rank)
{
    for (uint32_t i = 0; i < rank && i < MLI_MAX_RANK; i++)
        perm[i] = (uint8_t)i;
    if (rng_chance(r, 40))
        return;
    for (uint32_t i = rank; i-- > 1;) {
        uint32_t k = rng_below(r, i + 1);
        uint8_t was = perm[i];

        perm[i] = perm[k];
        perm[k] = was;
    }
}

static uint8_t random_padding(struct rng *r)
{
    if (rng_chance(r, 80))
        return 0;
    return (uint8_t)(rng_chance(r, 4) ? rng_between(r, 4, 255) : rng_between(r, 1, 3));
}

static uint32_t random_step(struct rng *r)
{
    static const uint32_t huge[] = {UINT32_MAX, UINT32_MAX - 1, 0x80000000u, 0x7fffffffu};

    if (rng_chance(r, 65))
        return 1;
    return rng_chance(r, 4) ? huge[rng_below(r, 4)] : rng_between(r, 2, 9);
}

/* One source dimension: padding, window, step. */
static void random_window(struct test_case *c, uint32_t d, bool plain)
{
    struct rng *r = &c->rng;
    mli_mov_cfg_t *cfg = &c->cfg;
    uint32_t padded;

    cfg->padding_pre[d] = plain ? 0 : random_padding(r);
    cfg->padding_post[d] = plain ? 0 : random_padding(r);
    padded = c->src.shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
    cfg->offset[d] = plain || rng_chance(r, 60) ? 0 : rng_below(r, padded);
    cfg->size[d] = rng_chance(r, plain ? 90 : 50) ? 0 : padded - cfg->offset[d];
    if (!plain && cfg->size[d] && rng_chance(r, 60))
        cfg->size[d] = rng_between(r, 1, padded - cfg->offset[d]);
    cfg->sub_sample_step[d] = plain ? 1 : random_step(r);
}

void case_gen_cfg(struct test_case *c)
{
    struct rng *r = &c->rng;
    mli_mov_cfg_t *cfg = &c->cfg;

    rng_fill(r, cfg, sizeof(*cfg));
    random_perm(r, cfg->perm_dim, c->src.rank);
    if (c->via == VIA_PERMUTE) {
        memcpy(c->permute_cfg.perm_dim, cfg->perm_dim, sizeof(cfg->perm_dim));
        *cfg = oracle_permute_cfg(cfg->perm_dim);
        return;
    }
    bool all_plain = rng_chance(r, 15); /* nothing but copy and permute */
    for (uint32_t d = 0; d < c->src.rank; d++) {
        random_window(c, d, all_plain || rng_chance(r, 30));
        cfg->dst_offset[d] = all_plain || rng_chance(r, 80) ? 0 : rng_between(r, 1, 5);
    }
}

/* Samples written along destination dimension i. */
static uint64_t written(const struct test_case *c, uint32_t i)
{
    uint32_t d = c->cfg.perm_dim[i];
    uint64_t padded = (uint64_t)c->src.shape[d] + c->cfg.padding_pre[d] + c->cfg.padding_post[d];
    uint64_t size = c->cfg.size[d] ? c->cfg.size[d] : padded - c->cfg.offset[d];
    uint64_t count = 0;

    for (uint64_t at = 0; at < size; at += c->cfg.sub_sample_step[d])
        count++;
    return count;
}

/* Says each stride in the cfg or in the destination tensor. */
static void deal_strides(struct test_case *c, const int32_t *stride)
{
    struct rng *r = &c->rng;

    for (uint32_t i = 0; i < c->src.rank; i++) {
        bool in_cfg = c->via != VIA_PERMUTE && stride[i] != 0 && rng_chance(r, 60);

        c->cfg.dst_mem_stride[i] = in_cfg ? stride[i] : 0;
        /* What the tensor says does not count where the cfg speaks. */
        c->dst.mem_stride[i] = in_cfg ? (int32_t)rng_below(r, 50) : stride[i];
    }
}

void case_gen_dst_stride(struct test_case *c)
{
    struct rng *r = &c->rng;
    uint64_t n[MLI_MAX_RANK] = {0}, shape[MLI_MAX_RANK] = {0};
    int32_t stride[MLI_MAX_RANK] = {0};
    uint32_t kind = rng_below(r, 100);

    for (uint32_t i = 0; i < c->src.rank; i++) {
        n[i] = written(c, i);
        shape[i] = n[i] + c->cfg.dst_offset[i];
    }
    if (kind < 30)
        memset(stride, 0, sizeof(stride)); /* packed */
    else if (kind < 65)
        case_nested_strides(c, shape, stride, true);
    else if (kind < 73)
        case_fortran_strides(c, shape, stride);
    else if (kind < 85)
        case_nested_strides(c, shape, stride, false);
    else if (kind < 97) /* rows closer than the shape says, yet apart from one another */
        case_nested_strides(c, n, stride, rng_chance(r, 50));
    else /* interleaved, or overlapping: the oracle knows */
        for (uint32_t i = 0; i < c->src.rank; i++)
            stride[i] = (int32_t)rng_between(r, 1, 30);
    if (kind >= 30 && rng_chance(r, 60))
        case_leave_strides_out(c, stride);
    deal_strides(c, stride);
    if (c->via == VIA_PERMUTE) {
        c->dst.rank = c->src.rank;
        c->dst.el_type = c->kernel = c->src.el_type;
        for (uint32_t i = 0; i < c->src.rank; i++)
            c->dst.shape[i] = (uint32_t)shape[i];
    }
}
