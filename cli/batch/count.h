/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in the lines of a state file. */
#ifndef CLI_BATCH_COUNT_H
#define CLI_BATCH_COUNT_H

#include <stdint.h>

#include "proto/json/json.h"

/* The greatest number of JSON: jsonw_uint() writes none above. */
#define COUNT_MAX ((UINT64_C(1) << 53) - 1)

/** Requires member `key`, a whole number from 0 to `max`. Returns 0, or -1 with the fault filled.
 */
int count_read(const struct json *object, const char *key, uint64_t max, uint64_t *out);

#endif /* CLI_BATCH_COUNT_H */
