/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/dtype.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/job_spec.h"

const struct value dtype_value = {VALUE_WORD, dtype_words};

const struct dtype *dtype_from_name(const char *name)
{
    const int found = words_find("--dtype", name, dtype_words);
    return found < 0 ? NULL : dtype_at((size_t)found);
}

const struct dtype *dtype_of_type(mli_element_type type)
{
    bool real = type == MLI_EL_FP_16 || type == MLI_EL_FP_32;
    return dtype_of_header(
        &(struct npy_header){.kind = real ? 'f' : 'i', .item_size = (type & 0xff) / 8});
}

static double half_to_double(uint16_t half)
{
    int exponent = half >> 10 & 31;
    int fraction = half & 1023;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return half & 0x8000 ? -value : value;
}

/* Rounds to the nearest float16, ties to even; values that are too large become infinity. */
static uint16_t half_from_double(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value))
        return sign | 0x7e00;
    if (magnitude == 0)
        return sign;
    if (magnitude >= 65520)
        return sign | 0x7c00;
    int exponent;
    frexp(magnitude, &exponent);
    if (exponent < -13)
        exponent = -13; /* subnormal numbers have the step of the smallest normal numbers */
    uint16_t steps = (uint16_t)rint(ldexp(magnitude, 11 - exponent));
    /* If rounding carries out of the fraction, the sum correctly increments the exponent. */
    return sign | (uint16_t)(((uint16_t)(exponent + 13) << 10) + steps);
}

/* Tensor files are little-endian on every host. */
static uint32_t load_bits(const void *element, uint32_t size)
{
    uint32_t bits = 0;
    memcpy(&bits, element, size);
    return le32toh(bits);
}

static void store_bits(uint64_t bits, void *element, uint32_t size)
{
    bits = htole64(bits);
    memcpy(element, &bits, size);
}

/* Loads an element: returns a float, or sets *integer. */
static double load(const struct dtype *dtype, const void *element, int64_t *integer)
{
    uint32_t bits = load_bits(element, dtype->size);
    if (dtype->kind == 'f' && dtype->size == 2)
        return half_to_double((uint16_t)bits);
    if (dtype->kind == 'f') {
        float value;
        memcpy(&value, &bits, sizeof(value));
        return (double)value;
    }
    *integer = bits;
    if (dtype->kind == 'i' && dtype->size == 1)
        *integer = (int8_t)bits;
    if (dtype->kind == 'i' && dtype->size == 2)
        *integer = (int16_t)bits;
    if (dtype->kind == 'i' && dtype->size == 4)
        *integer = (int32_t)bits;
    return 0;
}

double dtype_number(const struct dtype *dtype, const void *element)
{
    int64_t integer = 0;
    const double value = load(dtype, element, &integer);

    return dtype->kind == 'f' ? value : (double)integer;
}

const char *dtype_text(const struct dtype *dtype, const void *element, char out[DTYPE_TEXT_MAX])
{
    int64_t integer = 0;
    double value = load(dtype, element, &integer);
    if (dtype->kind != 'f') {
        snprintf(out, DTYPE_TEXT_MAX, "%" PRId64, integer);
        return out;
    }
    /* Find the fewest digits that parse to this value. */
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, DTYPE_TEXT_MAX, "%.*g", digits, value);
        double back = strtod(out, NULL);
        if (dtype->size == 2 ? half_from_double(back) == half_from_double(value)
                             : (float)back == (float)value)
            break;
    }
    return out;
}

void dtype_json(struct jsonw *w, const char *key, const struct dtype *dtype, const char *text)
{
    if (dtype->kind == 'f')
        jsonw_string(w, key, text);
    else
        jsonw_int(w, key, strtoll(text, NULL, 10));
}

void dtype_store(const struct dtype *dtype, double value, void *element)
{
    if (dtype->kind != 'f') {
        dtype_store_uint(dtype, (uint64_t)(int64_t)value, element);
        return;
    }
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof(bits));
    store_bits(dtype->size == 2 ? half_from_double(value) : bits, element, dtype->size);
}

void dtype_store_uint(const struct dtype *dtype, uint64_t value, void *element)
{
    if (dtype->kind == 'f') {
        dtype_store(dtype, (double)value, element);
        return;
    }
    if (dtype->kind == 'b')
        value &= 1;
    store_bits(value, element, dtype->size);
}
