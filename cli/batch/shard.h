/* SPDX-License-Identifier: BSD-3-Clause */
/* One machine's part of the cases. */
#ifndef CLI_BATCH_SHARD_H
#define CLI_BATCH_SHARD_H

#include <stdint.h>

#include "proto/json/fault.h"

struct shard {
    uint32_t index, count; /* index from 1; 0, 0: all of the cases */
};

/** "2/4". Returns 0, or -1 with a sentence. */
int shard_parse(const char *text, struct shard *shard, struct fault *fault);

/**
 * What --shard says: "2/4", or "auto" and "auto/4", which ask the environment as mlictl-batch(1)
 * describes. Returns 0, or -1 with a sentence that names the variable at fault.
 */
int shard_choose(const char *text, struct shard *shard, struct fault *fault);

enum { SHARD_TEXT_MAX = 24 };
/** "2/4". Returns `out`. */
const char *shard_text(char out[SHARD_TEXT_MAX], const struct shard *shard);

/** The shard that a case is in, from 1 to `shards`: digest64() of its name modulo that. */
uint32_t shard_of(const char *name, uint32_t shards);

#endif /* CLI_BATCH_SHARD_H */
