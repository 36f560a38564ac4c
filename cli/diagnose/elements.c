/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/diagnose/elements.h"

#include <endian.h>
#include <string.h>

uint64_t elements_count(const struct elements *elements)
{
    uint64_t count = elements->rank > 0;

    for (uint32_t d = 0; d < elements->rank; d++)
        count *= elements->shape[d];
    return count;
}

const uint8_t *elements_at(const struct elements *elements, const uint32_t *at)
{
    int64_t offset = 0;

    for (uint32_t d = 0; d < elements->rank; d++)
        offset += (int64_t)at[d] * elements->strides[d];
    return elements->data + offset * (int64_t)elements->dtype->size;
}

uint32_t elements_word(const struct elements *elements, const uint32_t *at)
{
    uint32_t word = 0;

    memcpy(&word, elements_at(elements, at), elements->dtype->size);
    return le32toh(word);
}

uint64_t elements_index(const struct elements *elements, const uint32_t *at)
{
    uint64_t index = 0;

    for (uint32_t d = 0; d < elements->rank; d++)
        index = index * elements->shape[d] + at[d];
    return index;
}

void elements_place(const struct elements *elements, uint64_t index, uint32_t at[MLI_MAX_RANK])
{
    memset(at, 0, MLI_MAX_RANK * sizeof(*at));
    for (uint32_t d = elements->rank; d-- > 0; index /= elements->shape[d])
        at[d] = (uint32_t)(index % elements->shape[d]);
}

bool elements_next(const struct elements *elements, uint32_t *at)
{
    for (uint32_t d = elements->rank; d-- > 0;) {
        if (++at[d] < elements->shape[d])
            return true;
        at[d] = 0;
    }
    return false;
}

uint64_t elements_sample(uint64_t count, uint32_t samples, uint32_t i)
{
    if (count <= samples)
        return i;
    const uint64_t step = count / samples;
    const uint64_t jitter = (i * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

    return i * step + jitter % step;
}
