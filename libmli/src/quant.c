/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/quant.h"

#include <stddef.h>

#include "libmli/src/builtins.h"
#include "libmli/src/error.h"

enum { ARRAYS = 3 };

/* Bytes of an entry of each array: zero_point, scale, scale_frac_bits. */
static const uint8_t entry_bytes[ARRAYS] = {2, 2, 1};

/* The messages about each array. */
static const struct {
    const char *missing, *too_small, *overlaps;
} complaint[ARRAYS] = {
#define COMPLAINTS(name)                                                                           \
    {                                                                                              \
        ".el_params.sa." name ".mem: null given; an array of % entries is required",               \
            ".el_params.sa." name ".capacity: % B given; % B are needed",                          \
            ".el_params.sa." name ".mem: the array overlaps other memory given to the call"        \
    }
    COMPLAINTS("zero_point"),
    COMPLAINTS("scale"),
    COMPLAINTS("scale_frac_bits"),
#undef COMPLAINTS
};

static const mli_data_container *array_of(const mli_element_params *params, int i)
{
    return i == 0   ? &params->sa.zero_point
           : i == 1 ? &params->sa.scale
                    : &params->sa.scale_frac_bits;
}

mli_status quant_check_arrays(const mli_element_params *params, uint64_t entries, const char *who)
{
    for (int i = 0; i < ARRAYS; i++) {
        const mli_data_container *array = array_of(params, i);
        const uint64_t needed = entries * entry_bytes[i];

        if (!array->mem.pi8)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].missing, entries);
        if (array->capacity < needed)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].too_small,
                          array->capacity, needed);
        if (!fits_address_space(array->mem.pi8, needed))
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who,
                          ".el_params.sa: % B at address % end beyond the address space", needed,
                          (uintptr_t)array->mem.pi8);
    }
    return MLI_STATUS_OK;
}

mli_status quant_check_dim(const mli_tensor *tensor, const char *who)
{
    if (tensor_is_per_axis(tensor) && (uint32_t)tensor->el_params.sa.dim >= tensor->rank)
        return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who,
                      ".el_params.sa.dim: % given; must be below %", tensor->el_params.sa.dim,
                      tensor->rank);
    return MLI_STATUS_OK;
}

static bool apart(const void *a, uint64_t a_size, const void *b, uint64_t b_size)
{
    return (uintptr_t)a + a_size <= (uintptr_t)b || (uintptr_t)b + b_size <= (uintptr_t)a;
}

mli_status quant_check_apart(const mli_element_params *params, uint64_t entries,
                             const uint8_t *bytes, uint64_t size, const char *who)
{
    for (int i = 0; i < ARRAYS; i++) {
        if (!apart(array_of(params, i)->mem.pi8, entries * entry_bytes[i], bytes, size))
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].overlaps);
    }
    return MLI_STATUS_OK;
}

mli_status quant_check_overlap(const struct quant_move *move, const struct geometry *g,
                               const mli_tensor *src, const mli_tensor *dst)
{
    const uint32_t entries[] = {src->shape[src->el_params.sa.dim],
                                (uint32_t)(move->axis.dst_offset + move->axis.count)};

    /* The arrays of the source, then those of dst: each is compared with those before it. */
    for (int i = 0; i < (move->fill ? 2 * ARRAYS : ARRAYS); i++) {
        const bool own = i >= ARRAYS;
        const uint64_t size = (uint64_t)entries[own] * entry_bytes[i % ARRAYS];
        const void *at = array_of(&(own ? dst : src)->el_params, i % ARRAYS)->mem.pi8;
        bool overlaps = !g->unplaced && (geometry_accesses(g, dst, true, at, size) ||
                                         (own && geometry_accesses(g, src, false, at, size)));

        for (int j = 0; own && j < i; j++)
            overlaps = overlaps ||
                       !apart(at, size,
                              array_of(&(j >= ARRAYS ? dst : src)->el_params, j % ARRAYS)->mem.pi8,
                              (uint64_t)entries[j >= ARRAYS] * entry_bytes[j % ARRAYS]);
        if (overlaps)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, own ? g->dst_name : g->src_name,
                          complaint[i % ARRAYS].overlaps);
    }
    return MLI_STATUS_OK;
}

/* Checks that dst can share the source's parameter arrays: every parameter must keep its index. */
static mli_status check_sharing(const struct geometry *g, int32_t d, const mli_tensor *src,
                                const mli_mov_cfg_t *cfg)
{
    const struct axis *axis = &g->axis[d];

    if (cfg->padding_pre[d] || cfg->padding_post[d] || cfg->offset[d] || axis->step != 1 ||
        axis->count != src->shape[d] || axis->dst_offset)
        return refuse(
            MLI_STATUS_SPEC_PARAM_MISMATCH, g->dst_name,
            ".el_params.sa: arrays cannot be shared, because the move changes axis %; give "
            "memory for % entries",
            d, axis->dst_offset + axis->count);
    return MLI_STATUS_OK;
}

mli_status quant_plan_per_axis(struct quant_move *move, const struct geometry *g,
                               const mli_tensor *src, const mli_mov_cfg_t *cfg,
                               const mli_tensor *dst)
{
    const mli_element_params *to = &dst->el_params;
    int null = 0, same = 0;
    mli_status status;

    status = quant_check_dim(src, g->src_name);
    if (status != MLI_STATUS_OK)
        return status;
    move->axis = g->axis[src->el_params.sa.dim];
    status = quant_check_arrays(&src->el_params, src->shape[src->el_params.sa.dim], g->src_name);
    if (status != MLI_STATUS_OK)
        return status;

    for (int i = 0; i < ARRAYS; i++) {
        const int8_t *own = array_of(to, i)->mem.pi8;

        null += own == NULL;
        same += own == array_of(&src->el_params, i)->mem.pi8;
    }
    if ((null || same) && null != ARRAYS && same != ARRAYS)
        return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, g->dst_name,
                      ".el_params.sa: % of 3 arrays are null and % are the source's own; all three "
                      "must be of one kind",
                      null, same);
    move->fill = !null && !same;
    if (!move->fill) {
        status = check_sharing(g, src->el_params.sa.dim, src, cfg);
    } else {
        status = quant_check_arrays(to, move->axis.dst_offset + move->axis.count, g->dst_name);
        move->params.sa.zero_point = to->sa.zero_point;
        move->params.sa.scale = to->sa.scale;
        move->params.sa.scale_frac_bits = to->sa.scale_frac_bits;
    }
    move->params.sa.dim = (int32_t)move->axis.dst_dim;
    move->zero_point = src->el_params.sa.zero_point.mem.pi16;
    move->scale = src->el_params.sa.scale.mem.pi16;
    move->scale_frac_bits = src->el_params.sa.scale_frac_bits.mem.pi8;
    return status;
}

void quant_fill(const struct quant_move *move)
{
    const struct axis *axis = &move->axis;

    for (uint64_t k = 0; k < axis->count; k++) {
        const bool real = k >= axis->lo && k < axis->hi;
        const uint64_t from = axis->first + (k - axis->lo) * axis->step;
        const uint64_t to = axis->dst_offset + k;

        move->params.sa.zero_point.mem.pi16[to] = real ? move->zero_point[from] : 0;
        move->params.sa.scale.mem.pi16[to] = real ? move->scale[from] : 1;
        move->params.sa.scale_frac_bits.mem.pi8[to] = real ? move->scale_frac_bits[from] : 0;
    }
}
