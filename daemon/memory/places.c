/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/places.h"

static uint32_t *count_of(struct buffer *buffer, enum places_user user)
{
    return user == PLACES_OF_JOB ? &buffer->jobs : &buffer->prepared;
}

void places_put(struct places *places, struct place *place, struct buffer *buffer, uint64_t offset,
                enum places_user user)
{
    /* Who lies in a buffer with both tensors counts once. */
    if (places->src.buffer != buffer && places->dst.buffer != buffer)
        ++*count_of(buffer, user);
    buffer_hold(buffer);
    *place = (struct place){.region = buffer->region, .buffer = buffer, .offset = offset};
}

void places_share(struct places *places, struct place *place, const struct place *from,
                  enum places_user user)
{
    if (from->buffer)
        places_put(places, place, from->buffer, from->offset, user);
    else
        *place = (struct place){.region = region_hold(from->region), .offset = from->offset};
}

/* `other` is still there, or empty. */
static void leave(struct place *place, const struct place *other, enum places_user user)
{
    if (!place->buffer) {
        region_drop(place->region);
    } else {
        if (other->buffer != place->buffer)
            --*count_of(place->buffer, user);
        buffer_drop(place->buffer);
    }
    *place = (struct place){0};
}

void places_finish(struct places *places, enum places_user user)
{
    leave(&places->src, &places->dst, user);
    leave(&places->dst, &places->src, user);
}
