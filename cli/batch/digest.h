/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A digest of 64 bits: which shard a case is in, which cases there are, whether a job file has
 * changed. mlictl-batch(1) defines it, so that others can compute it; it never changes.
 */
#ifndef CLI_BATCH_DIGEST_H
#define CLI_BATCH_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/** FNV-1a with the finaliser of MurmurHash3, whose every bit depends on every byte. */
uint64_t digest64(const void *bytes, size_t size);

/** The digest of a set of names, begun with 0, with one more. The order does not matter. */
uint64_t digest_add(uint64_t set, const char *name);

/** As 16 hexadecimal digits: the numbers of JSON have not so many. */
void digest_write(struct jsonw *w, const char *key, uint64_t digest);
/** Returns 0, or -1 with value's fault filled. */
int digest_read(const struct json *value, uint64_t *digest);

#endif /* CLI_BATCH_DIGEST_H */
