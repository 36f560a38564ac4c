/* SPDX-License-Identifier: BSD-3-Clause */
/* Things that a client names by a number. Numbers count from 1 and none is given twice. */
#ifndef DAEMON_NUMBERED_H
#define DAEMON_NUMBERED_H

#include <stdint.h>

struct numbered_entry {
    uint32_t number;
    void *thing;
};

/* Zeros are an empty one. */
struct numbered {
    struct numbered_entry *entries; /* in the order of their numbers */
    uint32_t count, capacity;
    uint32_t last; /* the latest number given */
};

/** Frees the table; the things are the caller's business. */
void numbered_finish(struct numbered *numbered);

/** Returns the number, or 0 where memory or numbers are short. */
uint32_t numbered_add(struct numbered *numbered, void *thing);
/** Null where there is none. */
void *numbered_find(const struct numbered *numbered, uint32_t number);
/** The same, and takes it out. */
void *numbered_remove(struct numbered *numbered, uint32_t number);

#endif /* DAEMON_NUMBERED_H */
