/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/tensor_desc.h"
#include "proto/wire/wire_limits.h"

static const struct {
    const char *name;
    mli_element_type type;
} element_types[] = {
    {"fx8", MLI_EL_FX_8},   {"fx16", MLI_EL_FX_16}, {"sa8", MLI_EL_SA_8},
    {"sa32", MLI_EL_SA_32}, {"fp16", MLI_EL_FP_16}, {"fp32", MLI_EL_FP_32},
};

enum { TYPE_COUNT = sizeof element_types / sizeof *element_types };

const char *element_type_name(mli_element_type type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (element_types[i].type == type)
            return element_types[i].name;
    }
    return NULL;
}

const char *const element_type_words[] = {"fx8", "fx16", "sa8", "sa32", "fp16", "fp32", NULL};

bool element_type_from_name(const char *name, mli_element_type *type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(element_types[i].name, name) == 0) {
            *type = element_types[i].type;
            return true;
        }
    }
    return false;
}

/*
 * quant_alloc() allocates the three arrays as one block. Arrays with larger entries come first, so
 * that all arrays are aligned.
 */
enum { ENTRY_SIZE = sizeof(int16_t) + sizeof(int16_t) + sizeof(int8_t) };

int quant_alloc(struct quant *quant, uint32_t count)
{
    free(quant->scale);
    quant->count = 0;
    quant->scale = quant->zero_point = NULL;
    quant->scale_frac_bits = NULL;
    if (count == 0)
        return 0;
    quant->scale = calloc(count, ENTRY_SIZE);
    if (!quant->scale)
        return -ENOMEM;
    quant->count = count;
    quant->zero_point = quant->scale + count;
    quant->scale_frac_bits = (int8_t *)(quant->zero_point + count);
    for (uint32_t i = 0; i < count; i++)
        quant->scale[i] = 1;
    return 0;
}

void tensor_desc_finish(struct tensor_desc *desc)
{
    free(desc->quant.scale);
    *desc = (struct tensor_desc){0};
}

int tensor_desc_copy(struct tensor_desc *to, const struct tensor_desc *from)
{
    *to = *from;
    to->quant.scale = NULL;
    if (quant_alloc(&to->quant, from->quant.count) < 0) {
        *to = (struct tensor_desc){0};
        return -ENOMEM;
    }
    if (from->quant.count > 0)
        memcpy(to->quant.scale, from->quant.scale, (size_t)from->quant.count * ENTRY_SIZE);
    return 0;
}

static bool is_sa(mli_element_type type)
{
    return type == MLI_EL_SA_8 || type == MLI_EL_SA_32;
}

static bool is_fx(mli_element_type type)
{
    return type == MLI_EL_FX_8 || type == MLI_EL_FX_16;
}

static int mismatch(struct fault *fault, const char *member, const char *text)
{
    char pointer[32];

    snprintf(pointer, sizeof pointer, "/%s", member);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer, "%s: %s", member, text);
}

static int check_type(const struct tensor_desc *desc, struct fault *fault)
{
    const struct quant *quant = &desc->quant;
    const char *name = element_type_name(desc->type);
    char text[96];

    if (quant->has_frac_bits && quant->count > 0)
        return mismatch(fault, "frac_bits",
                        "for fx types, cannot be combined with scale, zero_point, scale_frac_bits");
    if (!desc->has_type || !name)
        return 0;
    if (quant->count > 0 && !is_sa(desc->type)) {
        snprintf(text, sizeof text, "only sa8 and sa32 have these parameters, not %s", name);
        return mismatch(fault, quant->axis < 0 ? "scale" : "axis", text);
    }
    if (quant->has_frac_bits && !is_fx(desc->type)) {
        snprintf(text, sizeof text, "only fx8 and fx16 have this parameter, not %s", name);
        return mismatch(fault, "frac_bits", text);
    }
    return 0;
}

int tensor_desc_check(const struct tensor_desc *desc, struct fault *fault)
{
    const struct quant *quant = &desc->quant;
    char text[96];

    if (check_type(desc, fault) < 0)
        return -1;
    if (desc->rank == 0)
        return 0;
    if (desc->has_strides && desc->stride_count != 0 && desc->stride_count != desc->rank) {
        snprintf(text, sizeof text, "%u entries given, but the shape has %u", desc->stride_count,
                 desc->rank);
        return mismatch(fault, "strides", text);
    }
    if (quant->count == 0 || quant->axis < 0)
        return 0;
    if ((uint32_t)quant->axis >= desc->rank) {
        snprintf(text, sizeof text, "%d given, but the shape has %u dimensions (0 to %u)",
                 quant->axis, desc->rank, desc->rank - 1);
        return mismatch(fault, "axis", text);
    }
    if (quant->count != desc->shape[quant->axis]) {
        snprintf(text, sizeof text, "%u entries given along dimension %d, but shape[%d] is %u",
                 quant->count, quant->axis, quant->axis, desc->shape[quant->axis]);
        return mismatch(fault, "axis", text);
    }
    return 0;
}

/* The quantisation parameters that are numbers or, with "axis", arrays. */
static const struct {
    const char *name;
    int64_t min, max;
} ranges[QUANT_PARAMS] = {
    [QUANT_SCALE] = {"scale", INT16_MIN, INT16_MAX},
    [QUANT_ZERO_POINT] = {"zero_point", INT16_MIN, INT16_MAX},
    [QUANT_SCALE_FRAC_BITS] = {"scale_frac_bits", INT8_MIN, INT8_MAX},
};

const char *quant_param_name(enum quant_param param)
{
    return ranges[param].name;
}

int quant_entry(const struct quant *quant, enum quant_param param, uint32_t i)
{
    if (quant->count == 0)
        return param == QUANT_SCALE;
    i = quant->axis < 0 ? 0 : i;
    if (param == QUANT_SCALE_FRAC_BITS)
        return quant->scale_frac_bits[i];
    return (param == QUANT_SCALE ? quant->scale : quant->zero_point)[i];
}

static void write_quant(struct jsonw *w, const struct quant *quant)
{
    if (quant->has_frac_bits)
        jsonw_int(w, "frac_bits", quant->frac_bits);
    if (quant->count > 0 && quant->axis >= 0)
        jsonw_int(w, "axis", quant->axis);
    for (enum quant_param p = QUANT_SCALE; quant->count > 0 && p < QUANT_PARAMS; p++) {
        if (quant->axis < 0) {
            jsonw_int(w, ranges[p].name, quant_entry(quant, p, 0));
            continue;
        }
        jsonw_array_begin(w, ranges[p].name);
        for (uint32_t i = 0; i < quant->count; i++)
            jsonw_int(w, NULL, quant_entry(quant, p, i));
        jsonw_array_end(w);
    }
}

void tensor_desc_write(struct jsonw *w, const struct tensor_desc *desc)
{
    uint32_t strides = desc->stride_count ? desc->stride_count : desc->rank;

    if (desc->has_type && element_type_name(desc->type))
        jsonw_string(w, "type", element_type_name(desc->type));
    if (desc->rank > 0) {
        jsonw_array_begin(w, "shape");
        for (uint32_t i = 0; i < desc->rank; i++)
            jsonw_uint(w, NULL, desc->shape[i]);
        jsonw_array_end(w);
    }
    if (desc->has_strides && strides > 0) {
        jsonw_array_begin(w, "strides");
        for (uint32_t i = 0; i < strides; i++)
            jsonw_int(w, NULL, desc->strides[i]);
        jsonw_array_end(w);
    }
    write_quant(w, &desc->quant);
}

static void quant_to_mli(const struct quant *quant, mli_element_params *params)
{
    params->sa.type = MLI_EL_PARAM_SC16_ZP16;
    params->sa.dim = -1;
    if (quant->count == 0) {
        params->sa.scale.mem.i16 = 1;
    } else if (quant->axis < 0) {
        params->sa.scale.mem.i16 = quant->scale[0];
        params->sa.zero_point.mem.i16 = quant->zero_point[0];
        params->sa.scale_frac_bits.mem.i8 = quant->scale_frac_bits[0];
    } else {
        params->sa.dim = quant->axis;
        params->sa.scale.mem.pi16 = quant->scale;
        params->sa.scale.capacity = quant->count * (uint32_t)sizeof *quant->scale;
        params->sa.zero_point.mem.pi16 = quant->zero_point;
        params->sa.zero_point.capacity = quant->count * (uint32_t)sizeof *quant->zero_point;
        params->sa.scale_frac_bits.mem.pi8 = quant->scale_frac_bits;
        params->sa.scale_frac_bits.capacity =
            quant->count * (uint32_t)sizeof *quant->scale_frac_bits;
    }
}

void tensor_desc_to_mli(const struct tensor_desc *desc, mli_tensor *tensor)
{
    tensor->rank = desc->rank;
    for (uint32_t i = 0; i < MLI_MAX_RANK; i++) {
        tensor->shape[i] = i < desc->rank ? desc->shape[i] : 0;
        tensor->mem_stride[i] = desc->has_strides && i < desc->rank ? desc->strides[i] : 0;
    }
    tensor->el_type = desc->type;
    memset(&tensor->el_params, 0, sizeof tensor->el_params);
    if (is_sa(desc->type))
        quant_to_mli(&desc->quant, &tensor->el_params);
    else if (is_fx(desc->type) && desc->quant.has_frac_bits)
        tensor->el_params.fx.frac_bits = desc->quant.frac_bits;
}

/* Reads JSON into struct tensor_desc. */

const char *element_type_advice(const char *word)
{
    const char *bits = word + strcspn(word, "0123456789");

    if (bits == word || (strcmp(bits, "64") != 0 && strcmp(bits, "128") != 0))
        return NULL;
    return "no element type has 8 or 16 bytes; such elements move without a type, as parts of 4 "
           "bytes";
}

static int read_type(struct tensor_desc *desc, const struct json *object)
{
    struct json type = json_member(object, "type");
    const char *given, *advice;
    size_t index;

    if (!json_present(&type))
        return 0;
    if (json_string(&type, JSON_WORD_MAX, &given) < 0)
        return -1;
    advice = element_type_advice(given);
    if (advice)
        return json_complain(&type, "\"%s\" given: %s", given, advice);
    if (json_choice(&type, element_type_words, &index) < 0)
        return -1;
    desc->has_type = element_type_from_name(element_type_words[index], &desc->type);
    return 0;
}

/* Reads an array of 1 .. `most` numbers from `min`; *count is 0 if the array is absent. */
static int read_dimensions(const struct json *array, uint32_t most, int64_t min, int64_t max,
                           int64_t out[TENSOR_RANK_MAX], uint32_t *count)
{
    struct json item = {0};
    size_t length;

    *count = 0;
    if (!json_present(array))
        return 0;
    if (json_array(array, &length) < 0)
        return -1;
    if (length < 1 || length > most)
        return json_complain(array, "%zu entries given; 1 to %" PRIu32 " are allowed", length,
                             most);
    while (json_next(array, &item)) {
        if (json_int(&item, min, max, &out[item.index]) < 0)
            return -1;
    }
    *count = (uint32_t)length;
    return 0;
}

static int read_shape(struct tensor_desc *desc, const struct json *object, uint32_t most)
{
    struct json shape = json_member(object, "shape"), strides = json_member(object, "strides");
    int64_t numbers[TENSOR_RANK_MAX] = {0};
    uint32_t count;

    if (read_dimensions(&shape, most, 1, UINT32_MAX, numbers, &count) < 0)
        return -1;
    if (count > 0) {
        desc->rank = count;
        for (uint32_t i = 0; i < count; i++)
            desc->shape[i] = (uint32_t)numbers[i];
    }
    if (read_dimensions(&strides, most, 0, INT32_MAX, numbers, &count) < 0)
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
static int check_param(const struct json *value, enum quant_param param)
{
    struct json item = {0};
    int64_t number;
    size_t count;

    if (!json_present(value))
        return 0;
    if (json_is_int(value))
        return json_int(value, ranges[param].min, ranges[param].max, &number);
    if (!json_is_array(value))
        return json_complain(value, "a whole number or an array of whole numbers is required");
    if (json_array(value, &count) < 0)
        return -1;
    if (count < 1 || count > QUANT_ENTRIES_MAX)
        return json_complain(value, "%zu entries given; 1 to %d are allowed", count,
                             QUANT_ENTRIES_MAX);
    while (json_next(value, &item)) {
        if (json_int(&item, ranges[param].min, ranges[param].max, &number) < 0)
            return -1;
    }
    return 0;
}

/* The quantisation members of an object, each checked separately. */
struct members {
    struct json axis_json, frac_bits_json, param[QUANT_PARAMS];
    int64_t axis, frac_bits; /* valid if axis_json or frac_bits_json is present */
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
    for (int i = 0; i < QUANT_PARAMS; i++) {
        members->param[i] = json_member(object, ranges[i].name);
        if (check_param(&members->param[i], (enum quant_param)i) < 0)
            return -1;
    }
    return 0;
}

/* Finds the number of entries of the parameters; *count is 0 if no parameter is given. */
static int count_entries(const struct members *members, size_t *count)
{
    const struct json *first = NULL;

    *count = 0;
    for (int i = 0; i < QUANT_PARAMS; i++) {
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

static void store(struct quant *quant, enum quant_param param, size_t index, int64_t number)
{
    if (param == QUANT_SCALE)
        quant->scale[index] = (int16_t)number;
    else if (param == QUANT_ZERO_POINT)
        quant->zero_point[index] = (int16_t)number;
    else
        quant->scale_frac_bits[index] = (int8_t)number;
}

/* Sets a parameter of each index; a number holds for all of them. */
static int fill(struct quant *quant, const struct json *value, enum quant_param param)
{
    struct json item = {0};
    int64_t number;

    for (uint32_t i = 0; json_present(value) && i < quant->count; i++) {
        const struct json *entry = json_next(value, &item) ? &item : value;

        if (json_int(entry, ranges[param].min, ranges[param].max, &number) < 0)
            return -1;
        store(quant, param, i, number);
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
    for (int i = 0; i < QUANT_PARAMS; i++) {
        if (fill(quant, &members.param[i], (enum quant_param)i) < 0)
            return -1;
    }
    return 0;
}

int tensor_desc_check_members(const struct json *object)
{
    struct tensor_desc scratch = {0};
    struct members members;

    if (read_type(&scratch, object) < 0 || read_shape(&scratch, object, TENSOR_RANK_MAX) < 0)
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

static int read_desc(struct tensor_desc *desc, const struct json *object, uint32_t most)
{
    if (read_type(desc, object) < 0 || read_shape(desc, object, most) < 0 ||
        read_quant(&desc->quant, object) < 0)
        return -1;
    return tensor_desc_check_at(desc, object);
}

int tensor_desc_read(struct tensor_desc *desc, const struct json *object)
{
    return read_desc(desc, object, MLI_MAX_RANK);
}

int tensor_desc_read_file(struct tensor_desc *desc, const struct json *object)
{
    return read_desc(desc, object, TENSOR_RANK_MAX);
}

int tensor_desc_read_params(struct tensor_desc *desc, const struct json *object)
{
    static const char *const keys[] = {
        "type", "axis", "scale", "zero_point", "scale_frac_bits", "frac_bits", NULL};

    return json_object(object, keys) < 0 ? -1 : tensor_desc_read(desc, object);
}
