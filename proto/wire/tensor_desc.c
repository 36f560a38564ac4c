/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/tensor_desc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
 * Allocates the three arrays as one block. Arrays with larger entries come first, so that all
 * arrays are aligned.
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

static void write_entries(struct jsonw *w, const char *key, const void *entries, size_t size,
                          uint32_t count)
{
    jsonw_array_begin(w, key);
    for (uint32_t i = 0; i < count; i++)
        jsonw_int(w, NULL,
                  size == 1 ? ((const int8_t *)entries)[i] : ((const int16_t *)entries)[i]);
    jsonw_array_end(w);
}

static void write_quant(struct jsonw *w, const struct quant *quant)
{
    if (quant->has_frac_bits)
        jsonw_int(w, "frac_bits", quant->frac_bits);
    if (quant->count == 0)
        return;
    if (quant->axis < 0) {
        jsonw_int(w, "scale", quant->scale[0]);
        jsonw_int(w, "zero_point", quant->zero_point[0]);
        jsonw_int(w, "scale_frac_bits", quant->scale_frac_bits[0]);
        return;
    }
    jsonw_int(w, "axis", quant->axis);
    write_entries(w, "scale", quant->scale, sizeof *quant->scale, quant->count);
    write_entries(w, "zero_point", quant->zero_point, sizeof *quant->zero_point, quant->count);
    write_entries(w, "scale_frac_bits", quant->scale_frac_bits, sizeof *quant->scale_frac_bits,
                  quant->count);
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
