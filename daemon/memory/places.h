/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the two tensors of a job lie. Zeros are empty places. */
#ifndef DAEMON_PLACES_H
#define DAEMON_PLACES_H

#include <stdint.h>

#include "daemon/memory/buffer.h"
#include "daemon/memory/region.h"

struct place {
    struct region *region;
    struct buffer *buffer; /* whose region it is; null: the region came with a descriptor */
    uint64_t offset;       /* of the tensor's first byte in the region */
};

struct places {
    struct place src, dst;
};

/** As what a buffer counts who uses it. */
enum places_user { PLACES_OF_JOB, PLACES_OF_PREPARED };

/** Puts an empty one of the two places into a buffer, which is held. */
void places_put(struct places *places, struct place *place, struct buffer *buffer, uint64_t offset,
                enum places_user user);
/** Puts an empty one of the two places where `from` is, whose memory is held. */
void places_share(struct places *places, struct place *place, const struct place *from,
                  enum places_user user);
/** Gives up what is held. */
void places_finish(struct places *places, enum places_user user);

#endif /* DAEMON_PLACES_H */
