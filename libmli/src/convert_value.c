/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/convert_value.h"

#include "libmli/src/builtins.h"
#include "libmli/src/tensor.h"

/* Represents all values that saturate: larger than all elements and zero points. */
static const int64_t BEYOND = (int64_t)1 << 40;

struct number_format format_at(const mli_tensor *tensor, uint32_t index)
{
    const mli_element_params *params = &tensor->el_params;
    struct number_format format = {tensor->el_type, 0, 1, 0};

    if (tensor_is_per_axis(tensor)) {
        format.zero_point = params->sa.zero_point.mem.pi16[index];
        format.scale = params->sa.scale.mem.pi16[index];
        format.frac_bits = params->sa.scale_frac_bits.mem.pi8[index];
    } else if (tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32) {
        format.zero_point = params->sa.zero_point.mem.i16;
        format.scale = params->sa.scale.mem.i16;
        format.frac_bits = params->sa.scale_frac_bits.mem.i8;
    } else if (tensor->el_type != MLI_EL_FP_32) {
        format.frac_bits = params->fx.frac_bits;
    }
    return format;
}

static int32_t load(const uint8_t *at, mli_element_type type)
{
    int16_t half;
    int32_t word;

    if (known_element_bytes(type) == 1)
        return (int8_t)*at;
    if (known_element_bytes(type) == 2) {
        copy_bytes(&half, at, sizeof(half));
        return half;
    }
    copy_bytes(&word, at, sizeof(word));
    return word;
}

/* Stores a value, saturated at the type's bounds. */
static void store(uint8_t *at, mli_element_type type, int64_t value)
{
    const uint32_t bytes = known_element_bytes(type);
    const int64_t top = ((int64_t)1 << (8 * bytes - 1)) - 1;
    const int64_t kept = value > top ? top : value < -top - 1 ? -top - 1 : value;
    const int8_t byte = (int8_t)kept;
    const int16_t half = (int16_t)kept;
    const int32_t word = (int32_t)kept;

    if (bytes == 1)
        copy_bytes(at, &byte, sizeof(byte));
    else if (bytes == 2)
        copy_bytes(at, &half, sizeof(half));
    else
        copy_bytes(at, &word, sizeof(word));
}

/*
 * Returns value * multiplier / divisor * 2^shift, halves rounded up. |value| is below 2^33,
 * multiplier and divisor are below 2^15, so the product is below 2^48 and remainders can be
 * compared in 64 bits.
 */
static int64_t rescale(int64_t value, int32_t multiplier, int32_t divisor, int32_t shift)
{
    enum { PRODUCT_BITS = 48 };
    const bool negative = value < 0;
    uint64_t product = (uint64_t)(negative ? -value : value) * (uint32_t)multiplier;
    uint64_t by = (uint32_t)divisor, quotient, rest;

    if (product == 0 || shift < -PRODUCT_BITS)
        return 0;
    if (shift < 0) {
        by <<= -shift;
    } else {
        if (shift >= PRODUCT_BITS || product >> (63 - shift))
            return negative ? -BEYOND : BEYOND;
        product <<= shift;
    }
    quotient = product / by;
    rest = product % by;
    if (negative)
        return -(int64_t)(quotient + (rest > by - rest));
    return (int64_t)(quotient + (rest >= by - rest));
}

static double power_of_two(int32_t exponent)
{
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;

    _Static_assert(sizeof(double) == sizeof(bits), "double is IEEE 754 binary64");
    copy_bytes(&power, &bits, sizeof(power));
    return power;
}

/*
 * Rounds real * 2^frac_bits / scale, halves away from zero. In double precision the product is
 * exact, and the quotient of a 24-bit number by a 15-bit number rounds to a half only if the
 * quotient is exactly a half.
 */
static int64_t quantise(float real, const struct number_format *to)
{
    const double value = (double)real * power_of_two(to->frac_bits) / to->scale;

    if (value != value)
        return 0; /* not a number */
    if (value >= (double)BEYOND || value <= -(double)BEYOND)
        return value < 0 ? -BEYOND : BEYOND;
    return (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* In double every step is exact; only the conversion to float rounds. */
static float dequantise(int32_t value, const struct number_format *from)
{
    const int64_t product = ((int64_t)value - from->zero_point) * from->scale;

    return (float)((double)product * power_of_two(-from->frac_bits));
}

static void convert_one(const struct number_format *from, const struct number_format *to,
                        const uint8_t *src, uint8_t *dst)
{
    float real;

    if (from->type == MLI_EL_FP_32) {
        copy_bytes(&real, src, sizeof(real));
        store(dst, to->type, quantise(real, to) + to->zero_point);
    } else if (to->type == MLI_EL_FP_32) {
        real = dequantise(load(src, from->type), from);
        copy_bytes(dst, &real, sizeof(real));
    } else {
        store(dst, to->type,
              rescale((int64_t)load(src, from->type) - from->zero_point, from->scale, to->scale,
                      to->frac_bits - from->frac_bits) +
                  to->zero_point);
    }
}

void convert_row(const struct number_format *from, const struct number_format *to,
                 const uint8_t *src, uint64_t src_step, uint8_t *dst, uint64_t dst_step,
                 uint64_t count)
{
    int32_t word;

    for (uint64_t i = 0; i < count; i++, src += src_step, dst += dst_step) {
        if (from->type != MLI_EL_FP_32 || to->type != MLI_EL_FP_32) {
            convert_one(from, to, src, dst);
        } else {
            word = load(src, MLI_EL_FP_32);
            copy_bytes(dst, &word, sizeof(word));
        }
    }
}
