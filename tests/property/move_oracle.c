/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/property/move_oracle.h"

#include <string.h>

#include "tests/property/oracle_overlap.h"
#include "tests/property/oracle_quant.h"

/* Return a sum and a product that saturate. UINT64_MAX is too large for every field. */
static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint32_t oracle_element_size(mli_element_type type)
{
    switch (type) {
    case MLI_EL_FX_8:
    case MLI_EL_SA_8:
        return 1;
    case MLI_EL_FX_16:
    case MLI_EL_FP_16:
        return 2;
    case MLI_EL_SA_32:
    case MLI_EL_FP_32:
        return 4;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------ faults of the arguments */

static bool bad_tensor(const mli_tensor *t)
{
    if (t->rank < 1 || t->rank > MLI_MAX_RANK)
        return true;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (t->shape[d] == 0 || t->mem_stride[d] < 0)
            return true;
    }
    return oracle_element_size(t->el_type) == 0 && t->el_type != MLI_EL_FX_4;
}

static uint64_t padded(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d)
{
    return (uint64_t)src->shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
}

static uint64_t window(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d)
{
    return cfg->size[d] != 0 ? cfg->size[d] : padded(src, cfg, d) - cfg->offset[d];
}

static bool bad_perm(const uint8_t *perm, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        if (perm[i] >= rank)
            return true;
        for (uint32_t k = 0; k < i; k++) {
            if (perm[k] == perm[i])
                return true;
        }
    }
    return false;
}

static bool bad_cfg(const mli_tensor *src, const mli_mov_cfg_t *cfg)
{
    for (uint32_t d = 0; d < src->rank; d++) {
        if (cfg->offset[d] >= padded(src, cfg, d) || cfg->sub_sample_step[d] == 0)
            return true;
        if (cfg->offset[d] + window(src, cfg, d) > padded(src, cfg, d))
            return true;
        if (cfg->dst_mem_stride[d] < 0)
            return true;
    }
    return bad_perm(cfg->perm_dim, src->rank);
}

/* Tensors are checked before the cfg is, so even strides that the cfg overrides must be legal. */
static bool bad_dst_stride(const mli_tensor *src, const mli_tensor *dst)
{
    for (uint32_t i = 0; i < src->rank; i++) {
        if (dst->mem_stride[i] < 0)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ geometry of a legal cfg */

/*
 * Returns the source index, along dimension d, of sample number k of the window; -1 for a sample in
 * the padding.
 */
static int64_t source_index(const mli_tensor *src, const mli_mov_cfg_t *cfg, uint32_t d, uint64_t k)
{
    int64_t at = (int64_t)(cfg->offset[d] + k * cfg->sub_sample_step[d]) - cfg->padding_pre[d];

    return at >= 0 && at < (int64_t)src->shape[d] ? at : -1;
}

/*
 * Returns the number of bytes from the source's first element to the end of the last element that
 * is read; 0 if no element is read.
 */
static uint64_t source_bytes(const struct oracle *o, const mli_tensor *src,
                             const mli_mov_cfg_t *cfg)
{
    uint64_t last = 0;

    for (uint32_t d = 0; d < o->rank; d++) {
        int64_t highest = -1;

        for (uint64_t k = 0; k < o->n[d]; k++) {
            int64_t at = source_index(src, cfg, d, k);

            if (at > highest)
                highest = at;
        }
        if (highest < 0)
            return 0;
        last = plus(last, times((uint64_t)highest, o->src_stride[d]));
    }
    return times(plus(last, 1), o->esize);
}

/*
 * Returns the stride that applies: the given stride or, if it is 0, the packed stride on top of the
 * next inner dimension.
 */
static uint64_t stride_of(const int32_t *given, const uint64_t *shape, uint32_t rank, uint32_t d)
{
    if (given[d] != 0)
        return (uint64_t)given[d];
    return d + 1 == rank ? 1 : times(stride_of(given, shape, rank, d + 1), shape[d + 1]);
}

/* Fills the geometry. Returns false if a number does not fit its field. */
static bool lay_out(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                    const mli_tensor *dst)
{
    uint64_t from[MLI_MAX_RANK];
    int32_t given[MLI_MAX_RANK];
    uint64_t last = 0;

    o->rank = src->rank;
    o->esize = oracle_element_size(src->el_type);
    for (uint32_t d = 0; d < o->rank; d++) {
        from[d] = src->shape[d];
        o->n[d] = (window(src, cfg, d) + cfg->sub_sample_step[d] - 1) / cfg->sub_sample_step[d];
    }
    for (uint32_t i = 0; i < o->rank; i++) {
        o->shape[i] = o->n[cfg->perm_dim[i]] + cfg->dst_offset[i];
        if (o->shape[i] > UINT32_MAX)
            return false;
        given[i] = cfg->dst_mem_stride[i] ? cfg->dst_mem_stride[i] : dst->mem_stride[i];
    }
    for (uint32_t i = 0; i < o->rank; i++) {
        o->stride[i] = stride_of(given, o->shape, o->rank, i);
        o->src_stride[i] = stride_of(src->mem_stride, from, o->rank, i);
        if ((o->stride[i] > INT32_MAX && o->shape[i] > 1) ||
            (o->src_stride[i] == UINT64_MAX && src->shape[i] > 1))
            return false;
        if (o->stride[i] > INT32_MAX)
            o->stride[i] = 0; /* an extent of 1 needs no stride */
        last = plus(last, times(o->shape[i] - 1, o->stride[i]));
    }
    o->dst_bytes = times(plus(last, 1), o->esize);
    o->src_bytes = source_bytes(o, src, cfg);
    return true;
}

/* ------------------------------------------------------------------ every element in turn */

void oracle_each(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                 oracle_visit *visit, void *context)
{
    uint64_t at[MLI_MAX_RANK] = {0}; /* coordinates in the region that the move writes */
    uint32_t i;

    do {
        int64_t from = 0;
        uint64_t to = 0;

        for (i = 0; i < o->rank; i++) {
            uint32_t d = cfg->perm_dim[i];
            int64_t s = source_index(src, cfg, d, at[i]);

            to += (cfg->dst_offset[i] + at[i]) * o->stride[i];
            /* Wraps around only for an element that is padding in another dimension. */
            from =
                s < 0 || from < 0 ? -1 : (int64_t)((uint64_t)from + (uint64_t)s * o->src_stride[d]);
        }
        visit(context, from, to);
        for (i = o->rank; i-- > 0;) {
            if (++at[i] < o->n[cfg->perm_dim[i]])
                break;
            at[i] = 0;
        }
    } while (i != UINT32_MAX);
}

struct copy {
    const uint8_t *from;
    uint8_t *to;
    uint32_t esize;
};

static void copy_element(void *context, int64_t from, uint64_t to)
{
    const struct copy *c = context;

    if (from < 0)
        memset(c->to + to * c->esize, 0, c->esize);
    else
        memcpy(c->to + to * c->esize, c->from + (uint64_t)from * c->esize, c->esize);
}

void oracle_move(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                 const uint8_t *from, uint8_t *to)
{
    struct copy c = {from, to, o->esize};

    oracle_each(o, src, cfg, copy_element, &c);
}

void oracle_move_params(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                        const struct oracle_params *to)
{
    uint32_t d = cfg->perm_dim[o->axis];

    for (uint64_t k = 0; k < o->n[d]; k++) {
        int64_t s = source_index(src, cfg, d, k);
        uint64_t j = cfg->dst_offset[o->axis] + k;

        to->zero_point[j] = s < 0 ? 0 : src->el_params.sa.zero_point.mem.pi16[s];
        to->scale[j] = s < 0 ? 1 : src->el_params.sa.scale.mem.pi16[s];
        to->scale_frac_bits[j] = s < 0 ? 0 : src->el_params.sa.scale_frac_bits.mem.pi8[s];
    }
}

/* ------------------------------------------------------------------ the judgement */

/* Makes the checks that do not depend on pointers and capacities, in the documented order. */
static mli_status judge_values(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                               const mli_tensor *dst)
{
    if (!src || !dst || bad_tensor(src))
        return MLI_STATUS_BAD_TENSOR;
    if (!cfg)
        return MLI_STATUS_BAD_FUNC_CFG;
    if (bad_dst_stride(src, dst))
        return MLI_STATUS_BAD_TENSOR;
    if (src->el_type == MLI_EL_FX_4)
        return MLI_STATUS_NOT_SUPPORTED;
    if (bad_cfg(src, cfg))
        return MLI_STATUS_BAD_FUNC_CFG;
    if (!lay_out(o, src, cfg, dst))
        return MLI_STATUS_NOT_ENGH_MEM;
    return MLI_STATUS_OK;
}

static mli_status judge_memory(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                               const mli_tensor *dst)
{
    if (o->src_bytes > src->data.capacity || o->dst_bytes > dst->data.capacity)
        return MLI_STATUS_NOT_ENGH_MEM;
    if (oracle_dst_overlaps_itself(o, src, cfg))
        return MLI_STATUS_INCOMPATEBLE_TENSORS;
    if (oracle_src_overlaps_dst(o, src, cfg, dst))
        return MLI_STATUS_INCOMPATEBLE_TENSORS;
    return MLI_STATUS_OK;
}

static mli_status judge_layout(const struct oracle *o, const mli_tensor *src,
                               const mli_mov_cfg_t *cfg)
{
    if (o->dst_bytes > UINT32_MAX)
        return MLI_STATUS_NOT_ENGH_MEM;
    if (o->dst_bytes > ORACLE_MAX_EXTENT || o->src_bytes > UINT32_MAX)
        return MLI_STATUS_LARGE_ENUM;
    if (oracle_dst_overlaps_itself(o, src, cfg))
        return MLI_STATUS_INCOMPATEBLE_TENSORS;
    return oracle_axis_beyond_rank(src) ? MLI_STATUS_SPEC_PARAM_MISMATCH : MLI_STATUS_OK;
}

void oracle_judge(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                  const mli_tensor *dst)
{
    *o = (struct oracle){.axis = -1};
    o->status = o->layout_status = judge_values(o, src, cfg, dst);
    if (src && dst && (!src->data.mem.pi8 || !dst->data.mem.pi8))
        o->status = MLI_STATUS_BAD_TENSOR; /* checked before all checks that need the cfg */
    if (o->layout_status != MLI_STATUS_OK)
        return;
    o->layout_status = judge_layout(o, src, cfg);
    if (o->status == MLI_STATUS_OK)
        o->status = judge_memory(o, src, cfg, dst);
    if (o->status == MLI_STATUS_OK)
        o->status = oracle_judge_quant(o, src, cfg, dst);
}

mli_mov_cfg_t oracle_permute_cfg(const uint8_t *perm_dim)
{
    mli_mov_cfg_t cfg = {.sub_sample_step = {1, 1, 1, 1}};

    memcpy(cfg.perm_dim, perm_dim, sizeof(cfg.perm_dim));
    return cfg;
}

void oracle_judge_permute(struct oracle *o, const mli_tensor *in, const mli_permute_cfg *cfg,
                          const mli_tensor *out, mli_element_type type)
{
    mli_mov_cfg_t move;

    *o = (struct oracle){.axis = -1, .status = MLI_STATUS_BAD_TENSOR};
    if (!in || !out || !in->data.mem.pi8 || !out->data.mem.pi8 || bad_tensor(in) || bad_tensor(out))
        return;
    o->status = MLI_STATUS_NOT_SUPPORTED;
    if (in->el_type == MLI_EL_FX_4 || out->el_type == MLI_EL_FX_4)
        return;
    o->status = MLI_STATUS_TYPE_MISMATCH;
    if (in->el_type != type || out->el_type != type)
        return;
    o->status = MLI_STATUS_SHAPE_MISMATCH;
    if (in->rank != out->rank)
        return;
    o->status = MLI_STATUS_BAD_FUNC_CFG;
    if (!cfg || bad_perm(cfg->perm_dim, in->rank))
        return;
    o->status = MLI_STATUS_SHAPE_MISMATCH;
    for (uint32_t i = 0; i < in->rank; i++) {
        if (out->shape[i] != in->shape[cfg->perm_dim[i]])
            return;
    }
    move = oracle_permute_cfg(cfg->perm_dim);
    oracle_judge(o, in, &move, out);
}
