/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads JSON into struct tensor_desc. */
#include <string.h>

#include "proto/wire/tensor_desc.h"
#include "proto/wire/wire_limits.h"

/* The quantisation parameters that are numbers or, with "axis", arrays. */
enum param { PARAM_SCALE, PARAM_ZERO_POINT, PARAM_SCALE_FRAC_BITS, PARAM_COUNT };

static const struct {
    const char *name;
    int64_t min, max;
} params[PARAM_COUNT] = {
    [PARAM_SCALE] = {"scale", INT16_MIN, INT16_MAX},
    [PARAM_ZERO_POINT] = {"zero_point", INT16_MIN, INT16_MAX},
    [PARAM_SCALE_FRAC_BITS] = {"scale_frac_bits", INT8_MIN, INT8_MAX},
};

static int read_type(struct tensor_desc *desc, const struct json *object)
{
    static const char *const names[] = {"fx8", "fx16", "sa8", "sa32", "fp16", "fp32", NULL};
    struct json type = json_member(object, "type");
    size_t index;

    if (!json_present(&type))
        return 0;
    if (json_choice(&type, names, &index) < 0)
        return -1;
    desc->has_type = element_type_from_name(names[index], &desc->type);
    return 0;
}

/* Reads an array of 1 .. MLI_MAX_RANK numbers; *count is 0 if the array is absent. */
static int read_dimensions(const struct json *array, int64_t min, int64_t max,
                           int64_t out[MLI_MAX_RANK], uint32_t *count)
{
    struct json item = {0};
    size_t length;

    *count = 0;
    if (!json_present(array))
        return 0;
    if (json_array(array, &length) < 0)
        return -1;
    if (length < 1 || length > MLI_MAX_RANK)
        return json_complain(array, "%zu entries given; 1 to %d are allowed", length, MLI_MAX_RANK);
    while (json_next(array, &item)) {
        if (json_int(&item, min, max, &out[item.index]) < 0)
            return -1;
    }
    *count = (uint32_t)length;
    return 0;
}

static int read_shape(struct tensor_desc *desc, const struct json *object)
{
    struct json shape = json_member(object, "shape"), strides = json_member(object, "strides");
    int64_t numbers[MLI_MAX_RANK] = {0};
    uint32_t count;

    if (read_dimensions(&shape, 1, UINT32_MAX, numbers, &count) < 0)
        return -1;
    if (count > 0) {
        desc->rank = count;
        for (uint32_t i = 0; i < count; i++)
            desc->shape[i] = (uint32_t)numbers[i];
    }
    if (read_dimensions(&strides, 0, INT32_MAX, numbers, &count) < 0)
        return -1;
    if (count > 0) {
        desc->has_strides = true;
        desc->stride_count = count;
        for (uint32_t i = 0; i < count; i++)
            desc->strides[i] = (int32_t)numbers[i];
    }
    return 0;
}

/* Requires a number or an array of numbers, each within the parameter's range. */
static int check_param(const struct json *value, enum param param)
{
    struct json item = {0};
    int64_t number;
    size_t count;

    if (!json_present(value))
        return 0;
    if (json_is_int(value))
        return json_int(value, params[param].min, params[param].max, &number);
    if (!json_is_array(value))
        return json_complain(value, "a whole number or an array of whole numbers is required");
    if (json_array(value, &count) < 0)
        return -1;
    if (count < 1 || count > QUANT_ENTRIES_MAX)
        return json_complain(value, "%zu entries given; 1 to %d are allowed", count,
                             QUANT_ENTRIES_MAX);
    while (json_next(value, &item)) {
        if (json_int(&item, params[param].min, params[param].max, &number) < 0)
            return -1;
    }
    return 0;
}

/* The quantisation members of an object, each checked separately. */
struct members {
    struct json axis_json, frac_bits_json, param[PARAM_COUNT];
    int64_t axis, frac_bits; /* valid if the member is present */
};

static int read_members(struct members *members, const struct json *object)
{
    members->axis_json = json_member(object, "axis");
    members->frac_bits_json = json_member(object, "frac_bits");
    members->axis = -1;
    if (json_present(&members->axis_json) &&
        json_int(&members->axis_json, 0, MLI_MAX_RANK - 1, &members->axis) < 0)
        return -1;
    if (json_present(&members->frac_bits_json) &&
        json_int(&members->frac_bits_json, INT8_MIN, INT8_MAX, &members->frac_bits) < 0)
        return -1;
    for (int i = 0; i < PARAM_COUNT; i++) {
        members->param[i] = json_member(object, params[i].name);
        if (check_param(&members->param[i], (enum param)i) < 0)
            return -1;
    }
    return 0;
}

/* Finds the number of entries of the parameters; *count is 0 if no parameter is given. */
static int count_entries(const struct members *members, size_t *count)
{
    const struct json *first = NULL;

    *count = 0;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const struct json *param = &members->param[i];
        size_t entries;

        if (!json_is_array(param)) {
            if (json_present(param) && *count == 0)
                *count = 1;
            continue;
        }
        if (!json_present(&members->axis_json))
            return json_complain(param, "an array requires \"axis\"");
        if (json_array(param, &entries) < 0)
            return -1;
        if (first && entries != *count)
            return json_complain(param, "%zu entries given, but \"%s\" has %zu", entries,
                                 first->key, *count);
        first = param;
        *count = entries;
    }
    if (json_present(&members->axis_json) && !first)
        return json_complain(&members->axis_json,
                             "requires an array as scale, zero_point or scale_frac_bits");
    return 0;
}

static void store(struct quant *quant, enum param param, size_t index, int64_t number)
{
    if (param == PARAM_SCALE)
        quant->scale[index] = (int16_t)number;
    else if (param == PARAM_ZERO_POINT)
        quant->zero_point[index] = (int16_t)number;
    else
        quant->scale_frac_bits[index] = (int8_t)number;
}

static int fill(struct quant *quant, const struct json *value, enum param param)
{
    struct json item = {0};
    int64_t number;

    if (!json_present(value))
        return 0;
    if (json_is_int(value)) {
        if (json_int(value, params[param].min, params[param].max, &number) < 0)
            return -1;
        for (uint32_t i = 0; i < quant->count; i++)
            store(quant, param, i, number);
        return 0;
    }
    while (json_next(value, &item)) {
        if (json_int(&item, params[param].min, params[param].max, &number) < 0)
            return -1;
        store(quant, param, item.index, number);
    }
    return 0;
}

static int read_quant(struct quant *quant, const struct json *object)
{
    struct members members;
    size_t count;

    if (read_members(&members, object) < 0 || count_entries(&members, &count) < 0)
        return -1;
    if (json_present(&members.frac_bits_json)) {
        quant->has_frac_bits = true;
        quant->frac_bits = (int8_t)members.frac_bits;
    }
    if (count == 0)
        return 0;
    if (quant_alloc(quant, (uint32_t)count) < 0)
        return fault_set(object->fault, FAULT_INTERNAL, NULL,
                         "no memory for %zu quantisation parameters", count);
    quant->axis = (int32_t)members.axis;
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (fill(quant, &members.param[i], (enum param)i) < 0)
            return -1;
    }
    return 0;
}

int tensor_desc_check_members(const struct json *object)
{
    struct tensor_desc scratch = {0};
    struct members members;

    if (read_type(&scratch, object) < 0 || read_shape(&scratch, object) < 0)
        return -1;
    return read_members(&members, object);
}

int tensor_desc_check_at(const struct tensor_desc *desc, const struct json *object)
{
    struct fault fault;
    struct json member;
    const char *name;

    if (tensor_desc_check(desc, &fault) == 0)
        return 0;
    name = fault.pointer + 1;
    member = json_member(object, name);
    return json_complain(&member, "%s", fault.text + strlen(name) + 2);
}

int tensor_desc_read(struct tensor_desc *desc, const struct json *object)
{
    if (read_type(desc, object) < 0 || read_shape(desc, object) < 0 ||
        read_quant(&desc->quant, object) < 0)
        return -1;
    return tensor_desc_check_at(desc, object);
}
