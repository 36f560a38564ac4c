/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views of a part of a tensor (mli_hlp_subtensor and mli_hlp_point_to_subtensor): any fields are
 * refused without a change, or every element of the view is at the address of the element of the
 * tensor that the definition names. Arrays of per-axis parameters are of exactly the needed size.
 */
#include "mli_api.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/property/move_oracle.h"

enum { AXIS_MAX = 4096 };

static int8_t memory[16];
static int16_t *zero_points, *scales;
static int8_t *frac_bits;

static void read_axis(mli_tensor *in, struct fuzz_reader *reader)
{
    const int32_t dim = (int32_t)fuzz_below(reader, 6) - 1;
    const uint32_t entries =
        dim >= 0 && dim < (int32_t)in->rank && dim < MLI_MAX_RANK && in->shape[dim] <= AXIS_MAX
            ? in->shape[dim]
            : 0;

    in->el_params.sa.type = MLI_EL_PARAM_SC16_ZP16;
    in->el_params.sa.dim = dim;
    zero_points = calloc(entries + 1, sizeof *zero_points);
    scales = calloc(entries + 1, sizeof *scales);
    frac_bits = calloc(entries + 1, 1);
    FUZZ_ASSERT(zero_points && scales && frac_bits);
    for (uint32_t i = 0; i < entries; i++) {
        zero_points[i] = (int16_t)i;
        scales[i] = (int16_t)(2 * i);
        frac_bits[i] = (int8_t)i;
    }
    if (dim < 0)
        return;
    in->el_params.sa.zero_point = (mli_data_container){entries * 2, {.pi16 = zero_points}};
    in->el_params.sa.scale = (mli_data_container){entries * 2, {.pi16 = scales}};
    in->el_params.sa.scale_frac_bits = (mli_data_container){entries, {.pi8 = frac_bits}};
}

static void read_tensor(mli_tensor *in, struct fuzz_reader *reader)
{
    static const mli_element_type types[] = {MLI_EL_FX_8,  MLI_EL_SA_8,  MLI_EL_SA_32,
                                             MLI_EL_FX_16, MLI_EL_FP_32, MLI_EL_FX_4};

    memset(in, 0, sizeof *in);
    in->el_type = types[fuzz_below(reader, sizeof types / sizeof types[0])];
    in->rank = fuzz_rarely(reader) ? fuzz_u8(reader) : 1 + fuzz_below(reader, MLI_MAX_RANK);
    for (int d = 0; d < MLI_MAX_RANK; d++) {
        in->shape[d] = (uint32_t)fuzz_number(reader);
        in->mem_stride[d] = fuzz_rarely(reader) ? (int32_t)fuzz_number(reader) : 0;
    }
    in->data.mem.pi8 = fuzz_rarely(reader) ? NULL : memory; /* making a view reads no element */
    in->data.capacity = fuzz_rarely(reader) ? (uint32_t)fuzz_number(reader) : UINT32_MAX;
    if (in->el_type == MLI_EL_SA_8 || in->el_type == MLI_EL_SA_32)
        read_axis(in, reader);
}

static uint64_t stride_of(const mli_tensor *tensor, uint32_t d)
{
    uint64_t stride = 1;

    for (uint32_t k = tensor->rank; k-- > d;) {
        if (tensor->mem_stride[k] != 0)
            stride = (uint64_t)tensor->mem_stride[k];
        else if (k + 1 < tensor->rank)
            stride *= tensor->shape[k + 1];
        else
            stride = 1;
    }
    return stride;
}

/* Requires that each index has the same per-axis parameters in the view as in the tensor. */
static void check_axis(const mli_tensor *in, const mli_sub_tensor_cfg *cfg, const mli_tensor *out,
                       const uint32_t *kept)
{
    const int32_t dim = in->el_params.sa.dim, now = out->el_params.sa.dim;

    if ((in->el_type != MLI_EL_SA_8 && in->el_type != MLI_EL_SA_32) || dim < 0)
        return;
    if (now < 0) {
        FUZZ_ASSERT(cfg->size[dim] == 1);
        FUZZ_ASSERT(out->el_params.sa.zero_point.mem.i16 == zero_points[cfg->offset[dim]]);
        FUZZ_ASSERT(out->el_params.sa.scale.mem.i16 == scales[cfg->offset[dim]]);
        return;
    }
    FUZZ_ASSERT(kept[now] == (uint32_t)dim);
    for (uint32_t i = 0; i < out->shape[now]; i++) {
        FUZZ_ASSERT(out->el_params.sa.zero_point.mem.pi16[i] == zero_points[cfg->offset[dim] + i]);
        FUZZ_ASSERT(out->el_params.sa.scale.mem.pi16[i] == scales[cfg->offset[dim] + i]);
        FUZZ_ASSERT(out->el_params.sa.scale_frac_bits.mem.pi8[i] ==
                    frac_bits[cfg->offset[dim] + i]);
    }
    FUZZ_ASSERT(out->el_params.sa.scale_frac_bits.capacity >= out->shape[now]);
}

/* Compares the view with the definition: to reach the rank of the view, the first dimensions of
 * size 1 are removed. */
static void check_view(const mli_tensor *in, const mli_sub_tensor_cfg *cfg, const mli_tensor *out)
{
    const uint32_t esize = oracle_element_size(in->el_type);
    uint32_t kept[MLI_MAX_RANK], rank = 0, surplus = in->rank - cfg->sub_tensor_rank;
    uint64_t first = 0, last = 0;

    FUZZ_ASSERT(out->rank == cfg->sub_tensor_rank && out->el_type == in->el_type);
    for (uint32_t d = 0; d < in->rank; d++) {
        const bool removed = surplus > 0 && cfg->size[d] == 1;

        FUZZ_ASSERT((uint64_t)cfg->offset[d] + cfg->size[d] <= in->shape[d] && cfg->size[d] > 0);
        first += cfg->offset[d] * stride_of(in, d);
        last += (cfg->size[d] - 1) * stride_of(in, d);
        surplus -= removed;
        if (!removed)
            kept[rank++] = d;
    }
    FUZZ_ASSERT(rank == out->rank && (first + last + 1) * esize <= in->data.capacity);
    for (uint32_t i = 0; i < rank; i++) {
        FUZZ_ASSERT(out->shape[i] == cfg->size[kept[i]]);
        /* A dimension of extent 1 needs no stride: it has 0 if its stride does not fit. */
        FUZZ_ASSERT((uint64_t)out->mem_stride[i] ==
                    (stride_of(in, kept[i]) > INT32_MAX ? 0 : stride_of(in, kept[i])));
    }
    FUZZ_ASSERT((uintptr_t)out->data.mem.pi8 == (uintptr_t)in->data.mem.pi8 + first * esize);
    FUZZ_ASSERT(out->data.capacity <= in->data.capacity - first * esize);
    FUZZ_ASSERT(out->data.capacity >= (last + 1) * esize);
    check_axis(in, cfg, out, kept);
}

/* Returns the configuration with which mli_hlp_subtensor() makes this view. */
static mli_sub_tensor_cfg same_part(const mli_tensor *in, const mli_point_to_subtsr_cfg *point)
{
    mli_sub_tensor_cfg cfg = {.sub_tensor_rank = in->rank - point->coord_num + 1u};

    for (uint32_t d = 0; d < in->rank; d++) {
        const bool given = d < point->coord_num;

        cfg.offset[d] = given ? point->start_coord[d] : 0;
        cfg.size[d] = d + 1u < point->coord_num    ? 1
                      : d + 1u == point->coord_num ? point->first_out_dim_size
                                                   : in->shape[d];
    }
    return cfg;
}

static void check_point(const mli_tensor *in, struct fuzz_reader *reader)
{
    mli_point_to_subtsr_cfg point = {.coord_num = fuzz_u8(reader) & 7,
                                     .first_out_dim_size = fuzz_u8(reader)};
    mli_tensor out, before;
    mli_sub_tensor_cfg cfg;

    for (int d = 0; d < MLI_MAX_RANK; d++)
        point.start_coord[d] = (uint32_t)fuzz_number(reader);
    memset(&before, 0x5a, sizeof before);
    memcpy(&out, &before, sizeof out);
    if (mli_hlp_point_to_subtensor(in, &point, &out) != MLI_STATUS_OK) {
        FUZZ_ASSERT(memcmp(&out, &before, sizeof out) == 0);
        return;
    }
    cfg = same_part(in, &point);
    check_view(in, &cfg, &out);
}

static void check_part(const mli_tensor *in, struct fuzz_reader *reader)
{
    mli_sub_tensor_cfg cfg = {.sub_tensor_rank = fuzz_u8(reader) % 6};
    mli_tensor out, before;

    for (int d = 0; d < MLI_MAX_RANK; d++) {
        cfg.offset[d] = (uint32_t)fuzz_number(reader);
        cfg.size[d] =
            fuzz_rarely(reader) ? (uint32_t)fuzz_number(reader) : in->shape[d] - cfg.offset[d];
    }
    memset(&before, 0x5a, sizeof before);
    memcpy(&out, &before, sizeof out);
    if (mli_hlp_subtensor(in, &cfg, &out) != MLI_STATUS_OK)
        FUZZ_ASSERT(memcmp(&out, &before, sizeof out) == 0);
    else
        check_view(in, &cfg, &out);
    memcpy(&out, in, sizeof out);
    if (mli_hlp_subtensor(&out, &cfg, &out) == MLI_STATUS_OK) /* in place */
        check_view(in, &cfg, &out);
    else
        FUZZ_ASSERT(memcmp(&out, in, sizeof out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    mli_tensor in;

    zero_points = scales = NULL;
    frac_bits = NULL;
    if (fuzz_u8(&reader) & 1) {
        read_tensor(&in, &reader);
        check_point(&in, &reader);
    } else {
        read_tensor(&in, &reader);
        check_part(&in, &reader);
    }
    free(zero_points);
    free(scales);
    free(frac_bits);
    return 0;
}
