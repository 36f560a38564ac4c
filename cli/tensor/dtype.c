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
static uint64_t load_bits(const void *element, uint32_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, element, size);
    return le64toh(bits);
}

static void store_bits(uint64_t bits, void *element, uint32_t size)
{
    bits = htole64(bits);
    memcpy(element, &bits, size);
}

static double load_float(const void *element, uint32_t size)
{
    uint64_t bits = load_bits(element, size);
    uint32_t half = (uint32_t)bits;
    double value;
    float single;
    if (size == 2)
        return half_to_double((uint16_t)bits);
    memcpy(&single, &half, sizeof(single));
    memcpy(&value, &bits, sizeof(value));
    return size == 4 ? (double)single : value;
}

/* Loads an integer element as 64 bits, with its sign. */
static uint64_t load_integer(const struct dtype *dtype, const void *element)
{
    uint32_t unused = 64 - 8 * dtype->size;
    uint64_t bits = load_bits(element, dtype->size) << unused;
    return dtype->kind == 'i' ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

double dtype_number(const struct dtype *dtype, const void *element)
{
    if (dtype->kind == 'f')
        return load_float(element, dtype->size);
    uint64_t integer = load_integer(dtype, element);
    return dtype->kind == 'i' ? (double)(int64_t)integer : (double)integer;
}

static bool is_same(double value, double back, uint32_t size)
{
    if (size == 2)
        return half_from_double(back) == half_from_double(value);
    return size == 4 ? (float)back == (float)value : back == value;
}

enum { FLOAT_TEXT_MAX = 26 };

/* Writes the float of `size` bytes at `element` with the fewest digits that parse to it. */
static void float_text(const void *element, uint32_t size, char out[FLOAT_TEXT_MAX])
{
    double value = load_float(element, size);
    for (int digits = 1; digits <= (size == 8 ? 17 : 9); digits++) {
        snprintf(out, FLOAT_TEXT_MAX, "%.*g", digits, value);
        if (is_same(value, strtod(out, NULL), size))
            break;
    }
}

const char *dtype_text(const struct dtype *dtype, const void *element, char out[DTYPE_TEXT_MAX])
{
    const uint8_t *bytes = element;
    char real[FLOAT_TEXT_MAX], imaginary[FLOAT_TEXT_MAX];

    if (dtype->kind == 'f') {
        float_text(element, dtype->size, real);
        strcpy(out, real);
    } else if (dtype->kind == 'c') {
        float_text(bytes, dtype->size / 2, real);
        float_text(bytes + dtype->size / 2, dtype->size / 2, imaginary);
        snprintf(out, DTYPE_TEXT_MAX, "%s%s%sj", real, *imaginary == '-' ? "" : "+", imaginary);
    } else if (dtype->size > sizeof(uint64_t)) {
        snprintf(out, DTYPE_TEXT_MAX, "0x%016" PRIx64 "%016" PRIx64, load_bits(bytes + 8, 8),
                 load_bits(bytes, 8));
    } else {
        snprintf(out, DTYPE_TEXT_MAX, dtype->kind == 'i' ? "%" PRId64 : "%" PRIu64,
                 load_integer(dtype, element));
    }
    return out;
}

/* Appends the bits to the text, as " (0x7fc00001)". */
static void append_bits(const struct dtype *dtype, const uint8_t *bytes, char out[DTYPE_TEXT_MAX])
{
    char *end = out + strlen(out) + sprintf(out + strlen(out), " (0x");

    for (uint32_t i = dtype->size; i-- > 0;)
        end += sprintf(end, "%02x", bytes[i]);
    strcpy(end, ")");
}

void dtype_texts(const struct dtype *dtype, const void *a, const void *b,
                 char a_text[DTYPE_TEXT_MAX], char b_text[DTYPE_TEXT_MAX])
{
    if (strcmp(dtype_text(dtype, a, a_text), dtype_text(dtype, b, b_text)) != 0)
        return;
    append_bits(dtype, a, a_text);
    append_bits(dtype, b, b_text);
}

void dtype_json(struct jsonw *w, const char *key, const struct dtype *dtype, const char *text)
{
    if (dtype->kind == 'f' || dtype->size > sizeof(uint32_t)) /* JSON numbers have 53 bits */
        jsonw_string(w, key, text);
    else
        jsonw_int(w, key, strtoll(text, NULL, 10));
}

/* A complex number gets no imaginary part. */
void dtype_store(const struct dtype *dtype, double value, void *element)
{
    uint32_t size = dtype->kind == 'c' ? dtype->size / 2 : dtype->size;
    float single = (float)value;
    uint64_t bits = 0;

    if (dtype->kind != 'f' && dtype->kind != 'c') {
        dtype_store_uint(dtype, (uint64_t)(int64_t)value, element);
        return;
    }
    memset(element, 0, dtype->size);
    if (size == 2) {
        bits = half_from_double(value);
    } else if (size == 4) {
        uint32_t half;
        memcpy(&half, &single, sizeof(half));
        bits = half;
    } else {
        memcpy(&bits, &value, sizeof(bits));
    }
    store_bits(bits, element, size);
}

void dtype_store_uint(const struct dtype *dtype, uint64_t value, void *element)
{
    uint32_t size = dtype->size < sizeof(value) ? dtype->size : sizeof(value);

    if (dtype->kind == 'f' || dtype->kind == 'c') {
        dtype_store(dtype, (double)value, element);
        return;
    }
    if (dtype->kind == 'b')
        value &= 1;
    memset(element, 0, dtype->size);
    store_bits(value, element, size);
}
