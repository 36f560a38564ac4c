/* SPDX-License-Identifier: BSD-3-Clause */
/* mli_hlp_subtensor and mli_hlp_point_to_subtensor: views of a part of a tensor. */
#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "libmli/src/quant.h"
#include "libmli/src/tensor.h"
#include "mli_helpers_api.h"

static mli_status check_cfg(const mli_tensor *in, const mli_sub_tensor_cfg *cfg)
{
    uint32_t removable = 0;

    if (!cfg)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
    for (uint32_t d = 0; d < in->rank; d++) {
        if (cfg->size[d] == 0)
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".size[%]: 0 given; must be at least 1",
                          d);
        if ((uint64_t)cfg->offset[d] + cfg->size[d] > in->shape[d])
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".size[%]: offset % + size % given; must be at most the shape, %", d,
                          cfg->offset[d], cfg->size[d], in->shape[d]);
        removable += cfg->size[d] == 1;
    }
    const uint32_t least = removable < in->rank ? in->rank - removable : 1;
    if (cfg->sub_tensor_rank < least || cfg->sub_tensor_rank > in->rank)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                      ".sub_tensor_rank: % given; must be % to %: only dimensions of size 1 can be "
                      "removed (here: %)",
                      cfg->sub_tensor_rank, least, in->rank, removable);
    return MLI_STATUS_OK;
}

/*
 * Sets *start to the number of bytes from the first element of `in` to the first element of the
 * part, and checks the part against the capacity.
 */
static mli_status find_start(const mli_tensor *in, const mli_sub_tensor_cfg *cfg,
                             const int32_t *stride, uint64_t *start)
{
    const uint32_t elem = element_bytes(in->el_type);
    uint64_t first = 0, end = 0;
    bool fits = true;

    for (uint32_t d = 0; d < in->rank; d++) {
        fits =
            fits && checked_mul_add(cfg->offset[d], (uint64_t)stride[d], &first) &&
            checked_mul_add((uint64_t)cfg->offset[d] + cfg->size[d] - 1, (uint64_t)stride[d], &end);
    }
    if (!fits || !checked_add(end, 1, &end) || !checked_mul(end, elem, &end))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, "in", ".mem_stride: an element's address overflows");
    if (!tensor_has(in, end))
        return tensor_refuse_end("in", in->data.capacity, end);
    *start = first * elem;
    return MLI_STATUS_OK;
}

static mli_status check_axis(const mli_tensor *in)
{
    const mli_status status = quant_check_dim(in, "in");

    if (status != MLI_STATUS_OK || !tensor_is_per_axis(in))
        return status;
    return quant_check_arrays(&in->el_params, in->shape[in->el_params.sa.dim], "in");
}

/* Makes the per-axis arrays begin `offset` entries later. */
static void advance_params(mli_element_params *params, uint32_t offset)
{
    params->sa.zero_point.mem.pi16 += offset;
    params->sa.zero_point.capacity -= offset * (uint32_t)sizeof(int16_t);
    params->sa.scale.mem.pi16 += offset;
    params->sa.scale.capacity -= offset * (uint32_t)sizeof(int16_t);
    params->sa.scale_frac_bits.mem.pi8 += offset;
    params->sa.scale_frac_bits.capacity -= offset;
}

/* Replaces per-axis parameters by the values of the one index that is kept: the axis is removed. */
static void make_per_tensor(mli_element_params *params)
{
    const int16_t zero_point = params->sa.zero_point.mem.pi16[0];
    const int16_t scale = params->sa.scale.mem.pi16[0];
    const int8_t scale_frac_bits = params->sa.scale_frac_bits.mem.pi8[0];

    params->sa.zero_point = (mli_data_container){.mem.i16 = zero_point};
    params->sa.scale = (mli_data_container){.mem.i16 = scale};
    params->sa.scale_frac_bits = (mli_data_container){.mem.i8 = scale_frac_bits};
    params->sa.dim = -1;
}

/* Fills shape, strides and the quantised axis without `surplus` dimensions of size 1. */
static void set_dimensions(mli_tensor *part, const mli_sub_tensor_cfg *cfg, const int32_t *stride,
                           uint32_t in_rank)
{
    const int32_t axis = tensor_is_per_axis(part) ? part->el_params.sa.dim : -1;
    uint32_t surplus = in_rank - cfg->sub_tensor_rank;
    uint32_t rank = 0;

    for (uint32_t d = 0; d < in_rank; d++) {
        const bool removed = surplus > 0 && cfg->size[d] == 1;

        if ((int32_t)d == axis && removed)
            make_per_tensor(&part->el_params);
        else if ((int32_t)d == axis)
            part->el_params.sa.dim = (int32_t)rank;
        surplus -= removed;
        if (removed)
            continue;
        part->shape[rank] = cfg->size[d];
        part->mem_stride[rank++] = stride[d];
    }
    part->rank = rank;
    for (uint32_t d = rank; d < MLI_MAX_RANK; d++) {
        part->shape[d] = 1;
        part->mem_stride[d] = 0;
    }
}

static mli_status check_tensors(const mli_tensor *in, const mli_tensor *out)
{
    mli_status status = tensor_check(in, "in");

    if (status == MLI_STATUS_OK)
        status = tensor_check_data(in, "in");
    if (status == MLI_STATUS_OK && !out)
        status = refuse(MLI_STATUS_BAD_TENSOR, "out", ": null given; a tensor is required");
    return status;
}

mli_status mli_hlp_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg, mli_tensor *out)
{
    /* The strides of `in`, computed where mem_stride has 0. */
    int32_t stride[MLI_MAX_RANK];
    uint64_t start = 0;
    mli_tensor part;
    mli_status status = check_tensors(in, out);

    if (status == MLI_STATUS_OK)
        status = check_cfg(in, cfg);
    if (status == MLI_STATUS_OK)
        status = strides_of("in", in->rank, in->shape, in->mem_stride, stride);
    if (status == MLI_STATUS_OK)
        status = find_start(in, cfg, stride, &start);
    if (status == MLI_STATUS_OK)
        status = check_axis(in);
    if (status != MLI_STATUS_OK)
        return status;

    part = *in; /* `out` may be `in` */
    part.data.mem.pi8 += start;
    part.data.capacity -= (uint32_t)start;
    if (tensor_is_per_axis(in))
        advance_params(&part.el_params, cfg->offset[in->el_params.sa.dim]);
    set_dimensions(&part, cfg, stride, in->rank);
    *out = part;
    return MLI_STATUS_OK;
}

/* Returns the number of bytes from a view's first element to the end of its last element. */
static uint32_t bytes_reached(const mli_tensor *view)
{
    uint64_t last = 0;

    for (uint32_t d = 0; d < view->rank; d++)
        last += (uint64_t)(view->shape[d] - 1) * (uint32_t)view->mem_stride[d];
    return (uint32_t)((last + 1) * element_bytes(view->el_type));
}

/* Writes the equivalent configuration of mli_hlp_subtensor() into *part. */
static void translate(const mli_tensor *in, const mli_point_to_subtsr_cfg *cfg,
                      mli_sub_tensor_cfg *part)
{
    const uint32_t last = cfg->coord_num - 1u;

    for (uint32_t d = 0; d < in->rank; d++) {
        part->offset[d] = d <= last ? cfg->start_coord[d] : 0;
        part->size[d] = d < last ? 1 : in->shape[d];
    }
    part->size[last] = cfg->first_out_dim_size;
    part->sub_tensor_rank = in->rank - last;
}

static mli_status check_point_cfg(const mli_tensor *in, const mli_point_to_subtsr_cfg *cfg)
{
    uint32_t last;

    if (!cfg)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ": null given; a configuration is required");
    if (cfg->coord_num < 1 || cfg->coord_num > in->rank)
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg", ".coord_num: % given; must be 1 to %",
                      cfg->coord_num, in->rank);
    for (uint32_t d = 0; d < cfg->coord_num; d++) {
        if (cfg->start_coord[d] >= in->shape[d])
            return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                          ".start_coord[%]: % given; must be below %", d, cfg->start_coord[d],
                          in->shape[d]);
    }
    last = cfg->coord_num - 1u;
    if (cfg->first_out_dim_size < 1 ||
        cfg->first_out_dim_size > in->shape[last] - cfg->start_coord[last])
        return refuse(MLI_STATUS_BAD_FUNC_CFG, "cfg",
                      ".first_out_dim_size: % given; must be 1 to %", cfg->first_out_dim_size,
                      in->shape[last] - cfg->start_coord[last]);
    return MLI_STATUS_OK;
}

mli_status mli_hlp_point_to_subtensor(const mli_tensor *in, const mli_point_to_subtsr_cfg *cfg,
                                      mli_tensor *out)
{
    mli_sub_tensor_cfg part;
    mli_status status = check_tensors(in, out);

    if (status == MLI_STATUS_OK)
        status = check_point_cfg(in, cfg);
    if (status != MLI_STATUS_OK)
        return status;
    translate(in, cfg, &part);
    status = mli_hlp_subtensor(in, &part, out);
    if (status == MLI_STATUS_OK)
        out->data.capacity = bytes_reached(out);
    return status;
}

mli_status mli_hlp_create_subtensor(const mli_tensor *in, const mli_sub_tensor_cfg *cfg,
                                    mli_tensor *out)
{
    return mli_hlp_subtensor(in, cfg, out);
}
