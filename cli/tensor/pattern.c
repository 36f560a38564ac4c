/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/pattern.h"

const char *const pattern_words[] = {
#define PATTERN_WORD(name, text) #name,
    PATTERN_TABLE(PATTERN_WORD)
#undef PATTERN_WORD
        NULL};

/* Sets weights that yield the index of an element in C order. */
static void set_flat_weights(struct pattern *pattern)
{
    uint64_t weight = 1;
    for (uint32_t d = pattern->header->rank; d-- > 0;) {
        pattern->weights[d] = weight;
        weight *= pattern->header->shape[d];
    }
}

/*
 * Sets weights that give each coordinate its own decimal digits: in the shape (4, 6, 8), the
 * element at [1, 2, 3] is 123. Returns false if the largest value exceeds the dtype.
 */
static bool set_decimal_weights(struct pattern *pattern)
{
    uint64_t weight = 1, largest = 0;
    for (uint32_t d = pattern->header->rank; d-- > 0;) {
        uint64_t last = pattern->header->shape[d] - 1;
        pattern->weights[d] = weight;
        largest += last * weight;
        if (largest > pattern->dtype->exact_max)
            return false;
        do {
            weight *= 10;
            last /= 10;
        } while (last > 0);
    }
    return true;
}

void pattern_init(struct pattern *pattern, enum pattern_kind kind, const struct npy_header *header,
                  uint64_t seed)
{
    *pattern = (struct pattern){
        .kind = kind, .dtype = dtype_of_header(header), .header = header, .seed = seed};
    if (kind == PATTERN_index)
        pattern->decimal = set_decimal_weights(pattern);
    if (!pattern->decimal)
        set_flat_weights(pattern);
}

/* Returns the n-th number of the splitmix64 sequence of a seed. */
static uint64_t random_number(uint64_t seed, uint64_t n)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_float(const struct dtype *dtype)
{
    return dtype->kind == 'f' || dtype->kind == 'c';
}

static void store_random(const struct pattern *pattern, uint64_t position, void *element)
{
    uint64_t number = random_number(pattern->seed, position);
    if (is_float(pattern->dtype))
        dtype_store(pattern->dtype, (double)(number >> 11) * 0x1p-52 - 1.0, element);
    else
        dtype_store_uint(pattern->dtype, number, element);
}

void pattern_store(const struct pattern *pattern, const uint32_t *at, void *element)
{
    uint64_t value = 0, sum = 0;
    for (uint32_t d = 0; d < pattern->header->rank; d++) {
        value += at[d] * pattern->weights[d];
        sum += at[d];
    }
    switch (pattern->kind) {
    case PATTERN_random:
        store_random(pattern, value, element);
        return;
    case PATTERN_zeros:
        value = 0;
        break;
    case PATTERN_ones:
        value = 1;
        break;
    case PATTERN_checker:
        value = sum & 1;
        break;
    case PATTERN_index:
    case PATTERN_ramp:
        /*
         * Integers wrap when they are stored; floats wrap at the end of their range of exact
         * integers.
         */
        if (is_float(pattern->dtype))
            value %= pattern->dtype->exact_max + 1;
        break;
    }
    dtype_store_uint(pattern->dtype, value, element);
}
