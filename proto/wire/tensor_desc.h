/* SPDX-License-Identifier: BSD-3-Clause */
/* A tensor without its memory: type, shape, strides and quantisation as plain data. */
#ifndef PROTO_TENSOR_DESC_H
#define PROTO_TENSOR_DESC_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/*
 * Quantisation parameters. sa types: `count` 1 and `axis` -1 per tensor, `count` entries along
 * `axis` per axis; count 0: none given. The three arrays are one heap block owned by `scale`
 * (int16[count], int16[count], int8[count]). fx types: `frac_bits`.
 */
struct quant {
    int32_t axis;
    uint32_t count;
    int16_t *scale;
    int16_t *zero_point;
    int8_t *scale_frac_bits;
    bool has_frac_bits;
    int8_t frac_bits;
};

struct tensor_desc {
    bool has_type;
    mli_element_type type;
    uint32_t rank; /* 0: no shape given */
    uint32_t shape[MLI_MAX_RANK];
    bool has_strides;
    uint32_t stride_count;         /* strides given; 0: as many as `rank` */
    int32_t strides[MLI_MAX_RANK]; /* in elements, outermost first; 0: packed */
    struct quant quant;
};

/** Zero means empty: `struct tensor_desc d = {0}` is valid. Finish frees what it holds. */
void tensor_desc_finish(struct tensor_desc *desc);
/** Deep copy; returns 0 or -ENOMEM (*to is then empty). */
int tensor_desc_copy(struct tensor_desc *to, const struct tensor_desc *from);

/**
 * Allocates the three arrays for `count` entries: scale 1, zero_point 0, scale_frac_bits 0. Frees
 * those that were there; leaves `axis` alone. Returns 0 or -ENOMEM (count is then 0).
 */
int quant_alloc(struct quant *quant, uint32_t count);

/** "fx8", "fx16", "sa8", "sa32", "fp16", "fp32"; null for any other type. Static storage. */
const char *element_type_name(mli_element_type type);
/** The reverse; false where the name is none of these. */
bool element_type_from_name(const char *name, mli_element_type *type);

/** Names of the members that tensor_desc_read() understands, for json_object()'s list. */
#define TENSOR_DESC_KEYS                                                                           \
    "type", "shape", "strides", "axis", "scale", "zero_point", "scale_frac_bits", "frac_bits"

/**
 * Reads those members of an object into *desc, over what is there already (defaults are better
 * given as object->defaults: the quantisation members go together and are replaced together).
 * Per-axis parameters: "axis" with arrays of equal length, or single numbers that hold for every
 * entry; at least one array. What does not go together is refused.
 */
int tensor_desc_read(struct tensor_desc *desc, const struct json *object);

/** Checks each of those members by itself, for an object that holds only defaults. */
int tensor_desc_check_members(const struct json *object);

/**
 * Checks that what is known so far goes together: numbers of strides and of per-axis entries with
 * the shape, parameters with the type. To be called when a type or a shape was added to what
 * tensor_desc_read() found. Fault pointers are relative to the tensor, as "/axis". Returns 0 or -1.
 */
int tensor_desc_check(const struct tensor_desc *desc, struct fault *fault);
/** The same, complaining about the members of the object that *desc was read from. */
int tensor_desc_check_at(const struct tensor_desc *desc, const struct json *object);

/** Writes the members into the object that is open. Per-axis parameters as arrays. */
void tensor_desc_write(struct jsonw *w, const struct tensor_desc *desc);

/**
 * Fills an mli_tensor's rank, shape, strides, type and quantisation from *desc. Per-axis
 * containers point into desc's arrays. Data pointer and capacity are left alone. Missing
 * parameters are neutral: per tensor, scale 1, zero point 0, shift 0.
 */
void tensor_desc_to_mli(const struct tensor_desc *desc, mli_tensor *tensor);

#endif /* PROTO_TENSOR_DESC_H */
