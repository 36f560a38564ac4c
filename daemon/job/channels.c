/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/channels.h"

enum { CHANNELS_MAX = 16 };

void channels_init(struct channels *channels, uint32_t first, uint32_t count)
{
    *channels = (struct channels){.pool = channels_run(first, count)};
}

static uint32_t in_service(const struct channels *channels)
{
    return channels->pool & ~channels->quarantined;
}

bool channels_any_free(const struct channels *channels)
{
    return in_service(channels) & ~channels->busy & ~channels->reserved;
}

bool channels_any_reserved_free(const struct channels *channels)
{
    return in_service(channels) & ~channels->busy & channels->reserved;
}

void channels_release(struct channels *channels, uint32_t run)
{
    channels->busy &= ~run;
    channels->backfilled &= ~run;
}

int channels_find(const struct channels *channels, uint32_t count, bool reserved)
{
    const uint32_t kept = reserved ? 0 : channels->reserved;
    const uint32_t usable = in_service(channels) & ~channels->busy & ~kept;

    for (uint32_t first = 0; first + count <= CHANNELS_MAX; first++) {
        const uint32_t run = channels_run(first, count);

        if ((usable & run) == run)
            return (int)first;
    }
    return -1;
}

uint32_t channels_widest(const struct channels *channels)
{
    uint32_t widest = 0, length = 0;

    for (uint32_t i = 0; i < CHANNELS_MAX; i++) {
        length = in_service(channels) >> i & 1 ? length + 1 : 0;
        if (length > widest)
            widest = length;
    }
    return widest;
}

bool channels_reserve(struct channels *channels, uint32_t count)
{
    const uint32_t blocked = channels->busy & ~channels->backfilled;
    uint32_t fewest = CHANNELS_MAX + 1;

    channels->reserved = 0;
    for (uint32_t first = 0; first + count <= CHANNELS_MAX; first++) {
        const uint32_t run = channels_run(first, count);

        if ((in_service(channels) & run) != run || channels_count(blocked & run) >= fewest)
            continue;
        fewest = channels_count(blocked & run);
        channels->reserved = run;
    }
    return channels->reserved != 0;
}
