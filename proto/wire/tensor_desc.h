/* SPDX-License-Identifier: BSD-3-Clause */
/* A tensor without its memory: type, shape, strides and quantisation as plain data. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/*
 * Quantisation parameters. sa types have either one entry per tensor (`count` 1, `axis` -1) or
 * `count` entries along `axis`; count 0: not given. The three arrays are one heap block, which
 * `scale` owns (int16[count], int16[count], int8[count]). fx types have `frac_bits`.
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

/* The parameters of sa types, in the order of their members. */
enum quant_param { QUANT_SCALE, QUANT_ZERO_POINT, QUANT_SCALE_FRAC_BITS, QUANT_PARAMS };

/* A tensor in a file has up to 8 dimensions; on the wire it has up to MLI_MAX_RANK. */
enum { TENSOR_RANK_MAX = 8 };

struct tensor_desc {
    bool has_type;
    mli_element_type type;
    uint32_t rank; /* rank of the tensor; 0: no shape was given */
    uint32_t shape[TENSOR_RANK_MAX];
    bool has_strides;
    uint32_t stride_count;            /* number of strides; 0 means `rank` */
    int32_t strides[TENSOR_RANK_MAX]; /* strides in elements, outermost first; 0: packed */
    struct quant quant;
};

/** Frees the quantisation parameters; `struct tensor_desc d = {0}` is an empty description. */
void tensor_desc_finish(struct tensor_desc *desc);
/** Makes a deep copy. Returns 0, or -ENOMEM with *to empty. */
int tensor_desc_copy(struct tensor_desc *to, const struct tensor_desc *from);

/**
 * Frees the three arrays and allocates arrays of `count` entries: scale 1, zero_point 0,
 * scale_frac_bits 0. Does not change `axis`. Returns 0, or -ENOMEM with count 0.
 */
int quant_alloc(struct quant *quant, uint32_t count);

/** Returns the member of a parameter, such as "scale". Static storage. */
const char *quant_param_name(enum quant_param param);
/** Returns a parameter of the index `i` along the axis; the neutral one if none was given. */
int quant_entry(const struct quant *quant, enum quant_param param, uint32_t i);

/** Returns "fx8", "fx16", "sa8", "sa32", "fp16" or "fp32"; null for other types. Static storage. */
const char *element_type_name(mli_element_type type);
/** The names of all element types, null-terminated. */
extern const char *const element_type_words[];
/**
 * Returns what to do instead of giving `word` as an element type, if it names elements of 8 or 16
 * bytes, as "float64" or "fp64"; else null. Static storage.
 */
const char *element_type_advice(const char *word);
/** Finds the type with that name; returns false if the name is unknown. */
bool element_type_from_name(const char *name, mli_element_type *type);

/** The members that tensor_desc_read() reads, for the keys that json_object() allows. */
#define TENSOR_DESC_KEYS                                                                           \
    "type", "shape", "strides", "axis", "scale", "zero_point", "scale_frac_bits", "frac_bits"

/**
 * Reads the members of a tensor from an object into *desc; absent members keep their values. Pass
 * defaults in object->defaults, because the quantisation members of *desc are replaced together.
 * Per-axis parameters are "axis" with at least one array; a single number beside an array holds for
 * every entry. Refuses members that contradict each other. Returns 0 or -1 (fault).
 */
int tensor_desc_read(struct tensor_desc *desc, const struct json *object);
/** Like tensor_desc_read(), but for a job file: with up to TENSOR_RANK_MAX dimensions. */
int tensor_desc_read_file(struct tensor_desc *desc, const struct json *object);

/**
 * Reads an object with type and quantisation parameters only, as in a file of parameters, into the
 * empty *desc. Returns 0 or -1 (fault).
 */
int tensor_desc_read_params(struct tensor_desc *desc, const struct json *object);

/** Checks each member of a tensor separately, for default values. Returns 0 or -1 (fault). */
int tensor_desc_check_members(const struct json *object);

/**
 * Checks the numbers of strides and of per-axis entries against the shape, and the parameters
 * against the type. Call it after adding a type or a shape to the result of tensor_desc_read().
 * Fault pointers, such as "/axis", are relative to the tensor. Returns 0 or -1.
 */
int tensor_desc_check(const struct tensor_desc *desc, struct fault *fault);
/** Like tensor_desc_check(), but faults name members of `object`, from which *desc was read. */
int tensor_desc_check_at(const struct tensor_desc *desc, const struct json *object);

/** Writes the members into the object that is open, per-axis parameters as arrays. */
void tensor_desc_write(struct jsonw *w, const struct tensor_desc *desc);

/**
 * Fills rank, shape, strides, type and quantisation of an mli_tensor. Per-axis containers point
 * into desc's arrays. Does not change the data pointer and capacity. Parameters that were not given
 * become neutral: one parameter set per tensor, with scale 1, zero point 0, shift 0. The rank is at
 * most MLI_MAX_RANK.
 */
void tensor_desc_to_mli(const struct tensor_desc *desc, mli_tensor *tensor);
