/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as a C function for firmware: tensors and cfg as initialisers, with the calls of embARC
 * MLI. The text follows from the resolved job alone; the plan of libmli has no part in it.
 */
#ifndef CLI_C_FUNCTION_H
#define CLI_C_FUNCTION_H

#include <stddef.h>

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

enum { C_NAME_MAX = 160 };
/** Writes the name of the function with this number. Returns `out`. */
const char *c_function_name(char out[C_NAME_MAX], const char *name, size_t number);

/** Writes text inside a comment: printable ASCII that cannot end the comment. */
void c_put_comment(struct textw *w, const char *text);

/** Writes a comment that names `command`, such as "explain", and the headers. */
void c_function_begin(struct textw *w, const char *command);

/**
 * Writes the function of a job. `number` is its number in the output, from 0, for the names of
 * functions: "move_tile0", or "move_3" without a name. A name with other characters than letters,
 * digits and '_' gets the number at its end.
 */
void c_function(struct textw *w, const struct explained *explained, const struct resolved *resolved,
                size_t number);

#endif /* CLI_C_FUNCTION_H */
