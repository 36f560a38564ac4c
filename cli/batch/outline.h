/* SPDX-License-Identifier: BSD-3-Clause */
/* What a batch is going to run. */
#ifndef CLI_BATCH_OUTLINE_H
#define CLI_BATCH_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/shard.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"

/* Of a state file: 2 says of each result what it depends on. */
enum { OUTLINE_FORMAT = 2 };

struct batch_outline {
    size_t total;       /* cases before --shard */
    size_t selected;    /* those of this shard */
    size_t resumed;     /* of these, how many stand in the state file already and are not run */
    struct shard shard; /* 0/0: not sharded */
    uint64_t set;       /* digest_add() of all `total` names */
    uint64_t kept;      /* and of the `resumed` ones; is not written */
    bool anew;          /* in a state file: lines before this one are of no use to merge */
    bool older;         /* it was read without the current format */
};

/** Whether both are the same part of the same cases. */
bool batch_outline_same(const struct batch_outline *a, const struct batch_outline *b);

/** The members of a "begin" event, `event` too, into the object that is open. */
void batch_outline_write(struct jsonw *w, const struct batch_outline *outline);
/** The reverse. Returns 0, or -1 with value's fault filled. */
int batch_outline_read(const struct json *value, struct batch_outline *outline);

#endif /* CLI_BATCH_OUTLINE_H */
