/* SPDX-License-Identifier: BSD-3-Clause */
/* The dtypes of tensor files: their names, and single elements as text and numbers. */
#pragma once

#include <stdint.h>

#include "cli/options.h"
#include "mli_types.h"
#include "proto/file/npy.h"
#include "proto/json/jsonw.h"

/** The names of all dtypes, for options. */
extern const struct value dtype_value;
/** Returns the dtype with this name ("int16"), or null after an error message about --dtype. */
const struct dtype *dtype_from_name(const char *name);
/** Returns the dtype that stores elements of a type by default; never null. */
const struct dtype *dtype_of_type(mli_element_type type);

enum { DTYPE_TEXT_MAX = 72 };
/**
 * Writes an element as text; a float with the fewest digits that identify it, a complex number as
 * "1-2j", bits of 16 bytes in hexadecimal. Returns `out`.
 */
const char *dtype_text(const struct dtype *dtype, const void *element, char out[DTYPE_TEXT_MAX]);

/** Writes two elements that differ; with their bits if both are NaN and have the same text. */
void dtype_texts(const struct dtype *dtype, const void *a, const void *b,
                 char a_text[DTYPE_TEXT_MAX], char b_text[DTYPE_TEXT_MAX]);

/** Returns the value of an element that is no complex number; rounded if it has more than 53 bits.
 */
double dtype_number(const struct dtype *dtype, const void *element);

/** Writes member `key` with a text that dtype_text() made: integers of up to 4 bytes as numbers,
 * all others as strings. */
void dtype_json(struct jsonw *w, const char *key, const struct dtype *dtype, const char *text);

/** Stores `value` as an element: a float type rounds it, an integer type keeps its low bits, bool
 * keeps its lowest bit. */
void dtype_store(const struct dtype *dtype, double value, void *element);
/** Like dtype_store(), for an integer. */
void dtype_store_uint(const struct dtype *dtype, uint64_t value, void *element);
