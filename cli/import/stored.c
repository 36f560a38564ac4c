/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/stored.h"

#include "cli/tensor/pattern.h"

void stored_header(const struct model_dtype *dtype, uint32_t rank, const uint64_t *shape,
                   struct npy_header *header)
{
    const bool halves = dtype->size == 8;
    const uint32_t first = rank > MLI_MAX_RANK ? rank - MLI_MAX_RANK + 1 : rank > 0;
    uint64_t bytes = dtype->size;

    *header = (struct npy_header){.kind = dtype->kind, .item_size = dtype->size, .rank = 1};
    if (halves) {
        header->kind = dtype->kind == 'i' ? 'i' : 'u';
        header->item_size = 4;
    }
    dtype_to_header(dtype_of_header(header), header);
    header->shape[0] = 1;
    for (uint32_t d = 0; d < rank; d++) {
        if (d < first)
            header->shape[0] *= (uint32_t)shape[d];
        else
            header->shape[header->rank++] = (uint32_t)shape[d];
        bytes *= shape[d];
    }
    if (halves)
        header->shape[header->rank - 1] *= 2;
    header->data_offset = NPY_FORMAT_SIZE;
    header->data_size = bytes;
}

bool stored_as_is(const struct model_dtype *dtype, uint32_t rank)
{
    return dtype->size <= 4 && rank >= 1 && rank <= MLI_MAX_RANK;
}

void stored_generate(const struct npy_header *header, uint64_t seed, uint8_t *elements)
{
    const uint64_t count = header->data_size / header->item_size;
    const struct dtype *dtype = dtype_of_header(header);
    struct pattern pattern;
    uint32_t at[MLI_MAX_RANK] = {0};

    pattern_init(&pattern, count - 1 <= dtype->exact_max ? PATTERN_index : PATTERN_random, header,
                 seed);
    for (uint64_t k = 0; k < count; k++) {
        pattern_store(&pattern, at, elements + k * header->item_size);
        for (uint32_t d = header->rank; d-- > 0 && ++at[d] == header->shape[d];)
            at[d] = 0;
    }
}
