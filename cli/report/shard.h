/* SPDX-License-Identifier: BSD-3-Clause */
/* Shards: the cases of a batch, divided by their names among several machines. */
#ifndef CLI_SHARD_H
#define CLI_SHARD_H

#include <stdint.h>

#include "proto/json/fault.h"

struct shard {
    uint32_t index, count; /* index from 1; both 0: all cases */
};

/** Reads a shard such as "2/4". Returns 0, or -1 with the fault filled. */
int shard_parse(const char *text, struct shard *shard, struct fault *fault);

/**
 * Reads the value of --shard: "2/4", or "auto" or "auto/4", which read environment variables as
 * mlictl-batch(1) describes. Returns 0, or -1 with a fault that names the variable.
 */
int shard_choose(const char *text, struct shard *shard, struct fault *fault);

enum { SHARD_TEXT_MAX = 24 };
/** Writes a shard as "2/4". Returns `out`. */
const char *shard_text(char out[SHARD_TEXT_MAX], const struct shard *shard);

/** Returns the shard of a case, from 1 to `shards`: digest64() of its name modulo `shards`, + 1. */
uint32_t shard_of(const char *name, uint32_t shards);

#endif /* CLI_SHARD_H */
