/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of the DMA channels: busy, reserved for a wide job that waits, out of service. A set
 * of channels is a word with one bit for each channel. Plain data.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct channels {
    uint32_t pool;        /* mask of all channels */
    uint32_t busy;        /* mask of the channels that transfers hold */
    uint32_t reserved;    /* mask of the channels reserved for the wide job that waits longest */
    uint32_t quarantined; /* mask of the channels out of service, busy or not */
    uint32_t backfilled;  /* mask of the busy channels with a backfilled transfer: it was started on
                             reserved channels, and is expected to end before the transfers that the
                             wide job waits for */
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

/** Returns whether a transfer may be started on a channel that is not reserved. */
bool channels_any_free(const struct channels *channels);

/**
 * Returns the first channel of a run of `count` (1 to 16) free neighbours, or -1 if there is no
 * such run. Reserved channels count as free only if `reserved` is true.
 */
int channels_find(const struct channels *channels, uint32_t count, bool reserved);

/** Returns whether a transfer may be started on a reserved channel. */
bool channels_any_reserved_free(const struct channels *channels);

/** Frees the channels of `run` after their transfer. */
void channels_release(struct channels *channels, uint32_t run);

/** Returns the length of the longest run of channels in service, busy or not. */
uint32_t channels_widest(const struct channels *channels);

/**
 * Reserves the run of `count` channels that will probably be free first: the run with the fewest
 * busy channels, not counting backfilled channels. Replaces the previous reservation. Returns false
 * if no run of `count` channels is in service.
 */
bool channels_reserve(struct channels *channels, uint32_t count);
