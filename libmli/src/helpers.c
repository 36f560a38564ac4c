/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions mli_hlp_*: properties of one tensor, and embARC's form of these functions. */
#include "libmli/src/error.h"
#include "libmli/src/tensor.h"
#include "mli_helpers_api.h"

uint32_t mli_hlp_tensor_element_size(const mli_tensor *in)
{
    return in ? element_bytes(in->el_type) : 0;
}

uint32_t mli_hlp_count_elem_num(const mli_tensor *in, uint32_t start_dim)
{
    uint64_t count = 1;

    if (in && in->rank == 0)
        return 1; /* a scalar */
    if (!in || in->rank > MLI_MAX_RANK || start_dim >= in->rank) {
        (void)refuse(
            MLI_STATUS_ARGUMENT_ERROR, "in",
            ": rank % and start_dim % given; the rank must be 0 to % and start_dim must be below "
            "the rank",
            in ? in->rank : 0, start_dim, MLI_MAX_RANK);
        return 0;
    }
    for (uint32_t d = start_dim; d < in->rank; d++) {
        /*
         * A shape of 0 in any dimension makes the product 0, even if the remaining product
         * overflows.
         */
        if (in->shape[d] == 0)
            return 0;
    }
    for (uint32_t d = start_dim; d < in->rank; d++) {
        count *= in->shape[d]; /* both are below 2^32 */
        if (count > UINT32_MAX) {
            (void)refuse(MLI_STATUS_NOT_ENGH_MEM, "in", ".shape: its product exceeds 32 bits");
            return 0;
        }
    }
    return (uint32_t)count;
}

bool mli_hlp_tensor_data_ptr_cmp(const mli_tensor *in1, const mli_tensor *in2)
{
    return in1 && in2 && in1->rank > 0 && in2->rank > 0 && in1->el_type == in2->el_type &&
           element_bytes(in1->el_type) > 0 && tensor_bytes(in1) == tensor_bytes(in2);
}

mli_status mli_hlp_set_tensor_mem_strides(mli_tensor *in)
{
    const int32_t packed[MLI_MAX_RANK] = {0};
    int32_t stride[MLI_MAX_RANK] = {0};
    mli_status status;

    if (!in)
        return refuse(MLI_STATUS_BAD_TENSOR, "in", ": null given; a tensor is required");
    if (in->rank < 1 || in->rank > MLI_MAX_RANK)
        return refuse(MLI_STATUS_BAD_TENSOR, "in", ".rank: % given; must be 1 to %", in->rank,
                      MLI_MAX_RANK);
    for (uint32_t d = 0; d < in->rank; d++) {
        if (in->shape[d] == 0)
            return refuse(MLI_STATUS_BAD_TENSOR, "in", ".shape[%]: 0 given; must be at least 1", d);
    }
    status = strides_of("in", in->rank, in->shape, packed, stride);
    if (status != MLI_STATUS_OK)
        return status;
    for (uint32_t d = 0; d < MLI_MAX_RANK; d++)
        in->mem_stride[d] = stride[d];
    return MLI_STATUS_OK;
}

/* The kind of a tensor's element parameters. */
enum params { PARAMS_INVALID, PARAMS_NONE, PARAMS_FX, PARAMS_SA, PARAMS_SA_AXIS };

static enum params params_of(const mli_tensor *in)
{
    switch (in ? in->el_type : MLI_EL_LARGE_ENUM) {
    case MLI_EL_FX_8:
    case MLI_EL_FX_16:
        return PARAMS_FX;
    case MLI_EL_FP_16:
    case MLI_EL_FP_32:
        return PARAMS_NONE;
    case MLI_EL_SA_8:
    case MLI_EL_SA_32:
        return in->el_params.sa.dim < 0 ? PARAMS_SA : PARAMS_SA_AXIS;
    default:
        return PARAMS_INVALID;
    }
}

/* Returns whether a per-axis tensor has an entry `index` in the array at `array`. */
static bool has_entry(const mli_tensor *in, const void *array, uint32_t index)
{
    const int32_t dim = in->el_params.sa.dim;

    return array && (uint32_t)dim < in->rank && dim < MLI_MAX_RANK && index < in->shape[dim];
}

int32_t mli_compat_hlp_tensor_scale(const mli_tensor *in, uint32_t scale_idx)
{
    switch (params_of(in)) {
    case PARAMS_FX:
    case PARAMS_NONE:
        return 1;
    case PARAMS_SA:
        return in->el_params.sa.scale.mem.i16;
    case PARAMS_SA_AXIS: {
        const int16_t *entry = in->el_params.sa.scale.mem.pi16;

        return has_entry(in, entry, scale_idx) ? entry[scale_idx] : 0;
    }
    default:
        return 0;
    }
}

int32_t mli_compat_hlp_tensor_scale_shift(const mli_tensor *in, uint32_t scale_idx)
{
    switch (params_of(in)) {
    case PARAMS_FX:
        return in->el_params.fx.frac_bits;
    case PARAMS_SA:
        return in->el_params.sa.scale_frac_bits.mem.i8;
    case PARAMS_SA_AXIS: {
        const int8_t *entry = in->el_params.sa.scale_frac_bits.mem.pi8;

        return has_entry(in, entry, scale_idx) ? entry[scale_idx] : 0;
    }
    default:
        return 0;
    }
}

int16_t mli_compat_hlp_tensor_zero_offset(const mli_tensor *in, uint32_t zero_idx)
{
    switch (params_of(in)) {
    case PARAMS_SA:
        return in->el_params.sa.zero_point.mem.i16;
    case PARAMS_SA_AXIS: {
        const int16_t *entry = in->el_params.sa.zero_point.mem.pi16;

        return has_entry(in, entry, zero_idx) ? entry[zero_idx] : (int16_t)0;
    }
    default:
        return 0;
    }
}

int16_t mli_hlp_tensor_scale(const mli_tensor *in)
{
    return (int16_t)mli_compat_hlp_tensor_scale(in, 0);
}

int16_t mli_hlp_tensor_scale_shift(const mli_tensor *in)
{
    return (int16_t)mli_compat_hlp_tensor_scale_shift(in, 0);
}

int16_t mli_hlp_tensor_zero_offset(const mli_tensor *in)
{
    return mli_compat_hlp_tensor_zero_offset(in, 0);
}
