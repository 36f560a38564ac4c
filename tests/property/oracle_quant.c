/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/property/oracle_quant.h"

#include "tests/property/oracle_overlap.h"

/* The three arrays of a tensor as ranges of bytes. */
struct arrays {
    uintptr_t at[3];
    uint64_t capacity[3];
};

static const uint64_t entry_size[3] = {sizeof(int16_t), sizeof(int16_t), sizeof(int8_t)};

static struct arrays arrays_of(const mli_tensor *t)
{
    const mli_data_container *zp = &t->el_params.sa.zero_point;
    const mli_data_container *scale = &t->el_params.sa.scale;
    const mli_data_container *frac = &t->el_params.sa.scale_frac_bits;

    return (struct arrays){
        {(uintptr_t)zp->mem.pi16, (uintptr_t)scale->mem.pi16, (uintptr_t)frac->mem.pi8},
        {zp->capacity, scale->capacity, frac->capacity},
    };
}

static bool is_per_axis(const mli_tensor *t)
{
    return (t->el_type == MLI_EL_SA_8 || t->el_type == MLI_EL_SA_32) && t->el_params.sa.dim >= 0;
}

bool oracle_axis_beyond_rank(const mli_tensor *src)
{
    return is_per_axis(src) && (uint32_t)src->el_params.sa.dim >= src->rank;
}

static bool null_or_short(const struct arrays *a, uint64_t entries)
{
    for (int k = 0; k < 3; k++) {
        if (!a->at[k] || a->capacity[k] < entries * entry_size[k])
            return true;
    }
    return false;
}

static bool meets(const struct arrays *a, int i, uint64_t na, const struct arrays *b, int k,
                  uint64_t nb)
{
    return a->at[i] < b->at[k] + nb * entry_size[k] && b->at[k] < a->at[i] + na * entry_size[i];
}

static bool own_arrays_overlap(const struct arrays *own, uint64_t n, const struct arrays *src,
                               uint64_t src_n)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            if (meets(own, i, n, src, k, src_n) || (i != k && meets(own, i, n, own, k, n)))
                return true;
        }
    }
    return false;
}

/* The arrays of both tensors, and whether the move accesses a byte that it must not access. */
struct touch {
    struct arrays src, own;
    uint64_t src_entries, own_entries; /* own_entries 0: dst shares the source's arrays */
    uintptr_t read, written;           /* first elements of source and destination */
    uint64_t esize;
    bool met;
};

static bool inside(const struct arrays *a, uint64_t entries, uintptr_t at, uint64_t size)
{
    for (int i = 0; entries > 0 && i < 3; i++) {
        if (at < a->at[i] + entries * entry_size[i] && a->at[i] < at + size)
            return true;
    }
    return false;
}

static void touch_element(void *context, int64_t from, uint64_t to)
{
    struct touch *t = context;
    const uintptr_t written = t->written + to * t->esize;

    t->met = t->met || inside(&t->src, t->src_entries, written, t->esize) ||
             inside(&t->own, t->own_entries, written, t->esize) ||
             (from >= 0 &&
              inside(&t->own, t->own_entries, t->read + (uint64_t)from * t->esize, t->esize));
}

/* Returns whether the move writes a byte of any parameter array, or reads a byte of dst's own
 * arrays. */
static bool data_meets_arrays(const struct oracle *o, const mli_tensor *src,
                              const mli_mov_cfg_t *cfg, const mli_tensor *dst, bool own)
{
    struct touch t = {.src = arrays_of(src),
                      .own = arrays_of(dst),
                      .src_entries = src->shape[src->el_params.sa.dim],
                      .own_entries = own ? o->shape[o->axis] : 0,
                      .read = (uintptr_t)src->data.mem.pi8,
                      .written = (uintptr_t)dst->data.mem.pi8,
                      .esize = o->esize};

    oracle_each(o, src, cfg, touch_element, &t);
    return t.met;
}

/*
 * Returns whether the cfg pads, crops, subsamples or places the axis, even if the result is the
 * same without this.
 */
static bool axis_changes(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         uint32_t d)
{
    return cfg->padding_pre[d] || cfg->padding_post[d] || cfg->offset[d] ||
           o->n[d] != src->shape[d] || cfg->sub_sample_step[d] != 1 || cfg->dst_offset[o->axis];
}

mli_status oracle_judge_quant(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                              const mli_tensor *dst)
{
    struct arrays from = arrays_of(src), to = arrays_of(dst);
    uint32_t d = (uint32_t)src->el_params.sa.dim;
    int nulls = 0, same = 0;

    if (!is_per_axis(src))
        return MLI_STATUS_OK;
    if (d >= src->rank || null_or_short(&from, src->shape[d]))
        return MLI_STATUS_SPEC_PARAM_MISMATCH;
    for (uint32_t i = 0; i < o->rank; i++) {
        if (cfg->perm_dim[i] == d)
            o->axis = (int32_t)i;
    }
    for (int k = 0; k < 3; k++) {
        nulls += to.at[k] == 0;
        same += to.at[k] == from.at[k];
    }
    if (nulls == 3 || same == 3)
        return axis_changes(o, src, cfg, d) || data_meets_arrays(o, src, cfg, dst, false)
                   ? MLI_STATUS_SPEC_PARAM_MISMATCH
                   : MLI_STATUS_OK;
    if (nulls || same || null_or_short(&to, o->shape[o->axis]) ||
        own_arrays_overlap(&to, o->shape[o->axis], &from, src->shape[d]) ||
        data_meets_arrays(o, src, cfg, dst, true))
        return MLI_STATUS_SPEC_PARAM_MISMATCH;
    o->copies_params = true;
    return MLI_STATUS_OK;
}
