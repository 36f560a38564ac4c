/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/reload.h"

#include <stdbool.h>
#include <string.h>

/* These keys cannot change: sockets are bound, channels are taken, and the process has given up the
 * rights to bind or take others. */
static const struct {
    const char *key;
    size_t at, size;
    bool text;
} fixed[] = {
#define TEXT(key)                                                                                  \
    {                                                                                              \
#key, offsetof(struct config, key), sizeof(((struct config *)0)->key), true                \
    }
#define NUMBER(key)                                                                                \
    {                                                                                              \
#key, offsetof(struct config, key), sizeof(((struct config *)0)->key), false               \
    }
    TEXT(socket),     NUMBER(socket_mode), TEXT(socket_group), TEXT(user),   NUMBER(channel_offset),
    NUMBER(channels), TEXT(engine),        TEXT(profile),      TEXT(tuning), TEXT(trace),
#undef TEXT
#undef NUMBER
};

unsigned reload_keep(const struct config *live, struct config *fresh)
{
    unsigned count = 0;

    if (!live->channels_given &&
        !fresh->channels_given) /* the file of the profile may differ now */
        fresh->channels = live->channels;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const char *old = (const char *)live + fixed[i].at;
        char *new = (char *)fresh + fixed[i].at;
        struct log_line line;

        if (fixed[i].text ? strcmp(old, new) == 0 : memcmp(old, new, fixed[i].size) == 0)
            continue;
        memcpy(new, old, fixed[i].size);
        count++;
        if (log_begin(&line, LOG_WARNING, "cannot change while the service runs")) {
            log_text(&line, "key", fixed[i].key);
            log_end(&line);
        }
    }
    return count;
}
