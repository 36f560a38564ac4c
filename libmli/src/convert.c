/* SPDX-License-Identifier: BSD-3-Clause */
/* mli_hlp_convert_tensor*: converts elements from one number format to another, exactly rounded. */
#include "libmli/src/builtins.h"
#include "libmli/src/error.h"
#include "libmli/src/overlap.h"
#include "libmli/src/profile.h"
#include "libmli/src/quant.h"
#include "libmli/src/tensor.h"
#include "mli_helpers_api.h"

/* real value = (element - zero_point) * scale / 2^frac_bits */
struct number_format {
    mli_element_type type;
    int32_t zero_point, scale, frac_bits; /* scale > 0; fp types have 0, 1 and 0 */
};

/* Larger than all elements and zero points. Values beyond it need no exact result: they saturate.
 */
static const int64_t BEYOND = (int64_t)1 << 40;

/*
 * Returns the format of a tensor's elements at `index` along the quantised axis, if the tensor has
 * one.
 */
static struct number_format format_at(const mli_tensor *tensor, uint32_t index)
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

/* Converts `count` elements. The steps are in bytes; addresses may be misaligned. */
static void convert_row(const struct number_format *from, const struct number_format *to,
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

/* Checks, and the loops over the elements. */

/* A tensor's elements as four nested loops, the innermost last. */
struct walk {
    uint8_t *bytes;
    uint32_t elem;
    uint64_t step[MLI_MAX_RANK]; /* step of each loop in bytes; 0 for dimensions added in front */
    struct extent extent;
};

struct conversion {
    const mli_tensor *src, *dst;
    struct walk from, to;
    uint64_t count[MLI_MAX_RANK];
    int32_t axis; /* loop along which the parameters differ; -1: no such loop */
};

static mli_status check_type(const mli_tensor *tensor, bool floats, const char *who)
{
    if (tensor->el_type == MLI_EL_FP_16)
        return refuse(MLI_STATUS_NOT_SUPPORTED, who, ".el_type: FP_16 cannot be converted");
    if (tensor->el_type == MLI_EL_FP_32 && !floats)
        return refuse(MLI_STATUS_TYPE_MISMATCH, who,
                      ".el_type: FP_32 given; mli_hlp_convert_tensor() converts it");
    return MLI_STATUS_OK;
}

/*
 * Sets *to to the destination after the conversion: with the source's rank and shape if dst has
 * rank 0.
 */
static mli_status complete_dst(const mli_tensor *src, const mli_tensor *dst, mli_tensor *to)
{
    if (!dst)
        return refuse(MLI_STATUS_BAD_TENSOR, "dst", ": null given; a tensor is required");
    *to = *dst;
    if (dst->rank == 0) {
        to->rank = src->rank;
        for (uint32_t d = 0; d < MLI_MAX_RANK; d++)
            to->shape[d] = d < src->rank ? src->shape[d] : 1;
    }
    if (to->rank != src->rank)
        return refuse(MLI_STATUS_SHAPE_MISMATCH, "dst", ".rank: % given; must be 0 or %", to->rank,
                      src->rank);
    for (uint32_t d = 0; d < src->rank; d++) {
        if (to->shape[d] != src->shape[d])
            return refuse(MLI_STATUS_SHAPE_MISMATCH, "dst", ".shape[%]: % given; must be %", d,
                          to->shape[d], src->shape[d]);
    }
    return MLI_STATUS_OK;
}

static mli_status check_tensors(const mli_tensor *src, const mli_tensor *dst, bool floats,
                                mli_tensor *to)
{
    mli_status status = tensor_check(src, "src");

    if (status == MLI_STATUS_OK)
        status = tensor_check_data(src, "src");
    if (status == MLI_STATUS_OK)
        status = check_type(src, floats, "src");
    if (status == MLI_STATUS_OK)
        status = complete_dst(src, dst, to);
    if (status == MLI_STATUS_OK)
        status = tensor_check(to, "dst");
    if (status == MLI_STATUS_OK)
        status = tensor_check_data(to, "dst");
    if (status == MLI_STATUS_OK)
        status = check_type(to, floats, "dst");
    return status;
}

static mli_status walk_init(struct walk *walk, const mli_tensor *tensor, const char *who)
{
    const uint32_t added = MLI_MAX_RANK - tensor->rank;
    int32_t stride[MLI_MAX_RANK];
    uint64_t end = 0;
    bool fits = true;
    mli_status status = strides_of(who, tensor->rank, tensor->shape, tensor->mem_stride, stride);

    if (status != MLI_STATUS_OK)
        return status;
    *walk = (struct walk){.bytes = tensor_bytes(tensor), .elem = element_bytes(tensor->el_type)};
    for (uint32_t d = 0; d < tensor->rank; d++) {
        walk->step[added + d] = (uint64_t)stride[d] * walk->elem;
        fits = fits && checked_mul_add(tensor->shape[d] - 1, walk->step[added + d], &end);
    }
    if (!fits || !checked_add(end, walk->elem, &end))
        return refuse(MLI_STATUS_NOT_ENGH_MEM, who,
                      ".mem_stride: the last element's address overflows");
    if (!tensor_has(tensor, end))
        return tensor_refuse_end(who, tensor->data.capacity, end);
    walk->extent = (struct extent){0, end};
    return MLI_STATUS_OK;
}

/* Returns whether each element has the same address in source and destination. */
static bool in_place(const struct conversion *c)
{
    bool same = c->from.bytes == c->to.bytes && c->from.elem == c->to.elem;

    for (uint32_t i = 0; i < MLI_MAX_RANK; i++)
        same = same && (c->count[i] == 1 || c->from.step[i] == c->to.step[i]);
    return same;
}

static mli_status check_places(const struct conversion *c)
{
    const uint64_t from = (uintptr_t)c->from.bytes, to = (uintptr_t)c->to.bytes;
    struct lattice lattice = {.count = 0};

    for (uint32_t i = 0; i < MLI_MAX_RANK; i++)
        lattice_add(&lattice, c->to.step[i], 0, (int64_t)c->count[i] - 1);
    if (lattice_meets_itself(&lattice))
        return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, "dst",
                      ".mem_stride: elements overlap one another");
    if (from < to + c->to.extent.end && to < from + c->from.extent.end && !in_place(c))
        return refuse(MLI_STATUS_INCOMPATEBLE_TENSORS, "dst",
                      ".data.mem: overlaps the source, but not element by element");
    return MLI_STATUS_OK;
}

/* Checks a tensor's parameters: the arrays, and every scale. */
static mli_status check_params(const struct conversion *c, const mli_tensor *tensor,
                               const char *who)
{
    uint64_t entries = 1;
    mli_status status = quant_check_dim(tensor, who);

    if (status == MLI_STATUS_OK && tensor_is_per_axis(tensor)) {
        entries = tensor->shape[tensor->el_params.sa.dim];
        status = quant_check_arrays(&tensor->el_params, entries, who);
        if (status == MLI_STATUS_OK)
            status =
                quant_check_apart(&tensor->el_params, entries, c->to.bytes, c->to.extent.end, who);
    }
    for (uint32_t i = 0; i < entries && status == MLI_STATUS_OK; i++) {
        const struct number_format format = format_at(tensor, i);

        if (format.scale < 1)
            status = refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, who,
                            ".el_params.sa.scale: % given for index %; must be at least 1",
                            format.scale, i);
    }
    return status;
}

static mli_status find_axis(struct conversion *c)
{
    const int32_t from = tensor_is_per_axis(c->src) ? c->src->el_params.sa.dim : -1;
    const int32_t to = tensor_is_per_axis(c->dst) ? c->dst->el_params.sa.dim : -1;

    if (from >= 0 && to >= 0 && from != to)
        return refuse(MLI_STATUS_SPEC_PARAM_MISMATCH, "dst",
                      ".el_params.sa.dim: % given; must be % as in the source, or negative", to,
                      from);
    c->axis = from > to ? from : to;
    if (c->axis >= 0)
        c->axis += (int32_t)(MLI_MAX_RANK - c->src->rank);
    return MLI_STATUS_OK;
}

static mli_status check_profile(const struct conversion *c)
{
    mli_status status = profile_check_tensor_alignment(c->src, c->from.elem, "src");

    if (status == MLI_STATUS_OK)
        status = profile_check_tensor_alignment(c->dst, c->to.elem, "dst");
    if (status == MLI_STATUS_OK)
        status = profile_check_bank(c->src, &c->from.extent, "src");
    if (status == MLI_STATUS_OK)
        status = profile_check_bank(c->dst, &c->to.extent, "dst");
    return status;
}

static mli_status conversion_init(struct conversion *c, const mli_tensor *src,
                                  const mli_tensor *dst)
{
    const uint32_t added = MLI_MAX_RANK - src->rank;
    mli_status status;

    c->src = src;
    c->dst = dst;
    for (uint32_t i = 0; i < MLI_MAX_RANK; i++)
        c->count[i] = i < added ? 1 : src->shape[i - added];
    status = walk_init(&c->from, src, "src");
    if (status == MLI_STATUS_OK)
        status = walk_init(&c->to, dst, "dst");
    if (status == MLI_STATUS_OK)
        status = check_places(c);
    if (status == MLI_STATUS_OK)
        status = check_params(c, src, "src");
    if (status == MLI_STATUS_OK)
        status = check_params(c, dst, "dst");
    if (status == MLI_STATUS_OK)
        status = find_axis(c);
    if (status == MLI_STATUS_OK && profile_active.strict)
        status = check_profile(c);
    return status;
}

/*
 * Converts the elements of the two innermost loops, for iterations i and j of the outer two.
 * Parameters may differ along any loop.
 */
static void convert_plane(const struct conversion *c, uint64_t i, uint64_t j)
{
    const uint64_t *count = c->count, *from = c->from.step, *to = c->to.step;
    const uint64_t run = c->axis == 3 ? 1 : count[3]; /* elements with equal parameters */

    for (uint64_t k = 0; k < count[2]; k++) {
        for (uint64_t l = 0; l < count[3]; l += run) {
            const uint64_t at[MLI_MAX_RANK] = {i, j, k, l};
            const uint32_t index = c->axis < 0 ? 0 : (uint32_t)at[c->axis];
            const struct number_format read = format_at(c->src, index);
            const struct number_format written = format_at(c->dst, index);

            convert_row(&read, &written,
                        c->from.bytes + i * from[0] + j * from[1] + k * from[2] + l * from[3],
                        from[3], c->to.bytes + i * to[0] + j * to[1] + k * to[2] + l * to[3], to[3],
                        run);
        }
    }
}

static mli_status convert(const mli_tensor *src, mli_tensor *dst, bool floats)
{
    struct conversion c;
    mli_tensor to;
    mli_status status = check_tensors(src, dst, floats, &to);

    if (status == MLI_STATUS_OK)
        status = conversion_init(&c, src, &to);
    if (status != MLI_STATUS_OK)
        return status;
    for (uint64_t i = 0; i < c.count[0]; i++) {
        for (uint64_t j = 0; j < c.count[1]; j++)
            convert_plane(&c, i, j);
    }
    *dst = to;
    return MLI_STATUS_OK;
}

mli_status mli_hlp_convert_tensor(const mli_tensor *src, mli_tensor *dst)
{
    return convert(src, dst, true);
}

mli_status mli_hlp_convert_tensor_safx(const mli_tensor *src, mli_tensor *dst)
{
    return convert(src, dst, false);
}
