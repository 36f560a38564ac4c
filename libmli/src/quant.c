/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/quant.h"

#include <stddef.h>

#include "libmli/src/builtins.h"
#include "libmli/src/error.h"

/* One parameter array of any element type. */
struct array {
    const uint8_t *bytes;
    uint64_t capacity;
    uint32_t entry; /* bytes of one entry */
};

enum { ARRAYS = 3 };

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

static void arrays_of(const mli_element_params *params, struct array array[ARRAYS])
{
    const mli_data_container *zero = &params->sa.zero_point, *scale = &params->sa.scale,
                             *bits = &params->sa.scale_frac_bits;

    array[0] = (struct array){(const uint8_t *)zero->mem.pi16, zero->capacity, 2};
    array[1] = (struct array){(const uint8_t *)scale->mem.pi16, scale->capacity, 2};
    array[2] = (struct array){(const uint8_t *)bits->mem.pi8, bits->capacity, 1};
}

mli_status quant_check_arrays(const mli_element_params *params, uint64_t entries, const char *who)
{
    struct array array[ARRAYS];

    arrays_of(params, array);
    for (int i = 0; i < ARRAYS; i++) {
        const uint64_t needed = entries * array[i].entry;

        if (!array[i].bytes)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].missing, entries);
        if (array[i].capacity < needed)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].too_small,
                          array[i].capacity, needed);
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

static bool apart(const uint8_t *a, uint64_t a_size, const uint8_t *b, uint64_t b_size)
{
    return (uintptr_t)a + a_size <= (uintptr_t)b || (uintptr_t)b + b_size <= (uintptr_t)a;
}

mli_status quant_check_apart(const mli_element_params *params, uint64_t entries,
                             const uint8_t *bytes, uint64_t size, const char *who)
{
    struct array array[ARRAYS];

    arrays_of(params, array);
    for (int i = 0; i < ARRAYS; i++) {
        if (!apart(array[i].bytes, entries * array[i].entry, bytes, size))
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who, complaint[i].overlaps);
    }
    return MLI_STATUS_OK;
}

/* Checks that the move writes no byte of the source's arrays: it reads them, or dst shares them. */
static mli_status check_src_apart(const struct geometry *g, uint64_t entries, const mli_tensor *src,
                                  const mli_tensor *dst)
{
    struct array theirs[ARRAYS];

    arrays_of(&src->el_params, theirs);
    for (int i = 0; i < ARRAYS; i++) {
        if (geometry_writes(g, dst, theirs[i].bytes, entries * theirs[i].entry))
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, g->src_name, complaint[i].overlaps);
    }
    return MLI_STATUS_OK;
}

/* Checks that dst's arrays overlap no other memory that was given to the call. */
static mli_status check_own_apart(const struct geometry *g, const struct axis *axis,
                                  const mli_tensor *src, const mli_tensor *dst)
{
    const uint64_t entries = axis->dst_offset + axis->count;
    const uint64_t src_entries = src->shape[src->el_params.sa.dim];
    struct array own[ARRAYS], theirs[ARRAYS];

    arrays_of(&dst->el_params, own);
    arrays_of(&src->el_params, theirs);
    for (int i = 0; i < ARRAYS; i++) {
        const uint64_t size = entries * own[i].entry;
        bool alone = !geometry_writes(g, dst, own[i].bytes, size) &&
                     !geometry_reads(g, src, own[i].bytes, size);

        for (int j = 0; j < ARRAYS; j++) {
            alone =
                alone && apart(own[i].bytes, size, theirs[j].bytes, src_entries * theirs[j].entry);
            if (j > i)
                alone = alone && apart(own[i].bytes, size, own[j].bytes, entries * own[j].entry);
        }
        if (!alone)
            return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, g->dst_name, complaint[i].overlaps);
    }
    return MLI_STATUS_OK;
}

/* Checks that every parameter keeps its index, as sharing requires. */
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
    struct array own[ARRAYS], theirs[ARRAYS];
    int null = 0, same = 0;
    uint64_t entries;
    mli_status status;

    status = quant_check_dim(src, g->src_name);
    if (status != MLI_STATUS_OK)
        return status;
    move->axis = g->axis[src->el_params.sa.dim];
    entries = src->shape[src->el_params.sa.dim];
    status = quant_check_arrays(&src->el_params, entries, g->src_name);
    if (status == MLI_STATUS_OK)
        status = check_src_apart(g, entries, src, dst);
    if (status != MLI_STATUS_OK)
        return status;

    arrays_of(to, own);
    arrays_of(&src->el_params, theirs);
    for (int i = 0; i < ARRAYS; i++) {
        null += own[i].bytes == NULL;
        same += own[i].bytes == theirs[i].bytes;
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
        if (status == MLI_STATUS_OK)
            status = check_own_apart(g, &move->axis, src, dst);
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
