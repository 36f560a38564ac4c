/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/diagnose/planted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

uint64_t planted_seed(void)
{
    const char *text = getenv("MLI_TEST_SEED");
    const uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

    print_message("MLI_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

void tensor_init(struct tensor *tensor, const struct dtype *dtype, uint32_t rank,
                 const uint32_t *shape)
{
    int32_t stride = 1;

    memset(tensor->data, 0, sizeof(tensor->data));
    tensor->elements = (struct elements){.data = tensor->data, .dtype = dtype, .rank = rank};
    for (uint32_t d = rank; d-- > 0; stride *= (int32_t)shape[d]) {
        tensor->elements.shape[d] = shape[d];
        tensor->elements.strides[d] = stride;
    }
    assert_in_range(stride, 1, PLANTED_ELEMENTS_MAX);
}

void tensor_randomise(struct tensor *tensor, struct rng *rng)
{
    rng_fill(rng, tensor->data,
             (size_t)elements_count(&tensor->elements) * tensor->elements.dtype->size);
}

void tensor_copy(struct tensor *to, const struct tensor *from)
{
    *to = *from;
    to->elements.data = to->data;
}

const struct dtype *planted_dtype(struct rng *rng)
{
    static const char *const names[] = {"int8", "uint8", "int16", "uint16", "int32", "float32"};

    return dtype_from_name(names[rng_below(rng, COUNT_OF(names))]);
}

void planted_shape(struct rng *rng, uint32_t rank, uint32_t low, uint32_t high,
                   uint32_t shape[MLI_MAX_RANK])
{
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = rng_between(rng, low, high);
}

static uint8_t *address(const struct tensor *tensor, const uint32_t *at)
{
    size_t index = 0;

    for (uint32_t d = 0; d < tensor->elements.rank; d++)
        index = index * tensor->elements.shape[d] + at[d];
    return (uint8_t *)(uintptr_t)tensor->data + index * tensor->elements.dtype->size;
}

uint32_t tensor_get(const struct tensor *tensor, const uint32_t *at)
{
    const uint8_t *bytes = address(tensor, at);
    uint32_t word = 0;

    for (uint32_t i = 0; i < tensor->elements.dtype->size; i++)
        word |= (uint32_t)bytes[i] << 8 * i;
    return word;
}

void tensor_set(struct tensor *tensor, const uint32_t *at, uint32_t word)
{
    uint8_t *bytes = address(tensor, at);

    for (uint32_t i = 0; i < tensor->elements.dtype->size; i++)
        bytes[i] = (uint8_t)(word >> 8 * i);
}

uint32_t tensor_at(const struct tensor *tensor, const int64_t *at, bool *inside)
{
    uint32_t place[MLI_MAX_RANK] = {0};

    *inside = true;
    for (uint32_t d = 0; d < tensor->elements.rank; d++) {
        *inside = *inside && at[d] >= 0 && at[d] < tensor->elements.shape[d];
        place[d] = (uint32_t)at[d];
    }
    return *inside ? tensor_get(tensor, place) : 0;
}

bool planted_compare(const struct tensor *got, const struct tensor *wanted,
                     struct differing *differing)
{
    const uint64_t count = elements_count(&got->elements);

    differing_init(differing, &got->elements, 10);
    for (uint64_t index = 0; index < count; index++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(&got->elements, index, at);
        if (tensor_get(got, at) != tensor_get(wanted, at))
            differing_add(differing, &got->elements, &wanted->elements, at);
    }
    if (differing->count > 0)
        differing_end(differing);
    return differing->count > 0;
}

void planted_diagnose(const struct tensor *got, const struct tensor *wanted,
                      const struct diagnose_move *move, struct differing *differing,
                      struct diagnosis *diagnosis)
{
    const struct diagnose_request request = {.got = &got->elements,
                                             .wanted = &wanted->elements,
                                             .wanted_name = "expected",
                                             .move = move};

    *diagnosis = (struct diagnosis){0};
    if (!planted_compare(got, wanted, differing))
        return;
    assert_int_equal(diagnose(&request, differing, diagnosis), 0);
    if (move)
        diagnose_origins(&request, differing);
}
