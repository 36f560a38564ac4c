/* SPDX-License-Identifier: BSD-3-Clause */
/* The dtypes of tensor files: their names, and single elements as text and numbers. */
#ifndef CLI_DTYPE_H
#define CLI_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "mli_types.h"
#include "proto/file/npy.h"
#include "proto/json/jsonw.h"

struct dtype {
    const char *name;   /* as numpy calls it: "int16" */
    const char *descr;  /* as a .npy header says it: "<i2" */
    char kind;          /* 'b', 'i', 'u' or 'f' */
    uint32_t size;      /* bytes */
    uint64_t exact_max; /* the integers 0 .. exact_max are all represented */
};

/** The names. */
extern const struct value dtype_value;
/** By the name that --dtype gives, "int16"; null where there is none, after saying so on stderr. */
const struct dtype *dtype_from_name(const char *name);
/** By kind and size of a header that npy_parse() accepted; never null. */
const struct dtype *dtype_of_header(const struct npy_header *header);
/** The dtype in which elements of a type are kept where no file says otherwise; never null. */
const struct dtype *dtype_of_type(mli_element_type type);

/** Sets descr, kind and item_size of a header. */
void dtype_to_header(const struct dtype *dtype, struct npy_header *header);

enum { DTYPE_TEXT_MAX = 24 };
/** One element as text; floats in as many digits as tell them apart. Returns `out`. */
const char *dtype_text(const struct dtype *dtype, const void *element, char out[DTYPE_TEXT_MAX]);

/** A dtype_text() as member `key`: integers as numbers; floats, which have no exact form, as text.
 */
void dtype_json(struct jsonw *w, const char *key, const struct dtype *dtype, const char *text);

/** Stores `value`: floats round, integers keep the low bits, bool keeps whether it is odd. */
void dtype_store(const struct dtype *dtype, double value, void *element);
void dtype_store_uint(const struct dtype *dtype, uint64_t value, void *element);

#endif /* CLI_DTYPE_H */
