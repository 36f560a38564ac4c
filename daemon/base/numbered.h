/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of objects that a client names by number. Numbers count from 1, and no number is used
 * twice.
 */
#pragma once

#include <stdint.h>

struct numbered_entry {
    uint32_t number;
    void *thing;
};

/* A struct of zeros is an empty table. */
struct numbered {
    struct numbered_entry *entries; /* entries in the order of their numbers */
    uint32_t count, capacity;
    uint32_t last; /* the latest number that was used */
};

/** Frees the table, not the objects. */
void numbered_finish(struct numbered *numbered);

/** Adds an object. Returns its number, or 0 if out of memory or after 2^32 - 1 numbers. */
uint32_t numbered_add(struct numbered *numbered, void *thing);
/** Returns the object with this number, or NULL. */
void *numbered_find(const struct numbered *numbered, uint32_t number);
/** Removes and returns the object with this number. Returns NULL if there is no such object. */
void *numbered_remove(struct numbered *numbered, uint32_t number);
