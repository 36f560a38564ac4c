/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pool's channels as the dispatcher shares them out: which are busy, which are kept for a wide
 * job that waits, which are out of service. Sets of channels are bits of a word. Plain data.
 */
#ifndef DAEMON_CHANNELS_H
#define DAEMON_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct channels {
    uint32_t pool;        /* all there are */
    uint32_t busy;        /* held by a transfer */
    uint32_t reserved;    /* kept for one wide job */
    uint32_t quarantined; /* out of service, busy or not */
    uint32_t backfilled;  /* busy with a transfer that was started on reserved channels and is
                             expected to end before the transfers that the wide job waits for */
};

static inline uint32_t channels_run(uint32_t first, uint32_t count)
{
    return ((UINT32_C(1) << count) - 1) << first;
}

static inline uint32_t channels_count(uint32_t set)
{
    return (uint32_t)__builtin_popcount(set);
}

void channels_init(struct channels *channels, uint32_t first, uint32_t count);

/** Is there any that somebody without a reservation could have now? */
bool channels_any_free(const struct channels *channels);

/** First of a run of `count` (1 to 16) free ones, the reserved ones among them where `reserved`;
 *  -1: none. */
int channels_find(const struct channels *channels, uint32_t count, bool reserved);

/** Returns whether a transfer may be started on a reserved channel now. */
bool channels_any_reserved_free(const struct channels *channels);

/** A transfer on the channels of `run` has ended. */
void channels_release(struct channels *channels, uint32_t run);

/** How many neighbouring channels are in service at most, busy or not. */
uint32_t channels_widest(const struct channels *channels);

/**
 * Reserves the run of `count` that will probably be free first: the one with the fewest busy
 * channels, backfilled ones not counted. Replaces the reservation before. Returns false where no
 * run of `count` is in service.
 */
bool channels_reserve(struct channels *channels, uint32_t count);

#endif /* DAEMON_CHANNELS_H */
