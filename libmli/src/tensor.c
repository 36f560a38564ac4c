/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/tensor.h"

uint32_t element_bytes(mli_element_type type)
{
    switch (type) {
    case MLI_EL_FX_8:
    case MLI_EL_SA_8:
    case MLI_EL_FX_16:
    case MLI_EL_FP_16:
    case MLI_EL_SA_32:
    case MLI_EL_FP_32:
        return known_element_bytes(type);
    default:
        return 0;
    }
}

mli_status tensor_check(const mli_tensor *tensor, const char *who)
{
    if (!tensor)
        return refuse(MLI_STATUS_BAD_TENSOR, who, ": null given; a tensor is required");
    if (tensor->rank < 1 || tensor->rank > MLI_MAX_RANK)
        return refuse(MLI_STATUS_BAD_TENSOR, who, ".rank: % given; must be 1 to %", tensor->rank,
                      MLI_MAX_RANK);
    if (tensor->el_type == MLI_EL_FX_4)
        return refuse(MLI_STATUS_NOT_SUPPORTED, who, ".el_type: FX_4 is not supported");
    if (!element_bytes(tensor->el_type))
        return refuse(MLI_STATUS_BAD_TENSOR, who,
                      ".el_type: % given; must be an element type of mli_types.h", tensor->el_type);
    for (uint32_t d = 0; d < tensor->rank; d++) {
        if (tensor->shape[d] == 0)
            return refuse(MLI_STATUS_BAD_TENSOR, who, ".shape[%]: 0 given; must be at least 1", d);
        if (tensor->mem_stride[d] < 0)
            return refuse(MLI_STATUS_BAD_TENSOR, who, ".mem_stride[%]: % given; must be at least 0",
                          d, tensor->mem_stride[d]);
    }
    return MLI_STATUS_OK;
}

mli_status tensor_refuse_end(const char *who, uint64_t capacity, uint64_t end)
{
    if (end > UINT32_MAX)
        return refuse(
            MLI_STATUS_NOT_ENGH_MEM, who,
            ".data.capacity: % B are needed, but a tensor has at most % B (4 GiB): move it in "
            "parts",
            end, UINT32_MAX);
    if (end > capacity)
        return refuse(MLI_STATUS_NOT_ENGH_MEM, who, ".data.capacity: % B given; % B are needed",
                      capacity, end);
    return refuse(MLI_STATUS_NOT_ENGH_MEM, who,
                  ".data.mem: % B from this address end beyond the address space", end);
}

mli_status strides_of(const char *who, uint32_t rank, const uint32_t *shape, const int32_t *given,
                      int32_t *stride)
{
    uint64_t packed = 1;

    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t next = next_stride(&packed, shape[d], given[d]);

        if (next > INT32_MAX && shape[d] > 1)
            return refuse(MLI_STATUS_NOT_ENGH_MEM, who,
                          ".mem_stride[%]: packed it is stride[%] * shape[%] = % * %, at most % "
                          "allowed: use a smaller stride or shape",
                          d, d + 1, d + 1, next / shape[d + 1], shape[d + 1], INT32_MAX);
        stride[d] = next > INT32_MAX ? 0 : (int32_t)next;
    }
    return MLI_STATUS_OK;
}
